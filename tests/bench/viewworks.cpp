// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/viewworks.h"

#include "core/engine/data/keptdataset.h"
#include "core/engine/data/source.h"

#include <ctime>

namespace parallax::bench {

namespace {

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
    std::int64_t size() const override { return 16 * viewBatch; }
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

} // namespace

Result<std::map<std::string, ViewWork>> viewWorks(const std::filesystem::path &folder)
{
    const auto files = data::openFolder(folder);
    if (!files) return files.error();
    const auto repeated = [](std::shared_ptr<const data::Dataset> inner) {
        return std::make_shared<const Repeated>(std::move(inner));
    };
    const auto kept = std::make_shared<const data::KeptDataset>(files->train, std::int64_t(1) << 32);
    return std::map<std::string, ViewWork>{{"arrays_32_simclr", {repeated(std::make_shared<const Arrays>()), simclr(32, 0)}},
                                           {"jpeg_224_simclr", {repeated(files->train), simclr(224, 0.5)}},
                                           {"decoded_224_simclr", {repeated(kept), simclr(224, 0.5)}},
                                           {"jpeg_multicrop_dino", {repeated(files->train), dino()}}};
}

double cpuSeconds()
{
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return double(now.tv_sec) + double(now.tv_nsec) * 1e-9;
}

} // namespace parallax::bench
