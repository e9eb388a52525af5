// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
//
// Views a second of one core: what the data engine can feed. Prints one JSON object.
#include "core/engine/data/decode.h"
#include "core/engine/data/loader.h"

#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <vector>

using namespace parallax;

namespace {

cv::Mat noise(int width, int height)
{
    cv::Mat small((height + 7) / 8, (width + 7) / 8, CV_8UC3), image;
    cv::RNG rng(1);
    rng.fill(small, cv::RNG::UNIFORM, 0, 256);
    cv::resize(small, image, {width, height}, 0, 0, cv::INTER_CUBIC);
    return image;
}

/// Median over five rounds of images a second.
double rate(int images, const std::function<void(int)> &image)
{
    std::vector<double> rates;
    for (int round = 0; round < 5; ++round) {
        const auto start = std::chrono::steady_clock::now();
        for (int i = 0; i < images; ++i) image(i);
        const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
        rates.push_back(images / seconds.count());
    }
    std::nth_element(rates.begin(), rates.begin() + 2, rates.end());
    return rates[2];
}

} // namespace

int main()
{
    cv::setNumThreads(1);
    data::ViewSpec small, large;
    small.augment.size = 32;
    large.augment.size = 224;
    large.augment.blurP = 0.5;
    std::vector<float> out(3 * 224 * 224);
    const cv::Mat tiny = noise(32, 32);
    const double arrays = rate(20'000, [&](int i) {
        for (int view = 0; view < 2; ++view)
            data::makeView(tiny, small, data::ViewKey{0, 0, std::uint64_t(i), view}, out.data());
    });
    std::vector<std::uint8_t> jpeg;
    cv::imencode(".jpg", noise(640, 427), jpeg, {cv::IMWRITE_JPEG_QUALITY, 90});
    const double files = rate(60, [&](int i) {
        const auto decoded = data::decodeImage(jpeg);
        for (int view = 0; view < 2; ++view)
            data::makeView(decoded->rgb, large, data::ViewKey{0, 0, std::uint64_t(i), view}, out.data());
    });
    std::printf("{\"arrays_32px_images_per_s\": %.0f, \"jpeg_640x427_images_per_s\": %.1f}\n", arrays, files);
}
