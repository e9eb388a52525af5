// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/data/dataset.h"
#include "core/engine/data/pixelstore.h"

namespace parallax::data {

/// Another data set, whose decoded images are kept in files that later runs and other ranks use too. An image is known by its file
/// (Dataset::identity) and by this build of the program: what has changed is decoded again. No view depends on it.
class StoredDataset : public Dataset
{
public:
    StoredDataset(std::shared_ptr<const Dataset> inner, PixelStore::Options options);

    std::int64_t size() const override { return m_inner->size(); }
    Item item(std::int64_t index) const override { return m_inner->item(index); }
    Result<cv::Mat> image(std::int64_t index) const override { return imageFor(index, {}); }
    /// The pixels may lie in the store: only to be read, and only while this data set lives.
    Result<cv::Mat> imageFor(std::int64_t index, const DemandFor &demand) const override;
    Result<DecodedImage> inspect(std::int64_t index) const override { return m_inner->inspect(index); }
    std::optional<std::string> identity(std::int64_t index) const override { return m_inner->identity(index); }
    std::vector<std::string> takeNotices() const override { return m_store.takeNotices(); }

private:
    std::shared_ptr<const Dataset> m_inner;
    mutable PixelStore m_store;
};

} // namespace parallax::data
