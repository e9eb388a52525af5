// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

namespace parallax::data {

/// For every pixel of a picture that is turned by `degrees` counter-clockwise about its middle, on a canvas of the same size,
/// the index y · width + x of the nearest pixel it is taken from; -1 where there is none. Half turns, and quarter turns of a
/// square, move pixels exactly. Coordinates are those of torchvision's tensor operation: float, ties to even.
std::vector<int> rotatedFrom(int width, int height, double degrees);

/// The same with PIL's coordinates: fixed point of 16 bits, rounded down.
std::vector<int> rotatedFromPil(int width, int height, double degrees);

} // namespace parallax::data
