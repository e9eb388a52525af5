// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/data/byteimage.h"
#include "core/engine/data/rotation.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace parallax::data::pil {

namespace {

using Pixel = cv::Vec3b;

std::uint8_t grayOf(const Pixel &p) { return std::uint8_t((19595 * p[0] + 38470 * p[1] + 7471 * p[2] + 0x8000) >> 16); }

/// On the line from `from` (factor 0) to `to` (factor 1), rounded down, cut to 8 bits.
std::uint8_t blend(int from, int to, float factor)
{
    return std::uint8_t(std::clamp(float(from) + factor * float(to - from), 0.f, 255.f));
}

void apply(cv::Mat &rgb, const auto &change)
{
    for (int y = 0; y < rgb.rows; ++y)
        for (int x = 0; x < rgb.cols; ++x) change(rgb.at<Pixel>(y, x));
}

struct Hsv {
    std::uint8_t hue, saturation, value;
};

Hsv toHsv(const Pixel &p)
{
    const int high = std::max({p[0], p[1], p[2]}), low = std::min({p[0], p[1], p[2]});
    if (high == low) return {0, 0, std::uint8_t(high)};
    const float range = float(high - low);
    const auto below = [&](int channel) { return float(high - p[channel]) / range; };
    float sixths = 0; // of the circle
    if (p[0] == high)
        sixths = below(2) - below(1);
    else if (p[1] == high)
        sixths = float(2.0 + double(below(0)) - double(below(2)));
    else
        sixths = float(4.0 + double(below(1)) - double(below(0)));
    const float hue = float(std::fmod(double(sixths) / 6.0 + 1.0, 1.0));
    return {std::uint8_t(double(hue) * 255.0), std::uint8_t(double(range / float(high)) * 255.0), std::uint8_t(high)};
}

Pixel toRgb(const Hsv &hsv)
{
    const std::uint8_t v = hsv.value;
    if (hsv.saturation == 0) return {v, v, v};
    const double sixths = double(hsv.hue) * 6.0 / 255.0;
    const int sector = int(std::floor(sixths));
    const float rest = float(sixths - double(sector)), strength = float(double(hsv.saturation) / 255.0);
    const auto level = [&](double share) { return cv::saturate_cast<std::uint8_t>(int(std::round(double(v) * share))); };
    const std::uint8_t low = level(1.0 - double(strength)), falling = level(1.0 - double(strength * rest)),
                       rising = level(1.0 - double(strength) * (1.0 - double(rest)));
    const std::array<Pixel, 6> sectors{
        {{v, rising, low}, {falling, v, low}, {low, v, rising}, {low, falling, v}, {rising, low, v}, {v, low, falling}}};
    return sectors[std::size_t(sector % 6)];
}

/// A box of width 2·radius + 1 over a line of `count` values, `step` apart, in 24 bits of fixed point.
void boxBlur(std::uint8_t *line, int count, std::ptrdiff_t step, float radius, std::vector<std::uint8_t> &old)
{
    for (int i = 0; i < count; ++i) old[std::size_t(i)] = line[i * step];
    const int whole = int(radius);
    const auto inner = std::uint32_t(float(1 << 24) / (radius * 2 + 1));
    const std::uint32_t edge = ((1u << 24) - std::uint32_t(2 * whole + 1) * inner) / 2;
    const auto at = [&](int i) { return std::uint32_t(old[std::size_t(std::clamp(i, 0, count - 1))]); };
    std::uint32_t sum = 0;
    for (int i = -whole; i <= whole; ++i) sum += at(i);
    for (int i = 0; i < count; ++i) {
        const std::uint32_t ends = at(i - whole - 1) + at(i + whole + 1);
        line[i * step] = std::uint8_t((sum * inner + ends * edge + (1u << 23)) >> 24);
        sum += at(i + whole + 1) - at(i - whole);
    }
}

} // namespace

void adjustContrast(cv::Mat &rgb, float factor)
{
    double sum = 0;
    apply(rgb, [&](const Pixel &p) { sum += grayOf(p); });
    const int mean = int(std::floor(sum / double(rgb.total()) + 0.5));
    apply(rgb, [&](Pixel &p) {
        for (int c = 0; c < 3; ++c) p[c] = blend(mean, p[c], factor);
    });
}

void adjustSaturation(cv::Mat &rgb, float factor)
{
    apply(rgb, [&](Pixel &p) {
        const int gray = grayOf(p);
        for (int c = 0; c < 3; ++c) p[c] = blend(gray, p[c], factor);
    });
}

void adjustHue(cv::Mat &rgb, double turn)
{
    const auto turned = std::uint8_t(int(turn * 255)); // the circle has 256 steps, a whole turn 255 of them
    apply(rgb, [&](Pixel &p) {
        Hsv hsv = toHsv(p);
        hsv.hue = std::uint8_t(hsv.hue + turned);
        p = toRgb(hsv);
    });
}

void toGray(cv::Mat &rgb)
{
    apply(rgb, [](Pixel &p) { p = Pixel::all(grayOf(p)); });
}

void blur(cv::Mat &rgb, float sigma)
{
    constexpr int passes = 3;
    if (sigma <= 0) return;
    // A box of radius r has the variance r(r + 1)/3; between two whole radii the pixels at its ends count in part.
    const float variance = sigma * sigma / passes;
    const float width = float(std::sqrt(12.0 * double(variance) + 1.0));
    const float whole = float(std::floor((double(width) - 1.0) / 2.0));
    float part = (2 * whole + 1) * (whole * (whole + 1) - 3 * variance);
    part /= 6 * (variance - (whole + 1) * (whole + 1));
    const float radius = whole + part;
    std::vector<std::uint8_t> old(std::size_t(std::max(rgb.rows, rgb.cols)));
    for (int y = 0; y < rgb.rows; ++y)
        for (int c = 0; c < 3; ++c)
            for (int pass = 0; pass < passes; ++pass) boxBlur(rgb.ptr(y) + c, rgb.cols, 3, radius, old);
    for (int x = 0; x < 3 * rgb.cols; ++x)
        for (int pass = 0; pass < passes; ++pass) boxBlur(rgb.ptr() + x, rgb.rows, std::ptrdiff_t(rgb.step), radius, old);
}

void rotate(cv::Mat &rgb, double degrees)
{
    const auto from = rotatedFromPil(rgb.cols, rgb.rows, degrees);
    const cv::Mat old = rgb.clone();
    for (int i = 0; i < int(from.size()); ++i) {
        const int source = from[std::size_t(i)];
        rgb.at<Pixel>(i / rgb.cols, i % rgb.cols) =
            source < 0 ? Pixel::all(0) : old.at<Pixel>(source / rgb.cols, source % rgb.cols);
    }
}

} // namespace parallax::data::pil
