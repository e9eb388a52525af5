// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
//
// Images a second of views that loader threads make and of views that are made as tensor operations on the device
// (augment.on_device), on the CPU with one thread, and of both the CPU time: by turns, medians, a JSON object a work.
//   bench_deviceviews FOLDER [DEVICE]   FOLDER: of bench_views pictures; DEVICE: cpu (default) or cuda:0
#include "core/engine/augment/feed.h"
#include "tests/bench/viewworks.h"

#include <opencv2/core/utility.hpp>

#include <algorithm>
#include <chrono>
#include <iostream>

using namespace parallax;

namespace {

constexpr int turns = 5;

double wallSeconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// An epoch through a feed; the CPU's own time where the views are made there, else the time that passes.
double imagesPerSecond(const bench::ViewWork &work, torch::Device device, bool onDevice, std::int64_t epoch)
{
    const auto now = device.is_cpu() ? bench::cpuSeconds : wallSeconds;
    const double start = now();
    data::Loader::Options options;
    options.seed = 1, options.epoch = epoch, options.threads = 1, options.drawOnly = onDevice;
    data::Loader loader(work.data, work.views,
                        data::rankBatches(data::permutation(work.data->size(), 1, epoch), bench::viewBatch, 0, 1), options);
    augment::Feed feed(loader, work.views, {.device = device, .ahead = device.is_cuda(), .drawOnly = onDevice});
    std::int64_t images = 0;
    float used = 0;
    for (;;) {
        auto views = feed.next();
        if (!views) throw std::runtime_error(views.error().message());
        if (!views.value()) break;
        images += views.value()->count();
        used += views.value()->views.back().flatten()[0].item<float>(); // waits for a device
    }
    if (used != used) throw std::runtime_error("a view holds NaN");
    return double(images) / (now() - start);
}

double median(std::vector<double> values)
{
    std::ranges::nth_element(values, values.begin() + turns / 2);
    return values[turns / 2];
}

} // namespace

int main(int argc, char **argv)
{
    if (argc < 2 || argc > 3) {
        std::cerr << "usage: bench_deviceviews FOLDER [DEVICE]\n";
        return 2;
    }
    cv::setNumThreads(1);
    torch::set_num_threads(1);
    try {
        const torch::Device device(argc == 3 ? argv[2] : "cpu");
        const auto works = bench::viewWorks(argv[1]);
        if (!works) throw std::runtime_error(works.error().message());
        for (const auto &[name, work] : *works) {
            std::vector<double> threads, onDevice;
            for (int turn = -1; turn < turns; ++turn) { // the first warms up
                const double a = imagesPerSecond(work, device, false, turn + 1);
                const double b = imagesPerSecond(work, device, true, turn + 1);
                if (turn < 0) continue;
                threads.push_back(a), onDevice.push_back(b);
            }
            std::cout << "{\"work\": \"" << name << "\", \"device\": \"" << device.str()
                      << "\", \"loader_images_per_s\": " << median(threads)
                      << ", \"device_images_per_s\": " << median(onDevice) << "}" << std::endl;
        }
    } catch (const std::exception &error) {
        std::cerr << "bench_deviceviews: " << error.what() << '\n';
        return 1;
    }
}
