// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/train/embedder.h"

#include "core/base/atomicfile.h"

#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>

#include <algorithm>
#include <cmath>

namespace parallax::train {
namespace {

namespace fs = std::filesystem;
constexpr int kTile = 48, kColumns = 32, kPerFile = 1024;

/// The whole image, scaled to fit the tile, in its middle.
void drawTile(const cv::Mat &rgb, cv::Mat tile)
{
    const double scale = std::min(double(tile.cols) / rgb.cols, double(tile.rows) / rgb.rows);
    const cv::Size size(std::clamp(int(std::lround(rgb.cols * scale)), 1, tile.cols),
                        std::clamp(int(std::lround(rgb.rows * scale)), 1, tile.rows));
    cv::Mat scaled;
    cv::resize(rgb, scaled, size, 0, 0, scale < 1 ? cv::INTER_AREA : cv::INTER_LINEAR);
    cv::cvtColor(scaled,
                 tile(cv::Rect((tile.cols - size.width) / 2, (tile.rows - size.height) / 2, size.width, size.height)),
                 cv::COLOR_RGB2BGR); // PNG files are written from BGR
}

Status writeThumbs(const fs::path &part, const data::Dataset &data)
{
    for (std::int64_t first = 0, file = 0; first < data.size(); first += kPerFile, ++file) {
        const std::int64_t count = std::min<std::int64_t>(kPerFile, data.size() - first);
        const int rows = int((count + kColumns - 1) / kColumns);
        cv::Mat atlas(rows * kTile, kColumns * kTile, CV_8UC3, cv::Scalar::all(0));
        for (std::int64_t i = 0; i < count; ++i) {
            const auto image = data.image(first + i);
            if (image) drawTile(*image, atlas(cv::Rect(int(i % kColumns) * kTile, int(i / kColumns) * kTile, kTile, kTile)));
        }
        std::vector<unsigned char> png;
        if (!cv::imencode(".png", atlas, png)) return Error{"thumbnails cannot be coded as PNG", part.string(), {}};
        const fs::path path = part / ("thumbs-" + std::to_string(file) + ".png");
        if (Status status = writeFileAtomic(path, {reinterpret_cast<const char *>(png.data()), png.size()}); !status)
            return status;
    }
    return {};
}

embedding::Meta makeMeta(const EmbeddingTarget &target, const data::Dataset &data, const torch::Tensor &features)
{
    embedding::Meta meta;
    meta.count = data.size();
    meta.dim = features.size(1);
    meta.step = target.step;
    meta.epoch = target.epoch;
    meta.classes = data.classes();
    meta.source = data.source();
    meta.thumbSize = kTile;
    meta.thumbColumns = kColumns;
    meta.thumbsPerFile = kPerFile;
    return meta;
}

} // namespace

Status writeEmbedding(const EmbeddingTarget &target, const data::Dataset &data, const torch::Tensor &features)
{
    TORCH_CHECK(features.dim() == 2 && features.size(0) == data.size(), "features of ", data.size(), " images expected");
    std::vector<embedding::Item> items;
    for (std::int64_t i = 0; i < data.size(); ++i) {
        const data::Item item = data.item(i);
        items.push_back({item.id, item.name, item.label, target.split});
    }
    const auto host = features.to(torch::kCPU, torch::kFloat32).contiguous();
    fs::path part = target.folder;
    part += ".part";
    std::error_code error;
    fs::remove_all(part, error);
    fs::create_directories(part, error);
    if (error) return Error{"cannot make the folder for embeddings: " + error.message(), part.string(), {}};
    Status status = embedding::writeStore(part, makeMeta(target, data, features), items, host.const_data_ptr<float>());
    if (status) status = writeThumbs(part, data);
    if (status) {
        fs::remove_all(target.folder, error);
        fs::rename(part, target.folder, error);
        if (error) status = Error{"cannot put the embeddings in place: " + error.message(), target.folder.string(), {}};
    }
    if (!status) fs::remove_all(part, error);
    return status;
}

} // namespace parallax::train
