// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
//
// Images a second of one core: what the data engine can feed. The work is that of tests/bench/peers/lightly_views.py.
//   bench_views pictures FOLDER   writes JPEG files of 640 x 427 pixels, as busy as photographs, the same on every machine
//   bench_views serve FOLDER      reads "WORK SECONDS" from standard input, a line each; answers images a second of CPU time
//   bench_views all FOLDER        every work in turn, one JSON object a line
#include "tests/bench/viewworks.h"

#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>

#include <filesystem>
#include <functional>
#include <iostream>
#include <map>
#include <vector>

using namespace parallax;
using bench::cpuSeconds;

namespace {

constexpr int pictureCount = 32;

/// Octaves of noise whose amplitude falls with the frequency, and shapes with hard edges.
cv::Mat picture(int number)
{
    cv::RNG rng{std::uint64_t(number + 1)};
    const cv::Size size(640, 427);
    cv::Mat sum(size, CV_32FC3, cv::Scalar(127, 127, 127));
    for (int step = 256; step >= 1; step /= 2) {
        cv::Mat small(size.height / step + 2, size.width / step + 2, CV_32FC3), large;
        const double strength = 5.5 * std::sqrt(double(step));
        rng.fill(small, cv::RNG::UNIFORM, -strength, strength);
        cv::Mat gray;
        cv::cvtColor(small, gray, cv::COLOR_BGR2GRAY); // photographs differ more in light than in colour
        cv::cvtColor(gray, gray, cv::COLOR_GRAY2BGR);
        cv::resize(0.3 * small + 1.2 * gray, large, {}, step, step, cv::INTER_CUBIC);
        sum += large({0, 0, size.width, size.height});
    }
    for (int i = 0; i < 12; ++i)
        cv::ellipse(sum, {rng.uniform(0, size.width), rng.uniform(0, size.height)}, {rng.uniform(9, 80), rng.uniform(9, 60)},
                    rng.uniform(0, 180), 0, 360, {rng.uniform(0., 255.), rng.uniform(0., 255.), rng.uniform(0., 255.)},
                    rng.uniform(0, 3) ? 3 : -1, cv::LINE_AA);
    cv::Mat bytes;
    sum.convertTo(bytes, CV_8UC3);
    return bytes;
}

int writePictures(const std::filesystem::path &folder)
{
    std::filesystem::create_directories(folder);
    for (int i = 0; i < pictureCount; ++i) {
        const auto file = folder / (std::to_string(100 + i) + ".jpg");
        if (!cv::imwrite(file.string(), picture(i), {cv::IMWRITE_JPEG_QUALITY, 90})) return 1;
    }
    return 0;
}

/// Epochs through the loader with one thread, until so much CPU time has gone. All threads of this process count.
class Work
{
public:
    explicit Work(const bench::ViewWork &work) : m_data(work.data), m_views(work.views) { }
    Result<double> imagesPerSecond(double seconds)
    {
        std::int64_t images = 0;
        const double start = cpuSeconds();
        double spent = 0;
        for (; spent < seconds; ++m_epoch) {
            data::Loader loader(m_data, m_views,
                                data::rankBatches(data::permutation(m_data->size(), 1, m_epoch), bench::viewBatch, 0, 1),
                                {1, m_epoch, 1, 2});
            data::Batch used;
            while (spent < seconds) {
                auto batch = loader.next(std::move(used));
                if (!batch) return batch.error();
                if (!*batch) break;
                used = std::move(**batch);
                images += used.count();
                spent = cpuSeconds() - start;
            }
        }
        return double(images) / spent;
    }

private:
    std::shared_ptr<const data::Dataset> m_data;
    std::vector<data::ViewSpec> m_views;
    std::int64_t m_epoch = 0;
};

int fail(const Error &error)
{
    std::cerr << "bench_views: " << error.message() << '\n';
    return 1;
}

} // namespace

int main(int argc, char **argv)
{
    cv::setNumThreads(1);
    const std::string command = argc == 3 ? argv[1] : "";
    if (command == "pictures") return writePictures(argv[2]);
    if (command != "serve" && command != "all") {
        std::cerr << "usage: bench_views pictures|serve|all FOLDER\n";
        return 2;
    }
    const auto works = bench::viewWorks(argv[2]);
    if (!works) return fail(works.error());
    std::map<std::string, Work> all(works->begin(), works->end());
    if (command == "all") {
        for (auto &[name, work] : all) {
            for (const double seconds : {0.1, 1.0}) {
                const auto rate = work.imagesPerSecond(seconds);
                if (!rate) return fail(rate.error());
                if (seconds == 1.0)
                    std::cout << "{\"work\": \"" << name << "\", \"images_per_s\": " << *rate << "}" << std::endl;
            }
        }
        return 0;
    }
    std::string name;
    for (double seconds = 0; std::cin >> name >> seconds;) {
        const auto found = all.find(name);
        if (found == all.end()) return fail({"there is no such work", name, {}});
        const auto rate = found->second.imagesPerSecond(seconds);
        if (!rate) return fail(rate.error());
        std::cout << *rate << std::endl;
    }
}
