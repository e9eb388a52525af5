// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

/// Image operations on planes of floats 0 … 1 (R, then G, then B; each `pixels` long or height × width), in place. They are
/// the operations of torchvision.transforms.v2.functional on float tensors.
namespace parallax::data::transforms {

/// A view's pixels.
struct Planes {
    float *rgb;
    int width, height;
    std::size_t pixels() const { return std::size_t(width) * std::size_t(height); }
};

void flipHorizontally(Planes view);
void flipVertically(Planes view);
/// Every value cut to 0 … 1, as 8-bit pictures are by themselves.
void clip(Planes view);
/// Every value times `factor`, cut to 0 … 1.
void adjustBrightness(Planes view, float factor);
/// Away from (factor > 1) or towards the mean of the gray picture.
void adjustContrast(Planes view, float factor);
/// Away from or towards each pixel's own gray.
void adjustSaturation(Planes view, float factor);
/// Turns the hue (HSV) by `turn`, -0.5 … 0.5 of the circle.
void adjustHue(Planes view, float turn);
/// 0.2989 R + 0.587 G + 0.114 B in all three planes.
void toGray(Planes view);
/// Gaussian blur with a kernel of 2 * radius + 1 samples, normalised; edges are mirrored without repeating the edge pixel,
/// so radius must lie below width and height.
void blur(Planes view, int radius, float sigma);
/// Values of at least `threshold` become 1 - value.
void solarise(Planes view, float threshold);
/// Turns the picture by `degrees` counter-clockwise about its middle on a canvas of the same size: the nearest pixel, black where
/// there is none. Quarter turns of a square, and half turns, only move pixels.
void rotate(Planes view, double degrees);
/// (x - mean) / std a plane.
void normalise(Planes view, const double mean[3], const double std[3]);

} // namespace parallax::data::transforms
