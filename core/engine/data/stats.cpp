// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/data/stats.h"

#include "core/base/parallel.h"
#include "core/base/text.h"

#include <cmath>

namespace parallax::data {

namespace {

/// Integer sums; the squares of 2^40 pixels fit.
struct Sums {
    std::array<std::uint64_t, 3> first{}, second{};
    std::uint64_t pixels = 0;

    void add(const cv::Mat &rgb)
    {
        pixels += rgb.total();
        for (int y = 0; y < rgb.rows; ++y) {
            const std::uint8_t *p = rgb.ptr(y);
            for (int x = 0; x < rgb.cols; ++x)
                for (std::size_t c = 0; c < 3; ++c, ++p) {
                    first[c] += *p;
                    second[c] += std::uint64_t(*p) * *p;
                }
        }
    }
    void add(const Sums &other)
    {
        pixels += other.pixels;
        for (std::size_t c = 0; c < 3; ++c) {
            first[c] += other.first[c];
            second[c] += other.second[c];
        }
    }
};

} // namespace

Result<ChannelStats> channelStats(const Dataset &data, int threads)
{
    Sums sums;
    ChannelStats stats;
    std::mutex mutex;
    parallelFor(data.size(), threads, [&](std::int64_t i) {
        const auto image = data.image(i);
        Sums own;
        if (image) own.add(*image);
        std::lock_guard lock(mutex);
        sums.add(own);
        ++(image ? stats.images : stats.unreadable);
    });
    if (stats.images == 0)
        return Error{"no image of " + data.source() + " can be read", {}, "parallax data check lists what each file is."};
    const double n = double(sums.pixels);
    for (std::size_t c = 0; c < 3; ++c) {
        stats.mean[c] = double(sums.first[c]) / n / 255;
        const double mean = double(sums.first[c]) / n;
        stats.std[c] = std::sqrt(std::max(0.0, double(sums.second[c]) / n - mean * mean)) / 255;
    }
    return stats;
}

std::array<double, 3> ChannelStats::divisors() const
{
    std::array<double, 3> result = std;
    for (double &value : result)
        if (value < 1.0 / 255) value = 1;
    return result;
}

nlohmann::ordered_json ChannelStats::toJson() const
{
    static constexpr std::array names{"red", "green", "blue"};
    std::vector<std::string> constant;
    for (std::size_t c = 0; c < 3; ++c)
        if (divisors()[c] != std[c]) constant.emplace_back(names[c]);
    const std::string remark = constant.empty() ? std::string()
                                                : text::join(constant, ", ") + (constant.size() > 1 ? " are" : " is") +
            " the same in all pixels: 1 stands in place of a standard deviation of 0";
    return {{"mean", mean}, {"std", divisors()}, {"images", images}, {"unreadable", unreadable}, {"remark", remark}};
}

} // namespace parallax::data
