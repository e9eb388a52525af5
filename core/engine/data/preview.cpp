// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/data/preview.h"

#include "core/base/atomicfile.h"
#include "core/engine/data/resample.h"
#include "core/engine/data/view.h"

#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>

#include <algorithm>
#include <cstdio>

namespace parallax::data {

namespace {

using Json = nlohmann::ordered_json;

constexpr int originalSide = 512;

Status writePng(const std::filesystem::path &file, const cv::Mat &rgb)
{
    cv::Mat bgr;
    cv::cvtColor(rgb, bgr, cv::COLOR_RGB2BGR);
    std::vector<std::uint8_t> bytes;
    cv::imencode(".png", bgr, bytes);
    return writeFileAtomic(file, {reinterpret_cast<const char *>(bytes.data()), bytes.size()});
}

cv::Mat toBytes(const std::vector<float> &planes, int width, int height)
{
    cv::Mat rgb(height, width, CV_8UC3);
    const std::size_t n = std::size_t(width) * std::size_t(height);
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t c = 0; c < 3; ++c) rgb.data[3 * i + c] = cv::saturate_cast<std::uint8_t>(planes[c * n + i] * 255);
    return rgb;
}

cv::Mat original(const cv::Mat &rgb)
{
    const int longer = std::max(rgb.cols, rgb.rows);
    if (longer <= originalSide) return rgb;
    const cv::Size size(std::max(1, rgb.cols * originalSide / longer), std::max(1, rgb.rows * originalSide / longer));
    std::vector<float> planes(3 * std::size_t(size.area()));
    resample(rgb, {0, 0, rgb.cols, rgb.rows}, size, {0, 0, size.width, size.height}, planes.data());
    return toBytes(planes, size.width, size.height);
}

std::string numbered(const char *format, std::int64_t a, std::int64_t b = 0, std::int64_t c = 0)
{
    char name[96];
    std::snprintf(name, sizeof name, format, static_cast<long long>(a), static_cast<long long>(b),
                  static_cast<long long>(c));
    return name;
}

/// One image's views of all epochs.
Result<Json> previewImage(const cv::Mat &rgb, const Item &item, const std::vector<ViewSpec> &views,
                          const PreviewOptions &options, std::int64_t number, Json &digests)
{
    Json entry{{"name", item.name}, {"original", numbered("image-%03lld.png", number)}, {"views", Json::array()}};
    if (auto status = writePng(options.out / entry["original"].get<std::string>(), original(rgb)); !status)
        return status.error();
    Json own = Json::array();
    for (std::int64_t epoch = 0; epoch < options.epochs; ++epoch) {
        Json files = Json::array(), hashes = Json::array();
        for (std::size_t v = 0; v < views.size(); ++v) {
            const std::size_t side = std::size_t(views[v].augment.size);
            std::vector<float> pixels(3 * side * side);
            makeView(rgb, views[v], {options.seed, epoch, item.id, int(v)}, pixels.data());
            hashes.push_back(numbered("%016llx", std::int64_t(fnv1a(pixels.data(), pixels.size() * sizeof(float)))));
            files.push_back(numbered("image-%03lld-epoch-%lld-view-%lld.png", number, epoch, std::int64_t(v)));
            const auto status =
                writePng(options.out / files.back().get<std::string>(), viewToImage(pixels.data(), views[v].augment));
            if (!status) return status.error();
        }
        entry["views"].push_back(std::move(files));
        own.push_back(std::move(hashes));
    }
    digests.push_back(std::move(own));
    return entry;
}

} // namespace

cv::Mat viewToImage(const float *view, const AugmentConfig &augment)
{
    const int side = int(augment.size);
    const std::size_t n = std::size_t(side) * std::size_t(side);
    const Normalisation normalisation(augment);
    std::vector<float> planes(view, view + 3 * n);
    for (std::size_t c = 0; c < 3; ++c)
        for (std::size_t i = c * n; i < (c + 1) * n; ++i)
            planes[i] = float(planes[i] * normalisation.std[c] + normalisation.mean[c]);
    return toBytes(planes, side, side);
}

Result<Json> writePreview(const Dataset &data, const std::vector<ViewSpec> &views, const PreviewOptions &options)
{
    std::error_code error;
    std::filesystem::create_directories(options.out, error);
    if (error) return Error{"the folder cannot be made: " + error.message(), options.out.string(), "Choose another folder."};
    Json images = Json::array(), digests = Json::array(), unreadable = Json::array();
    for (std::int64_t i = 0; i < data.size() && std::int64_t(images.size()) < options.images; ++i) {
        const Item item = data.item(i);
        const auto image = data.imageFor(i, [&](const cv::Size &stored) { return wholeFor(views, stored); });
        if (!image) {
            unreadable.push_back({{"name", item.name}, {"reason", image.error().what}});
            continue;
        }
        auto entry = previewImage(*image, item, views, options, std::int64_t(images.size()), digests);
        if (!entry) return entry.error();
        images.push_back(std::move(*entry));
    }
    if (images.empty())
        return Error{"no image of " + data.source() + " can be read", {}, "parallax data check lists what each file is."};
    return Json{{"images", images}, {"digests", digests}, {"unreadable", unreadable}};
}

} // namespace parallax::data
