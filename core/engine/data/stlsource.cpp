// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/data/source.h"

#include "core/base/text.h"
#include "core/engine/data/archivefiles.h"
#include "core/engine/data/arraydataset.h"

#include <algorithm>
#include <optional>

namespace parallax::data {

namespace fs = std::filesystem;

namespace {

constexpr int classCount = 10;
constexpr const char *unlabelledFile = "unlabeled_X.bin";
constexpr const char *archiveName = "stl10_binary.tar.gz", *folderName = "stl10_binary";
constexpr std::size_t fileLimit = 300'000'000; ///< test_X.bin has 221 MB
constexpr std::uint64_t unlabelledIds = std::uint64_t(1) << 62;

const std::vector<std::string> labelledFiles{"train_X.bin", "train_y.bin", "test_X.bin", "test_y.bin", "class_names.txt"};

PixelLayout layout()
{
    PixelLayout layout;
    layout.height = layout.width = 96, layout.channels = 3, layout.order = PixelLayout::Order::PlanesByColumn;
    return layout;
}

bool isFile(const fs::path &path)
{
    std::error_code error;
    return fs::is_regular_file(path, error);
}

struct Place {
    fs::path path;
    bool archive = false, unlabelled = false;
};
std::optional<Place> findPlace(const fs::path &path)
{
    if (isFile(path)) {
        const std::string name = path.filename().string();
        if (name == unlabelledFile) return Place{path.parent_path(), false, true};
        if (isFile(path.parent_path() / "train_X.bin") && std::ranges::find(labelledFiles, name) != labelledFiles.end())
            return Place{path.parent_path()};
        const auto names = namesInArchive(path, 16);
        if (std::ranges::find(names, "train_X.bin") != names.end()) return Place{path, true};
        return {};
    }
    for (const auto &folder : {path, path / folderName})
        if (isFile(folder / "train_X.bin")) return Place{folder};
    if (isFile(path / archiveName)) return Place{path / archiveName, true};
    return {};
}

class Reader
{
public:
    Reader(const Place &place, NamedStores files) : m_place(place), m_files(std::move(files)) { }

    Result<Source> read()
    {
        if (auto status = readNames(); !status) return status.error();
        std::vector<ArrayPart> parts;
        std::vector<int> labels;
        if (m_place.unlabelled) {
            auto part = images(unlabelledFile, "unlabelled", unlabelledIds);
            if (!part) return part.error();
            labels.assign(std::size_t(part->count), -1);
            parts.push_back(std::move(*part));
        }
        for (const bool test : {false, true}) {
            const std::string name = test ? "test" : "train";
            if (!m_files.count(name + "_X.bin")) continue;
            auto part = images(name + "_X.bin", name, test ? testIds : 0);
            if (!part) return part.error();
            auto own = readLabels(name + "_y.bin", part->count);
            if (!own) return own.error();
            if (test) {
                m_test = dataset({std::move(*part)}, std::move(*own));
            } else {
                labels.insert(labels.end(), own->begin(), own->end());
                parts.push_back(std::move(*part));
            }
        }
        if (parts.empty()) return at("train_X.bin", {"is missing", {}, "Load the data set again."});
        return Source{dataset(std::move(parts), std::move(labels)), std::move(m_test)};
    }

private:
    Error at(const std::string &file, const Error &error) const
    {
        return {error.what, text::printable(m_place.path.string() + (m_place.archive ? ": " : "/") + file), error.hint};
    }

    Result<ArrayPart> images(const std::string &file, const std::string &prefix, std::uint64_t idBase) const
    {
        const std::size_t one = layout().bytes();
        ArrayPart part;
        part.store = m_files.at(file);
        const std::uint64_t bytes = part.store->size();
        if (bytes == 0 || bytes % one != 0)
            return at(file,
                      {"is not a whole number of " + std::to_string(one) + "-byte images: " + std::to_string(bytes) +
                           " bytes are " + std::to_string(bytes / one) + " images and " + std::to_string(bytes % one) +
                           " bytes",
                       {},
                       "Load the file again."});
        part.count = std::int64_t(bytes / one);
        part.stride = one;
        part.prefix = prefix;
        part.idBase = idBase;
        part.where = at(file, {}).where;
        return part;
    }

    Result<std::vector<int>> readLabels(const std::string &file, std::int64_t count) const
    {
        const auto found = m_files.find(file);
        if (found == m_files.end())
            return at(file, {"is missing: the labels of the images", {}, "Load the data set again."});
        const auto bytes = contentOf(*found->second, fileLimit);
        if (!bytes) return at(file, bytes.error());
        if (std::int64_t(bytes->size()) != count)
            return at(file,
                      {"holds " + std::to_string(bytes->size()) + " labels for " + std::to_string(count) + " images",
                       {},
                       "Take both files from the same place."});
        std::vector<int> labels;
        for (std::size_t i = 0; i < bytes->size(); ++i) {
            labels.push_back(static_cast<unsigned char>((*bytes)[i]) - 1);
            if (labels.back() < 0 || labels.back() >= classCount)
                return at(file,
                          {"has label " + std::to_string(labels.back() + 1) + " for image " + std::to_string(i + 1) +
                               ": STL-10 has labels 1 to 10",
                           {},
                           "Load the file again."});
        }
        return labels;
    }

    /// The names of the classes; their numbers when the data does not bring them.
    Status readNames()
    {
        const std::string file = "class_names.txt";
        if (m_files.count(file)) {
            const auto bytes = contentOf(*m_files.at(file), fileLimit);
            if (!bytes) return at(file, bytes.error());
            m_classes = linesOf(*bytes);
            if (int(m_classes.size()) != classCount)
                return at(
                    file,
                    {"names " + std::to_string(m_classes.size()) + " classes: STL-10 has 10", {}, "Load the file again."});
            return {};
        }
        for (int i = 1; i <= classCount; ++i) m_classes.push_back(std::to_string(i));
        return {};
    }

    std::shared_ptr<const Dataset> dataset(std::vector<ArrayPart> parts, std::vector<int> labels) const
    {
        return std::make_shared<const ArrayDataset>(layout(), std::move(parts), std::move(labels), m_classes, m_place.path);
    }

    const Place &m_place;
    NamedStores m_files;
    std::vector<std::string> m_classes;
    std::shared_ptr<const Dataset> m_test;
};

} // namespace

bool holdsStl(const fs::path &path) { return findPlace(path).has_value(); }

Result<Source> openStl(const fs::path &path)
{
    const auto place = findPlace(path);
    if (!place) return Error{"holds no STL-10 files", text::printable(path.string()), {}};
    std::vector<std::string> names = labelledFiles;
    if (place->unlabelled) names.emplace_back(unlabelledFile);
    auto files = place->archive ? filesInArchive(place->path, names, fileLimit) : filesInFolder(place->path, names);
    if (!files) return files.error();
    return Reader(*place, std::move(*files)).read();
}

} // namespace parallax::data
