// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/data/pixelstore.h"
#include "core/engine/data/wrappeddataset.h"

namespace parallax::data {

/// Another data set, whose decoded images are kept in files that later runs and other ranks use too. An image is known by its file
/// (Dataset::identity) and by this build of the program: what has changed is decoded again. No view depends on it.
class StoredDataset : public WrappedDataset
{
public:
    StoredDataset(std::shared_ptr<const Dataset> inner, PixelStore::Options options);

    /// The pixels may lie in the store: only to be read, and only while this data set lives.
    Result<cv::Mat> imageFor(std::int64_t index, const DemandFor &demand) const override;
    std::vector<std::string> takeNotices() const override { return m_store.takeNotices(); }

private:
    mutable PixelStore m_store;
};

} // namespace parallax::data
