// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/data/rotation.h"

#include <cmath>
#include <cstdint>
#include <numbers>
#include <optional>

namespace parallax::data {

namespace {

/// Quarter turns counter-clockwise (0 … 3) where `degrees` is such a turn and the canvas takes it.
std::optional<int> quarterTurns(int width, int height, double degrees)
{
    const double turn = degrees - 360 * std::floor(degrees / 360);
    if (turn == 0) return 0;
    if (turn == 180) return 2;
    if (width != height || (turn != 90 && turn != 270)) return {};
    return turn == 90 ? 1 : 3;
}

/// The index of (x, y), or -1 outside.
int indexOf(std::int64_t x, std::int64_t y, int width, int height)
{
    return x < 0 || y < 0 || x >= width || y >= height ? -1 : int(y * width + x);
}

std::vector<int> moved(int width, int height, int turns)
{
    std::vector<int> from;
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x) {
            const int xs[] = {x, width - 1 - y, width - 1 - x, y}, ys[] = {y, x, height - 1 - y, height - 1 - x};
            from.push_back(ys[turns] * width + xs[turns]);
        }
    return from;
}

} // namespace

std::vector<int> rotatedFrom(int width, int height, double degrees)
{
    if (const auto turns = quarterTurns(width, height, degrees)) return moved(width, height, *turns);
    const double angle = degrees * std::numbers::pi / 180;
    // From the middle of the output, in pixels, to that of the input in halves of its sides.
    const float w = 0.5f * float(width), h = 0.5f * float(height);
    const float xx = float(std::cos(angle)) / w, xy = float(-std::sin(angle)) / w;
    const float yx = float(std::sin(angle)) / h, yy = float(std::cos(angle)) / h;
    const auto pixel = [](float place, int size) {
        return std::int64_t(std::nearbyint(((place + 1) * float(size) - 1) / 2));
    };
    std::vector<int> from;
    for (int j = 0; j < height; ++j)
        for (int i = 0; i < width; ++i) {
            const float x = float(i) + 0.5f - w, y = float(j) + 0.5f - h;
            from.push_back(indexOf(pixel(x * xx + y * xy, width), pixel(x * yx + y * yy, height), width, height));
        }
    return from;
}

std::vector<int> rotatedFromPil(int width, int height, double degrees)
{
    if (const auto turns = quarterTurns(width, height, degrees)) return moved(width, height, *turns);
    const auto places = [](double value) { return std::round(value * 1e15) / 1e15; };
    const auto fixed = [](double value) { return std::int64_t(std::floor(value * 65536 + 0.5)); };
    const double turn = degrees - 360 * std::floor(degrees / 360), angle = turn * std::numbers::pi / 180;
    const double cosine = places(std::cos(angle)), sine = places(std::sin(angle));
    const double middleX = width / 2.0, middleY = height / 2.0;
    const double offsetX = middleX - (cosine * middleX - sine * middleY),
                 offsetY = middleY - (sine * middleX + cosine * middleY);
    std::int64_t rowX = fixed(offsetX + (cosine - sine) * 0.5), rowY = fixed(offsetY + (sine + cosine) * 0.5);
    std::vector<int> from;
    for (int j = 0; j < height; ++j, rowX += fixed(-sine), rowY += fixed(cosine)) {
        std::int64_t x = rowX, y = rowY;
        for (int i = 0; i < width; ++i, x += fixed(cosine), y += fixed(sine))
            from.push_back(indexOf(x >> 16, y >> 16, width, height));
    }
    return from;
}

} // namespace parallax::data
