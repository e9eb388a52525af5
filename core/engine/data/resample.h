// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <opencv2/core.hpp>

#include <vector>

namespace parallax::data {

/// Antialiased bilinear resampling along one axis: for output i the weights of inputs first[i] … first[i] + count[i] - 1.
/// A triangle filter that is widened by the scale when shrinking, the same as PIL's and torch's antialias=True.
struct Taps {
    std::vector<int> first, count;
    std::vector<float> weight; ///< count[i] of them from i * stride
    int stride = 0;
    void make(int input, int output, int from, int outputs); ///< outputs from … from + outputs - 1 of `output`
};

/// A part of the resized picture: `crop` of `rgb` (8-bit, 3 channels) is resized to `full`, of which `window` is written as
/// planes of floats 0 … 1: out [3, window.height, window.width].
void resample(const cv::Mat &rgb, const cv::Rect &crop, const cv::Size &full, const cv::Rect &window, float *out);

} // namespace parallax::data
