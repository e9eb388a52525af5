// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/data/source.h"

#include "core/base/text.h"
#include "core/engine/data/idxfile.h"

#include <opencv2/imgproc.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <set>

namespace parallax::data {

namespace fs = std::filesystem;

namespace {

constexpr std::array fashionNames{"T-shirt/top", "Trouser", "Pullover", "Dress", "Coat",
                                  "Sandal",      "Shirt",   "Sneaker",  "Bag",   "Ankle boot"};
/// Test images are other images than training images of the same index: the id says so.
constexpr std::uint64_t testId = std::uint64_t(1) << 63;

struct Part {
    IdxFile images;
    std::vector<std::uint8_t> labels; ///< empty: none
};

class IdxDataset : public Dataset
{
public:
    IdxDataset(Part part, const std::vector<int> &values, std::vector<std::string> classes, bool test,
               const fs::path &folder)
        : m_part(std::move(part)), m_test(test)
    {
        m_place.fill(-1);
        for (std::size_t i = 0; i < values.size(); ++i) m_place[std::size_t(values[i])] = int(i);
        m_classes = std::move(classes);
        m_source = text::isUtf8(folder.string()) ? folder.string() : text::printable(folder.string());
        if (m_part.labels.empty()) m_remark = "no labels file beside the images: unlabelled";
    }

    std::int64_t size() const override { return m_part.images.dims[0]; }
    bool inMemory() const override { return true; }

    Item item(std::int64_t index) const override
    {
        char name[32];
        std::snprintf(name, sizeof name, "%s-%05lld", m_test ? "test" : "train", static_cast<long long>(index));
        return {std::uint64_t(index) | (m_test ? testId : 0), name,
                m_part.labels.empty() ? -1 : m_place[m_part.labels.at(std::size_t(index))]};
    }

    Result<cv::Mat> image(std::int64_t index) const override
    {
        const int height = int(m_part.images.dims[1]), width = int(m_part.images.dims[2]);
        const std::size_t offset = std::size_t(index) * std::size_t(height) * std::size_t(width);
        // The matrix is only read from.
        const cv::Mat gray(height, width, CV_8U, const_cast<std::uint8_t *>(m_part.images.values.data() + offset));
        cv::Mat rgb;
        cv::cvtColor(gray, rgb, cv::COLOR_GRAY2RGB);
        return rgb;
    }

    Result<DecodedImage> inspect(std::int64_t index) const override
    {
        ImageHeader header;
        header.height = m_part.images.dims[1];
        header.width = m_part.images.dims[2];
        header.channels = 1;
        return DecodedImage{image(index).value(), header};
    }

private:
    Part m_part;
    std::array<int, 256> m_place; ///< place among the classes of each label value
    bool m_test;
};

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
    part.labels = std::move(labels->values);
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
    source.train = std::make_shared<const IdxDataset>(std::move(*train), values, classes, false, folder);
    if (test) source.val = std::make_shared<const IdxDataset>(std::move(*test), values, classes, true, folder);
    return source;
}

} // namespace parallax::data
