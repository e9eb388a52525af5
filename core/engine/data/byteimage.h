// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <opencv2/core.hpp>

/// Image operations on 8-bit RGB pictures (CV_8UC3, height × width), in place. What rounds differently in PIL and in torchvision's
/// operations on 8-bit tensors exists twice.
namespace parallax::data {

void flipHorizontally(cv::Mat &rgb);
void flipVertically(cv::Mat &rgb);
/// Every value times `factor`, rounded down.
void adjustBrightness(cv::Mat &rgb, float factor);
/// Values of at least `threshold` (0 … 255) become 255 - value.
void solarise(cv::Mat &rgb, double threshold);

/// As Pillow computes them: what the Python libraries' transforms give for PIL images. Factors of 1 change nothing.
namespace pil {

/// Away from (factor > 1) or towards the mean of the gray picture, rounded to a gray level.
void adjustContrast(cv::Mat &rgb, float factor);
/// Away from or towards each pixel's own gray.
void adjustSaturation(cv::Mat &rgb, float factor);
/// Turns the hue by `turn`, -0.5 … 0.5 of the circle, through an HSV picture of 8 bits.
void adjustHue(cv::Mat &rgb, double turn);
/// Luma (ITU-R 601) in all three channels.
void toGray(cv::Mat &rgb);
/// The repeated box blur that stands for a Gaussian one of deviation `sigma`: three passes along the rows, then three along the
/// columns, with a box of fractional width whose variance is a third of sigma² (Gwosdek et al. 2011); edge pixels go on outside.
void blur(cv::Mat &rgb, float sigma);
/// See rotatedFromPil.
void rotate(cv::Mat &rgb, double degrees);

} // namespace pil

/// As torchvision.transforms.v2.functional computes them on 8-bit tensors: in float, rounded down.
namespace bytes {

void adjustContrast(cv::Mat &rgb, double factor);
void adjustSaturation(cv::Mat &rgb, double factor);
void adjustHue(cv::Mat &rgb, float turn);
void toGray(cv::Mat &rgb);
/// transforms::blur, rounded to the nearest.
void blur(cv::Mat &rgb, int radius, float sigma);
/// See rotatedFrom.
void rotate(cv::Mat &rgb, double degrees);

} // namespace bytes

} // namespace parallax::data
