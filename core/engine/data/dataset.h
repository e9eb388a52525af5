// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"
#include "core/engine/data/dataconfig.h"
#include "core/engine/data/decode.h"

#include <opencv2/core.hpp>

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace parallax::data {

struct Item {
    std::uint64_t id = 0; ///< stable: from the relative path, or the index of an IDX file; keys the augmentation
    std::string name;     ///< relative path, or "train-00042"; always valid UTF-8 (invalid bytes of a path as \xNN)
    int label = -1;       ///< place in classes(); -1: none
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
    /// image(), of which only a part is looked at. `demand` is not asked where nothing would be saved.
    virtual Result<cv::Mat> imageFor(std::int64_t index, const DemandFor &demand) const
    {
        (void)demand;
        return image(index);
    }
    /// image(), and what its file says of it: for the data check.
    virtual Result<DecodedImage> inspect(std::int64_t index) const = 0;
    /// What the image is decoded from, as it now is: a file, its size and time. Equal texts, equal images. Nothing: not known, or
    /// image() costs no decoding.
    virtual std::optional<std::string> identity(std::int64_t index) const
    {
        (void)index;
        return {};
    }
    /// What people should know of how images are come by ("the cache … is full"), each once. Of a data set that is made of others:
    /// also what those have to say.
    virtual std::vector<std::string> takeNotices() const { return {}; }
    /// image() costs no decoding: keeping its result would only take memory.
    virtual bool inMemory() const { return false; }
    /// What the data check could not read: later runs do not try it again, where the source can keep a list (quarantine.h).
    /// Returns where the list lies; empty: there is none.
    struct Unreadable {
        std::int64_t index;
        std::string reason;
    };
    virtual std::string setAside(const std::vector<Unreadable> &) const { return {}; }
    /// How many images an earlier data check has set aside.
    virtual std::int64_t asideCount() const { return 0; }
    /// Class names in label order; empty: unlabelled.
    const std::vector<std::string> &classes() const { return m_classes; }
    const std::string &source() const { return m_source; }
    /// One line of what was passed over while indexing ("skipped 7 files that are not images: …"); empty: nothing.
    const std::string &remark() const { return m_remark; }
    /// Files that were passed over while indexing.
    std::int64_t skipped() const { return m_skipped; }
    /// True the first time it is asked for this image: a run's loaders, one an epoch, report an unreadable image once.
    bool firstReport(std::int64_t index) const;

protected:
    std::vector<std::string> m_classes;
    std::string m_source, m_remark;
    std::int64_t m_skipped = 0;

private:
    mutable std::mutex m_reportMutex;
    mutable std::set<std::int64_t> m_reported;
};

/// What a run trains on, which is also what the kNN votes with, and what it is measured with. Neither is null; both have the
/// same classes(). `val` is empty (size 0) without labels, or when data.val_fraction is 0 and the data brings no evaluation
/// images.
struct Splits {
    std::shared_ptr<const Dataset> train;
    std::shared_ptr<const Dataset> val;
    bool cut = false;       ///< val is a part of the images that was left out of train: data.val_fraction
    std::int64_t aside = 0; ///< images of both that the data check has set aside: others stand in for them
};

/// The places of the images that data.val_fraction keeps for evaluation: a seeded part, spread over the classes. A class with a
/// single image keeps it, and images without label stay in training. Ascending.
std::vector<std::int64_t> evaluationPart(const Dataset &data, double fraction, std::uint64_t seed);

/// Opens what DataConfig names. Errors: missing or empty folder, no readable image, an IDX file that lies about its size …
Result<Splits> openData(const DataConfig &config, std::uint64_t seed);

} // namespace parallax::data
