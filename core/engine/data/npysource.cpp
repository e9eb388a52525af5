// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/data/source.h"

#include "core/base/text.h"
#include "core/engine/data/arraydataset.h"
#include "core/engine/data/bytereader.h"
#include "core/engine/data/labelling.h"
#include "core/engine/data/npyfile.h"
#include "core/engine/data/random.h"

#include <algorithm>
#include <array>
#include <optional>

namespace parallax::data {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t mostImages = std::uint64_t(1) << 40; ///< so many numbers fit an id beside a file's own bits

bool isChannels(std::uint64_t side) { return side == 1 || side == 3 || side == 4; }

/// How the array's images lie; an Error for one that holds none.
Result<PixelLayout> layoutOf(const NpyFile &npy)
{
    const auto refuse = [](const std::string &what, const std::string &hint) { return Error{what, {}, hint}; };
    PixelLayout layout;
    layout.bigEndian = npy.bigEndian;
    if (npy.kind == 'f' && npy.width == 4)
        layout.type = PixelLayout::Type::F32;
    else if (npy.kind == 'u' && npy.width == 2)
        layout.type = PixelLayout::Type::U16;
    else if (npy.kind != 'u' || npy.width != 1)
        return refuse("holds " +
                          std::string(npy.kind == 'f'       ? "floating point"
                                          : npy.kind == 'b' ? "truth"
                                                            : "whole") +
                          " values of " + std::to_string(8 * npy.width) + " bits: uint8, uint16 and float32 are read",
                      "Save array.astype(numpy.uint8).");
    const auto &shape = npy.shape;
    const std::string forms = "N x H x W, N x H x W x C and N x C x H x W are read, with 1, 3 or 4 channels";
    if (shape.size() == 3 && shape[2] <= 4)
        return refuse("looks like one picture: its shape is " + shapeText(shape) + "; " + forms, "Save array[None].");
    std::array<std::uint64_t, 3> sides{}; // height, width, channels
    if (shape.size() == 3) {
        sides = {shape[1], shape[2], 1};
    } else if (shape.size() == 4 && isChannels(shape[3])) {
        sides = {shape[1], shape[2], shape[3]};
    } else if (shape.size() == 4 && isChannels(shape[1])) {
        sides = {shape[2], shape[3], shape[1]};
        layout.order = PixelLayout::Order::Planes;
    } else {
        return refuse("has the shape " + shapeText(shape) + ": " + forms, "Reshape the array.");
    }
    if (sides[0] > std::uint64_t(maxSide) || sides[1] > std::uint64_t(maxSide) || shape[0] > mostImages ||
        sides[0] * sides[1] > std::uint64_t(maxPixels))
        return refuse("has images that are too large: its shape is " + shapeText(shape), {});
    layout.height = int(sides[0]), layout.width = int(sides[1]), layout.channels = int(sides[2]);
    return layout;
}

/// `text` with the last `from` in it replaced; nothing when it is not there.
std::optional<std::string> replaced(const std::string &text, const std::string &from, const std::string &to)
{
    const auto at = text.rfind(from);
    if (at == std::string::npos) return {};
    return std::string(text).replace(at, from.size(), to);
}

std::optional<fs::path> firstFile(const fs::path &folder, const std::vector<std::optional<std::string>> &stems)
{
    std::error_code error;
    for (const auto &stem : stems)
        if (stem && fs::is_regular_file(folder / (*stem + ".npy"), error)) return folder / (*stem + ".npy");
    return {};
}

/// The labels that belong to a file of images: a_labels.npy for a.npy, train_labels.npy for train_images.npy, y_train.npy
/// for x_train.npy, else labels.npy.
std::optional<fs::path> labelsFile(const fs::path &images)
{
    const std::string stem = images.stem().string();
    std::vector<std::optional<std::string>> stems{stem + "_labels", replaced(stem, "images", "labels")};
    if (stem.starts_with("x_")) stems.emplace_back("y_" + stem.substr(2));
    if (stem.starts_with("X_")) stems.emplace_back("y_" + stem.substr(2));
    stems.emplace_back("labels");
    return firstFile(images.parent_path(), stems);
}

/// Labels as words; below 0: none.
Result<std::vector<std::string>> readLabels(const fs::path &path, std::uint64_t images)
{
    const std::string where = text::printable(path.string());
    const auto npy = openNpyFile(path);
    if (!npy) return npy.error();
    const bool column = npy->shape.size() == 1 || (npy->shape.size() == 2 && npy->shape[1] == 1);
    if (npy->kind == 'f' || !column)
        return Error{"holds no labels: one whole number an image is read, its shape is " + shapeText(npy->shape), where, {}};
    if (npy->shape[0] != images)
        return Error{"holds " + std::to_string(npy->shape[0]) + " labels for " + std::to_string(images) + " images", where,
                     "Name the labels of a.npy a_labels.npy."};
    const std::size_t width = std::size_t(npy->width);
    std::vector<std::uint8_t> bytes(std::size_t(images) * width); // the file holds them: its size was checked
    const auto got = npy->file->readAt(npy->first, bytes.data(), bytes.size());
    if (!got || *got < bytes.size()) return Error{got ? "is cut short" : got.error().what, where, "Load the file again."};
    std::vector<std::string> words(bytes.size() / width);
    for (std::size_t i = 0; i < words.size(); ++i) {
        std::uint64_t bits = 0;
        for (std::size_t b = 0; b < width; ++b) bits = bits << 8 | bytes[i * width + (npy->bigEndian ? b : width - 1 - b)];
        const int unused = 64 - 8 * npy->width;
        const auto value = std::int64_t(bits << unused) >> unused; // with its sign
        if (npy->kind != 'i')
            words[i] = std::to_string(bits);
        else if (value >= 0)
            words[i] = std::to_string(value);
    }
    return words;
}

struct Images {
    PixelLayout layout;
    ArrayPart part;
    std::vector<std::string> words;
};

Result<Images> readImages(const fs::path &path)
{
    auto npy = openNpyFile(path);
    if (!npy) return npy.error();
    const auto layout = layoutOf(*npy);
    if (!layout) return Error{layout.error().what, text::printable(path.string()), layout.error().hint};
    const std::string stem = path.stem().string();
    Images images{*layout, {}, {}};
    images.part.store = std::make_shared<const ByteStore>(npy->file);
    images.part.count = std::int64_t(npy->shape[0]);
    images.part.first = npy->first;
    images.part.stride = layout->bytes();
    images.part.prefix = text::printable(stem);
    images.part.idBase = fnv1a(stem.data(), stem.size()) & ~(mostImages - 1);
    images.part.where = text::printable(path.string());
    if (const auto file = labelsFile(path)) {
        auto words = readLabels(*file, npy->shape[0]);
        if (!words) return words.error();
        images.words = std::move(*words);
    }
    return images;
}

} // namespace

