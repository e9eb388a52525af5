// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/data/loader.h"
#include "core/engine/data/random.h"

namespace parallax::data {

/// The rectangle of a random resized crop (Szegedy et al. 2015): an area share uniform in cropMin … cropMax and a ratio
/// log-uniform in 3/4 … 4/3, ten tries; then the largest centred rectangle whose ratio is in that range.
cv::Rect drawCrop(const cv::Size &image, const AugmentConfig &augment, Random random);

/// What the shorter side of an image is resized to, for a centre crop of `size` that keeps the share `centre` of it.
int centreSide(int size, double centre);

/// What all views of an image look at; `key` without its view. Large pictures are shrunk, so far that the smallest crop that the
/// settings of each view allow keeps at least as many pixels a side as the view has. That follows from the picture's size and the
/// settings alone: a crop is drawn on the shrunk picture, whatever was drawn for others. Small pictures (isSmall) never are.
Demand demandOf(const std::vector<ViewSpec> &views, ViewKey key, const cv::Size &stored);
/// The same, of the whole picture.
Demand wholeFor(const std::vector<ViewSpec> &views, const cv::Size &stored);

/// Mean and standard deviation as three values each, whether the configuration gives one or three.
struct Normalisation {
    double mean[3], std[3];
    explicit Normalisation(const AugmentConfig &augment);
};

} // namespace parallax::data
