// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
//
// Images a second of one core: what the data engine can feed. The work is that of tests/bench/peers/lightly_views.py.
//   bench_views pictures FOLDER   writes JPEG files of 640 x 427 pixels, as busy as photographs, the same on every machine
//   bench_views serve FOLDER      reads "WORK SECONDS" from standard input, a line each; answers images a second of CPU time
//   bench_views all FOLDER        every work in turn, one JSON object a line
#include "core/engine/data/keptdataset.h"
#include "core/engine/data/loader.h"
#include "core/engine/data/source.h"

#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>

#include <ctime>
#include <filesystem>
#include <functional>
#include <iostream>
#include <map>
#include <vector>

using namespace parallax;

namespace {

constexpr int pictureCount = 32;
constexpr std::int64_t batchSize = 32;

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

/// Small pictures that are there already.
class Arrays : public data::Dataset
{
public:
    Arrays()
    {
        cv::RNG rng(1);
        for (auto &image : m_images) {
            image.create(32, 32, CV_8UC3);
            rng.fill(image, cv::RNG::UNIFORM, 0, 256);
        }
    }
    std::int64_t size() const override { return std::int64_t(m_images.size()); }
    data::Item item(std::int64_t index) const override { return {std::uint64_t(index), std::to_string(index), -1}; }
    Result<cv::Mat> image(std::int64_t index) const override { return m_images.at(std::size_t(index)); }
    Result<data::DecodedImage> inspect(std::int64_t index) const override
    {
        return data::DecodedImage{m_images.at(std::size_t(index)), {}};
    }
    bool inMemory() const override { return true; }

private:
    std::vector<cv::Mat> m_images{256};
};

/// The images of another data set again and again, under other numbers: an epoch of many batches.
class Repeated : public data::Dataset
{
public:
    explicit Repeated(std::shared_ptr<const data::Dataset> inner) : m_inner(std::move(inner)) { }
    std::int64_t size() const override { return 16 * batchSize; }
    data::Item item(std::int64_t index) const override { return {std::uint64_t(index), std::to_string(index), -1}; }
    Result<cv::Mat> image(std::int64_t index) const override { return m_inner->image(index % m_inner->size()); }
    Result<data::DecodedImage> inspect(std::int64_t index) const override
    {
        return m_inner->inspect(index % m_inner->size());
    }

private:
    std::shared_ptr<const data::Dataset> m_inner;
};

data::ViewSpec view(int size, double cropMin, double cropMax, double strength, double saturation, double blurP,
                    double solarizeP)
{
    data::ViewSpec spec;
    auto &augment = spec.augment;
    augment.size = size;
    augment.cropMin = cropMin, augment.cropMax = cropMax;
    augment.brightness = augment.contrast = strength * 0.8;
    augment.saturation = saturation, augment.hue = strength * 0.2;
    augment.blurP = blurP, augment.solarizeP = solarizeP;
    return spec;
}

/// lightly's SimCLRTransform and DINOTransform, with their defaults.
std::vector<data::ViewSpec> simclr(int size, double blurP) { return {2, view(size, 0.08, 1, 1, 0.8, blurP, 0)}; }
std::vector<data::ViewSpec> dino()
{
    std::vector<data::ViewSpec> views{view(224, 0.4, 1, 0.5, 0.2, 1, 0), view(224, 0.4, 1, 0.5, 0.2, 0.1, 0.2)};
    views.insert(views.end(), 6, view(96, 0.05, 0.4, 0.5, 0.2, 0.5, 0));
    return views;
}

double cpuSeconds()
{
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return double(now.tv_sec) + double(now.tv_nsec) * 1e-9;
}

/// Epochs through the loader with one thread, until so much CPU time has gone. All threads of this process count.
class Work
{
public:
    Work(std::shared_ptr<const data::Dataset> data, std::vector<data::ViewSpec> views)
        : m_data(std::make_shared<const Repeated>(std::move(data))), m_views(std::move(views))
    {
    }
    Result<double> imagesPerSecond(double seconds)
    {
        std::int64_t images = 0;
        const double start = cpuSeconds();
        double spent = 0;
        for (; spent < seconds; ++m_epoch) {
            data::Loader loader(m_data, m_views,
                                data::rankBatches(data::permutation(m_data->size(), 1, m_epoch), batchSize, 0, 1),
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

Result<std::map<std::string, Work>> works(const std::filesystem::path &folder)
{
    const auto files = data::openFolder(folder);
    if (!files) return files.error();
    const auto kept = std::make_shared<const data::KeptDataset>(files->train, std::int64_t(1) << 32);
    return std::map<std::string, Work>{{"arrays_32_simclr", {std::make_shared<const Arrays>(), simclr(32, 0)}},
                                       {"jpeg_224_simclr", {files->train, simclr(224, 0.5)}},
                                       {"decoded_224_simclr", {kept, simclr(224, 0.5)}},
                                       {"jpeg_multicrop_dino", {files->train, dino()}}};
}

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
    auto all = works(argv[2]);
    if (!all) return fail(all.error());
    if (command == "all") {
        for (auto &[name, work] : *all) {
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
        const auto found = all->find(name);
        if (found == all->end()) return fail({"there is no such work", name, {}});
        const auto rate = found->second.imagesPerSecond(seconds);
        if (!rate) return fail(rate.error());
        std::cout << *rate << std::endl;
    }
}
