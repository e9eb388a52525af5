// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/data/dataset.h"
#include "core/engine/data/drawnview.h"

#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace parallax::data {

/// One of the views a method wants of each image.
struct ViewSpec {
    AugmentConfig augment;
    bool random = true; ///< false: shorter side resized to size, centre crop, normalised: what evaluation sees
    double centre = 1;  ///< of a view that is not random: the share of the shorter side that the crop keeps, above 0 to 1
};

/// One view of `rgb` (8-bit, 3 channels): float [3, size, size], normalised, written to `out`.
void makeView(const cv::Mat &rgb, const ViewSpec &spec, const ViewKey &key, float *out);

/// What a schema cannot say of one value alone: mean and std have one or three values, smallest is not above largest.
/// The Error's `where` is the key.
Status checkAugment(const AugmentConfig &augment);

/// The epoch's order of all `count` samples: a permutation that depends on (seed, epoch) alone, the same on every rank.
std::vector<std::int64_t> permutation(std::int64_t count, std::uint64_t seed, std::int64_t epoch);

struct Batch {
    std::vector<std::vector<float>> views; ///< a view: [n, 3, size, size]; empty ones where the device makes them
    std::vector<int> sizes;                ///< size of each view
    /// Where the device makes the views: of each of the n images what its views look at, RGB of 8 bits …
    std::vector<cv::Mat> images;
    std::vector<std::vector<DrawnView>> drawn; ///< … and of each view n draws, whose crops are of `images`
    std::vector<std::int64_t> index;           ///< [n] places in the data set
    std::vector<int> label;                    ///< [n]
    std::vector<std::uint8_t> replaced;        ///< [n] 1 where the image could not be read and another stands in its place
    std::int64_t count() const { return std::int64_t(index.size()); }
};

/// Makes batches in loader threads, at most `prefetch` ahead, delivered in order.
/// `batches`: the data-set indices of each batch that this rank wants, in order.
/// An unreadable image's place is taken by the next readable one of the data set (same on every rank count), keyed by both
/// ids so that no view is made twice; Batch::index and label are then the substitute's. Each unreadable image is reported
/// once for the life of its data set through takeUnreadable(), never silently.
class Loader
{
public:
    struct Options {
        std::uint64_t seed = 0;
        std::int64_t epoch = 0;
        int threads = 1;
        int prefetch = 2;
        bool drawOnly = false; ///< images and draws, no views; only of views that are random
    };
    Loader(std::shared_ptr<const Dataset> data, std::vector<ViewSpec> views, std::vector<std::vector<std::int64_t>> batches,
           Options options);
    ~Loader(); ///< stops the threads, wherever they are

    /// The next batch; nothing after the last. An Error when no image at all can be read. `used`: a batch that is done with; its
    /// memory is written to again, which spares the system clearing new one for every batch.
    Result<std::optional<Batch>> next(Batch used = {});
    /// Seconds that next() has waited so far.
    double waited() const;
    struct Unreadable {
        std::string name, reason;
    };
    std::vector<Unreadable> takeUnreadable();

private:
    struct Impl;
    std::unique_ptr<Impl> m_impl;
};

/// Global batch g of an epoch, cut into `world` slices as even as can be; drop-last. Slices of all batches for `rank`.
std::vector<std::vector<std::int64_t>> rankBatches(const std::vector<std::int64_t> &order, std::int64_t batch, int rank,
                                                   int world);

} // namespace parallax::data
