// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <opencv2/core.hpp>

#include <vector>

namespace parallax::data {

/// How pixels between pixels are found. Bicubic: Keys 1981 with a = -0.5; its results may leave the range of its inputs.
enum class Filter { Bilinear, Bicubic };

/// Antialiased resampling along one axis: for output i the weights of inputs first[i] … first[i] + count - 1. The filter is
/// widened by the scale when shrinking, the same as PIL's and torch's antialias=True; places and weights are rounded to float as
/// torch does for float images.
struct Taps {
    std::vector<int> first;
    std::vector<float> weight; ///< `count` of them from i * stride; some of the first or the last may be 0
    int count = 0, stride = 0;
    /// Outputs from … from + outputs - 1 of `output`.
    void make(int input, int output, int from, int outputs, Filter filter = Filter::Bilinear);
};

/// A part of the resized picture: `crop` of `rgb` (8-bit, 3 channels) is resized to `full`, of which `window` is written as
/// planes of floats 0 … 1: out [3, window.height, window.width]. `mirrored`: every row of the window from its end.
void resample(const cv::Mat &rgb, const cv::Rect &crop, const cv::Size &full, const cv::Rect &window, float *out,
              Filter filter = Filter::Bilinear, bool mirrored = false);

/// `crop` of three planes of floats, each width × height, resized to `size`: out [3, size.height, size.width].
void resamplePlanes(const float *planes, const cv::Size &whole, const cv::Rect &crop, const cv::Size &size, float *out,
                    Filter filter);

/// How many bits below the point the weights of an 8-bit resampling have: PIL's, or as many as fit into 16 bits, as in torch.
enum class Precision { Pil, Torch };

/// `crop` of `rgb` (8-bit, 3 channels) resized to `size` in 8 bits: along the rows, rounded, then along the columns; PIL's the
/// other way round where it does so.
cv::Mat resampleBytes(const cv::Mat &rgb, const cv::Rect &crop, const cv::Size &size, Filter filter, Precision precision);

} // namespace parallax::data
