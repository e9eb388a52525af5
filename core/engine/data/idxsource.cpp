// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/data/source.h"

#include "core/base/text.h"
#include "core/engine/data/arraydataset.h"
#include "core/engine/data/idxfile.h"

#include <algorithm>
#include <array>
#include <set>

namespace parallax::data {

namespace fs = std::filesystem;

namespace {

constexpr std::array fashionNames{"T-shirt/top", "Trouser", "Pullover", "Dress", "Coat",
                                  "Sandal",      "Shirt",   "Sneaker",  "Bag",   "Ankle boot"};
struct Part {
    IdxFile images;
    std::vector<std::uint8_t> labels; ///< empty: none
};

std::shared_ptr<const Dataset> dataset(Part part, const std::vector<int> &values, std::vector<std::string> classes,
                                       bool test, const fs::path &folder)
{
    PixelLayout layout;
    layout.height = int(part.images.dims[1]), layout.width = int(part.images.dims[2]);
    std::vector<int> labels;
    labels.reserve(part.labels.size());
    for (const int value : part.labels) labels.push_back(int(std::ranges::lower_bound(values, value) - values.begin()));
    ArrayPart array;
    array.count = part.images.dims[0];
    array.stride = layout.bytes();
    array.store = std::make_shared<const ByteStore>(std::move(part.images.values));
    array.prefix = test ? "test" : "train";
    array.idBase = test ? testIds : 0;
    array.where = text::printable(folder.string());
    return std::make_shared<const ArrayDataset>(layout, std::vector{std::move(array)}, std::move(labels), std::move(classes),
                                                folder,
                                                part.labels.empty() ? "no labels file beside the images: unlabelled" : "");
}

std::optional<fs::path> findFile(const fs::path &folder, const std::string &part, const std::string &kind)
{
    for (const char joint : {'-', '.'})
        for (const char *suffix : {"", ".gz"}) {
            std::string name = part;
            (name += joint) += kind;
            (name += "-ubyte") += suffix;
            const fs::path file = folder / name;
            std::error_code error;
            if (fs::is_regular_file(file, error)) return file;
        }
    return {};
}

Result<Part> openPart(const fs::path &folder, const std::string &name)
{
    const fs::path imagesFile = *findFile(folder, name + "-images", "idx3");
    const auto labelsFile = findFile(folder, name + "-labels", "idx1");
    auto images = readIdx(imagesFile, 3);
    if (!images) return images.error();
    Part part{std::move(*images), {}};
    if (!labelsFile) return part;
    auto labels = readIdx(*labelsFile, 1);
    if (!labels) return labels.error();
    if (labels->dims[0] != part.images.dims[0])
        return Error{"holds " + std::to_string(labels->dims[0]) + " labels for " + std::to_string(part.images.dims[0]) +
                         " images",
                     text::printable(labelsFile->string()), "Take both files from the same place."};
    part.labels.assign(labels->values.begin(), labels->values.end());
    return part;
}

} // namespace

bool holdsIdx(const fs::path &folder)
{
    return findFile(folder, "train-images", "idx3") || findFile(folder, "t10k-images", "idx3");
}

Result<Source> openIdx(const fs::path &folder, bool fashion)
{
    if (!findFile(folder, "train-images", "idx3"))
        return Error{"holds t10k-images but no train-images-idx3-ubyte", text::printable(folder.string()),
                     "Add the training part."};
    auto train = openPart(folder, "train");
    if (!train) return train.error();
    std::optional<Part> test;
    if (findFile(folder, "t10k-images", "idx3")) {
        auto part = openPart(folder, "t10k");
        if (!part) return part.error();
        test = std::move(*part);
    }
    // The classes are the label values that occur, not all up to the largest.
    std::set<int> occurring(train->labels.begin(), train->labels.end());
    if (test) occurring.insert(test->labels.begin(), test->labels.end());
    const std::vector<int> values(occurring.begin(), occurring.end());
    const bool named = fashion && !values.empty() && values.back() < int(fashionNames.size());
    std::vector<std::string> classes;
    classes.reserve(values.size());
    for (const int value : values) classes.push_back(named ? fashionNames[std::size_t(value)] : std::to_string(value));
    Source source;
    source.train = dataset(std::move(*train), values, classes, false, folder);
    if (test) source.val = dataset(std::move(*test), values, classes, true, folder);
    return source;
}

} // namespace parallax::data
