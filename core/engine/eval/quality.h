// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/data/dataset.h"
#include "core/engine/data/loader.h"
#include "core/engine/dist/ranks.h"
#include "core/engine/methods/method.h"

#include <torch/torch.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace parallax::eval {

/// What tells, without labels, whether a representation is of use or has collapsed. All figures but `rankme` are of
/// L2-normalised features; NaN: not defined, as with a single image.
struct FeatureQuality {
    static constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

    /// Standard deviation over the images, mean over the D dimensions, times √D: 1 when features fill the sphere evenly,
    /// 0 when all are the same.
    double spread = unknown;
    /// Effective rank (RankMe, Garrido et al. 2023, arXiv:2210.02885): exp of the entropy of the singular values of the feature
    /// matrix, as shares of their sum. From 1, all on a line, to min(images, D).
    double rankme = unknown;
    /// Mean squared distance of two views of an image (Wang and Isola 2020, arXiv:2005.10242); 0 when views do not matter.
    double alignment = unknown;
    /// Log of the mean of exp(-2 · squared distance) over all pairs of images (same paper): 0 when all are the same, down to -4.
    double uniformity = unknown;
    double meanCosine = unknown; ///< of two different images
    std::int64_t images = 0;     ///< that it was measured on
};

/// The figures of features [n, D] of one view of n images, and of another view of the same images, row by row.
FeatureQuality featureQuality(const torch::Tensor &features, const torch::Tensor &other);

/// The same of a method's features on two random views of at most `limit` images, spread evenly over the data: always the
/// same views, so that figures of one run can be compared. All ranks must call this; each gets the same result.
FeatureQuality measureQuality(methods::Method &method, const std::shared_ptr<const data::Dataset> &data,
                              const data::AugmentConfig &augment, std::int64_t limit, std::int64_t batchSize, int threads,
                              const dist::Ranks &ranks);

/// What the figures say that a user must know: a collapse, with its likely cause and remedy. Mostly empty.
std::vector<std::string> alarms(const FeatureQuality &quality);

} // namespace parallax::eval