Result<Source> openNpy(const fs::path &path)
{
    auto train = readImages(path);
    if (!train) return train.error();
    std::vector<std::optional<std::string>> others;
    for (const char *part : {"val", "valid", "validation", "test"})
        others.push_back(replaced(path.stem().string(), "train", part));
    std::optional<Images> val;
    if (const auto file = firstFile(path.parent_path(), others)) {
        auto images = readImages(*file);
        if (!images) return images.error();
        val = std::move(*images);
    }
    std::vector<std::string> words = train->words;
    if (val) words.insert(words.end(), val->words.begin(), val->words.end());
    const Labelling all = labelling(words);
    const auto make = [&](Images &images, std::size_t first) -> std::shared_ptr<const Dataset> {
        const auto begin = all.labels.begin() + std::ptrdiff_t(first);
        std::vector<int> labels(begin, begin + std::ptrdiff_t(images.words.size()));
        const bool unlabelled = labels.empty();
        return std::make_shared<const ArrayDataset>(images.layout, std::vector{std::move(images.part)}, std::move(labels),
                                                    all.classes, path,
                                                    unlabelled ? "no file of labels beside the array: unlabelled" : "");
    };
    const std::size_t trained = train->words.size();
    Source source{make(*train, 0), nullptr};
    if (val) source.val = make(*val, trained);
    return source;
}

} // namespace parallax::data
