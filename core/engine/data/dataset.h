// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"
#include "core/engine/data/dataconfig.h"

#include <opencv2/core.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace parallax::data {

struct Item {
    std::uint64_t id = 0; ///< stable: from the relative path, or the index of an IDX file; keys the augmentation
    std::string name;     ///< relative path, or "train-00042"
    int label = -1;
};

/// Images that are indexed but not decoded. image() may be called from any number of threads.
class Dataset
{
public:
    virtual ~Dataset() = default;
    virtual std::int64_t size() const = 0;
    virtual Item item(std::int64_t index) const = 0;
    /// Decoded by content, EXIF orientation applied, RGB, 8 bits, any size. Errors name the file and what it is.
    virtual Result<cv::Mat> image(std::int64_t index) const = 0;
    /// Class names in label order; empty: unlabelled.
    const std::vector<std::string> &classes() const { return m_classes; }
    const std::string &source() const { return m_source; }
    /// One line of what was passed over while indexing ("skipped 7 files that are not images: …"); empty: nothing.
    const std::string &remark() const { return m_remark; }

protected:
    std::vector<std::string> m_classes;
    std::string m_source, m_remark;
};

/// What a run trains on and what it is measured with. `bank` holds the training images without limit of augmentation order:
/// labelled images the kNN votes with (the training set itself); `val` the query images. val may be empty (no labels).
struct Splits {
    std::shared_ptr<const Dataset> train;
    std::shared_ptr<const Dataset> val;
};

/// Opens what DataConfig names. Errors: missing or empty folder, no readable image, an IDX file that lies about its size …
Result<Splits> openData(const DataConfig &config, std::uint64_t seed);

} // namespace parallax::data
