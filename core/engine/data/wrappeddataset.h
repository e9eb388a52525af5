// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/data/dataset.h"

namespace parallax::data {

/// The same images as another data set's, come by in another way: imageFor() is left to say how.
class WrappedDataset : public Dataset
{
public:
    std::int64_t size() const override { return m_inner->size(); }
    Item item(std::int64_t index) const override { return m_inner->item(index); }
    Result<cv::Mat> image(std::int64_t index) const override { return imageFor(index, {}); }
    Result<cv::Mat> imageFor(std::int64_t index, const DemandFor &demand) const override = 0;
    Result<DecodedImage> inspect(std::int64_t index) const override { return m_inner->inspect(index); }
    std::optional<std::string> identity(std::int64_t index) const override { return m_inner->identity(index); }
    std::vector<std::string> takeNotices() const override { return m_inner->takeNotices(); }

protected:
    explicit WrappedDataset(std::shared_ptr<const Dataset> inner) : m_inner(std::move(inner))
    {
        m_classes = m_inner->classes();
        m_source = m_inner->source();
        m_remark = m_inner->remark();
        m_skipped = m_inner->skipped();
    }

    const std::shared_ptr<const Dataset> m_inner;
};

} // namespace parallax::data
