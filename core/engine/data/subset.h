// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/data/random.h"

namespace parallax::data {

/// Some of another data set's images, perhaps under other labels.
class Subset : public Dataset
{
public:
    /// `labels`: the new label of each of the other's classes; empty: unchanged.
    Subset(std::shared_ptr<const Dataset> inner, std::vector<std::int64_t> indices, std::vector<std::string> classes,
           std::vector<int> labels = {});

    std::int64_t size() const override { return std::int64_t(m_indices.size()); }
    Item item(std::int64_t index) const override;
    Result<cv::Mat> image(std::int64_t index) const override { return m_inner->image(m_indices.at(std::size_t(index))); }
    Result<cv::Mat> imageFor(std::int64_t index, const DemandFor &demand) const override
    {
        return m_inner->imageFor(m_indices.at(std::size_t(index)), demand);
    }
    Result<DecodedImage> inspect(std::int64_t index) const override
    {
        return m_inner->inspect(m_indices.at(std::size_t(index)));
    }
    std::optional<std::string> identity(std::int64_t index) const override
    {
        return m_inner->identity(m_indices.at(std::size_t(index)));
    }
    std::vector<std::string> takeNotices() const override { return m_inner->takeNotices(); }

private:
    std::shared_ptr<const Dataset> m_inner;
    std::vector<std::int64_t> m_indices;
    std::vector<int> m_labels;
};

/// The first `count` places of `labels` when every label's places are shuffled by the seed and the labels then take turns
/// in proportion to their numbers: a part that looks like the whole. Ascending. Places with a label of `except` are left out.
std::vector<std::int64_t> drawEvenly(const std::vector<int> &labels, std::int64_t count, std::uint64_t seed,
                                     Random::Purpose purpose, const std::set<int> &except = {});

} // namespace parallax::data
