// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/data/source.h"

#include "core/base/atomicfile.h"
#include "core/base/text.h"
#include "core/engine/data/folderscan.h"
#include "core/engine/data/random.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>
#include <optional>
#include <set>

namespace parallax::data {

namespace fs = std::filesystem;

namespace {

/// In order of preference when several are there.
constexpr std::array valNames{"val", "valid", "validation", "test"};

std::string readable(const std::string &path) { return text::isUtf8(path) ? path : text::printable(path); }

struct Entry {
    std::string path; ///< relative to the source's folder, raw bytes
    int label = -1;
};

class FolderDataset : public Dataset
{
public:
    FolderDataset(fs::path root, std::vector<Entry> entries, std::vector<std::string> classes, std::string remark,
                  std::int64_t skipped)
        : m_root(std::move(root)), m_entries(std::move(entries))
    {
        m_source = readable(m_root.string());
        m_classes = std::move(classes);
        m_remark = std::move(remark);
        m_skipped = skipped;
    }

    std::int64_t size() const override { return std::int64_t(m_entries.size()); }

    Item item(std::int64_t index) const override
    {
        const Entry &entry = m_entries.at(std::size_t(index));
        return {fnv1a(entry.path.data(), entry.path.size()), readable(entry.path), entry.label};
    }

    Result<cv::Mat> image(std::int64_t index) const override
    {
        auto decoded = inspect(index);
        if (!decoded) return decoded.error();
        return std::move(decoded->rgb);
    }

    Result<DecodedImage> inspect(std::int64_t index) const override
    {
        const Entry &entry = m_entries.at(std::size_t(index));
        const auto bytes = readFile(m_root / entry.path, std::size_t(2) << 30);
        if (!bytes) return Error{bytes.error().what, readable(entry.path), bytes.error().hint};
        auto decoded = decodeImage({reinterpret_cast<const std::uint8_t *>(bytes->data()), bytes->size()});
        if (!decoded) return Error{decoded.error().what, readable(entry.path), decoded.error().hint};
        return decoded;
    }

private:
    fs::path m_root;
    std::vector<Entry> m_entries;
};

/// "a/b/c.png" → "a"; "c.png" → nothing.
std::string firstFolder(std::string_view path)
{
    const auto slash = path.find('/');
    return slash == std::string_view::npos ? std::string() : std::string(path.substr(0, slash));
}

std::string lowered(std::string s)
{
    for (char &c : s) c = char(std::tolower(static_cast<unsigned char>(c)));
    return s;
}

/// The names of the train and the evaluation folder, when the source consists of nothing but such folders. A class that
/// happens to be called "train" among others is a class.
struct SplitFolders {
    std::string train, val;
};
std::optional<SplitFolders> splitFolders(const std::vector<std::string> &files)
{
    std::set<std::string> folders;
    for (const auto &file : files) folders.insert(firstFolder(file));
    SplitFolders found;
    std::size_t best = valNames.size();
    for (const auto &folder : folders) {
        if (lowered(folder) == "train") {
            found.train = folder;
            continue;
        }
        const auto place = std::size_t(std::ranges::find(valNames, lowered(folder)) - valNames.begin());
        if (place == valNames.size()) return {};
        if (place < best) best = place, found.val = folder;
    }
    if (found.train.empty() || found.val.empty()) return {};
    return found;
}

std::vector<std::string> below(const std::vector<std::string> &files, const std::string &folder)
{
    std::vector<std::string> result;
    for (const auto &file : files)
        if (folder.empty() || firstFolder(file) == folder) result.push_back(file);
    return result;
}

std::vector<std::string> classNames(const std::vector<std::string> &files, std::size_t prefix)
{
    std::set<std::string> names;
    for (const auto &file : files)
        if (auto name = firstFolder(std::string_view(file).substr(prefix)); !name.empty()) names.insert(std::move(name));
    return {names.begin(), names.end()};
}

/// Files and the class folder of each, which follows the first `prefix` bytes of the path.
std::vector<Entry> labelled(const std::vector<std::string> &files, std::size_t prefix,
                            const std::vector<std::string> &classes)
{
    std::vector<Entry> entries;
    entries.reserve(files.size());
    for (const auto &file : files) {
        const std::string name = firstFolder(std::string_view(file).substr(prefix));
        const auto place = std::ranges::lower_bound(classes, name);
        entries.push_back({file, name.empty() ? -1 : int(place - classes.begin())});
    }
    return entries;
}

std::string looseRemark(const std::vector<Entry> &entries, const std::vector<std::string> &classes)
{
    const auto loose = std::ranges::count(entries, -1, &Entry::label);
    if (classes.empty() || loose == 0) return {};
    return std::to_string(loose) + " images lie beside the class folders and have no label";
}

Error nothingFound(const fs::path &folder, const FolderScan &scan)
{
    static const std::set<std::string> containers{".npy", ".npz", ".tar",  ".gz",      ".tgz",      ".zip", ".bin",
                                                  ".pkl", ".h5",  ".hdf5", ".parquet", ".tfrecord", ".mat", ".lmdb"};
    const std::string where = readable(folder.string());
    for (const auto &[kind, count] : scan.passedOver)
        if (containers.count(kind))
            return {"holds no image files, but " + std::to_string(count) + ' ' + kind +
                        " that Parallax does not know as a data set",
                    where,
                    kind == ".npy" ? "Name the .npy file that holds the images."
                                   : "Unpack it into image files, one folder a class."};
    const std::string remark = scan.remark();
    return {"holds no images" + (remark.empty() ? std::string() : " (" + remark + ')'), where,
            "Choose a folder with JPEG, PNG, WebP, BMP, TIFF or GIF files, flat or in one folder a class."};
}

} // namespace

Result<Source> openFolder(const fs::path &folder)
{
    const auto scan = scanFolder(folder);
    if (!scan) return scan.error();
    if (scan->files.empty()) return nothingFound(folder, *scan);

    const auto split = splitFolders(scan->files);
    const std::string trainName = split ? split->train : std::string();
    const auto trainFiles = below(scan->files, trainName);
    const std::size_t trainPrefix = split ? trainName.size() + 1 : 0;
    auto classes = classNames(trainFiles, trainPrefix);
    std::vector<std::string> valFiles;
    if (split) {
        // One list of classes for both, so that a label means the same on either side.
        valFiles = below(scan->files, split->val);
        const auto valClasses = classNames(valFiles, split->val.size() + 1);
        std::vector<std::string> names;
        std::ranges::set_union(classes, valClasses, std::back_inserter(names));
        classes = std::move(names);
    }

    const auto make = [&](const std::vector<std::string> &files, std::size_t prefix, const std::string &remark,
                          std::int64_t skipped) {
        auto entries = labelled(files, prefix, classes);
        std::vector<std::string> names, remarks;
        for (const auto &name : classes) names.push_back(readable(name));
        for (const auto &part : {remark, looseRemark(entries, classes)})
            if (!part.empty()) remarks.push_back(part);
        return std::make_shared<const FolderDataset>(folder, std::move(entries), std::move(names), text::join(remarks, "; "),
                                                     skipped);
    };
    Source source{make(trainFiles, trainPrefix, scan->remark(), scan->skipped()), nullptr};
    if (split) source.val = make(valFiles, split->val.size() + 1, {}, 0);
    return source;
}

} // namespace parallax::data
