// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/data/source.h"

#include "core/base/atomicfile.h"
#include "core/base/paths.h"
#include "core/base/text.h"
#include "core/engine/data/filestate.h"
#include "core/engine/data/folderscan.h"
#include "core/engine/data/quarantine.h"
#include "core/engine/data/random.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>
#include <optional>
#include <set>
#include <stdexcept>
#include <unordered_map>

namespace parallax::data {

namespace fs = std::filesystem;

namespace {

/// In order of preference when several are there.
constexpr std::array valNames{"val", "valid", "validation", "test"};

std::string readable(const std::string &path) { return text::isUtf8(path) ? path : text::printable(path); }

/// A run of a folder's files: all, or those of one split.
struct Range {
    std::size_t begin = 0, end = 0;
    std::size_t size() const { return end - begin; }
};

class FolderDataset : public Dataset
{
public:
    /// `labels`: one a file of the range.
    FolderDataset(fs::path root, std::shared_ptr<const PathList> files, Range range, std::vector<int> labels,
                  std::vector<std::string> classes, Quarantine quarantine)
        : m_root(std::move(root)), m_files(std::move(files)), m_range(range), m_labels(std::move(labels)),
          m_quarantine(std::move(quarantine))
    {
        m_source = readable(m_root.string());
        m_classes = std::move(classes);
        for (auto &[path, reason] : m_quarantine.read()) {
            const std::size_t place = m_files->lowerBound(path);
            if (m_files->holds(place, path) && place >= m_range.begin && place < m_range.end)
                m_setAside.emplace(std::int64_t(place - m_range.begin), reason);
        }
    }
    void setRemark(std::string remark, std::int64_t skipped)
    {
        m_remark = std::move(remark);
        m_skipped = skipped;
    }

    std::int64_t size() const override { return std::int64_t(m_range.size()); }

    Item item(std::int64_t index) const override
    {
        const std::string_view path = pathOf(index);
        return {fnv1a(path.data(), path.size()), readable(std::string(path)), m_labels.at(std::size_t(index))};
    }

    Result<cv::Mat> image(std::int64_t index) const override { return imageFor(index, {}); }

    Result<cv::Mat> imageFor(std::int64_t index, const DemandFor &demand) const override
    {
        if (const auto aside = m_setAside.find(index); aside != m_setAside.end())
            return Error{aside->second, readable(std::string(pathOf(index))), "parallax data check tries it again."};
        auto decoded = decode(index, demand);
        if (!decoded) return decoded.error();
        return std::move(decoded->rgb);
    }

    Result<DecodedImage> inspect(std::int64_t index) const override { return decode(index, {}); }

    std::optional<std::string> identity(std::int64_t index) const override { return fileIdentity(m_root / pathOf(index)); }

    std::int64_t asideCount() const override { return std::int64_t(m_setAside.size()); }

    std::string setAside(const std::vector<Unreadable> &files) const override
    {
        std::vector<Quarantine::Entry> entries;
        entries.reserve(files.size());
        for (const Unreadable &file : files) entries.push_back({std::string(pathOf(file.index)), file.reason});
        const bool written = m_quarantine.write(entries).ok() && !entries.empty();
        return written ? readable(m_quarantine.file().string()) : std::string();
    }

private:
    Result<DecodedImage> decode(std::int64_t index, const DemandFor &demand) const
    {
        const std::string path(pathOf(index));
        const auto bytes = readFile(m_root / path, std::size_t(2) << 30);
        if (!bytes) return Error{bytes.error().what, readable(path), bytes.error().hint};
        auto decoded = decodeImage({reinterpret_cast<const std::uint8_t *>(bytes->data()), bytes->size()}, demand);
        if (!decoded) return Error{decoded.error().what, readable(path), decoded.error().hint};
        return decoded;
    }

    std::string_view pathOf(std::int64_t index) const
    {
        if (index < 0 || index >= size()) throw std::out_of_range("no such image");
        return (*m_files)[m_range.begin + std::size_t(index)];
    }

    fs::path m_root;
    std::shared_ptr<const PathList> m_files;
    Range m_range;
    std::vector<int> m_labels;
    Quarantine m_quarantine;
    std::unordered_map<std::int64_t, std::string> m_setAside; ///< reasons by index
};

/// "a/b/c.png" → "a"; "c.png" → nothing.
std::string_view firstFolder(std::string_view path)
{
    const auto slash = path.find('/');
    return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

/// The first folders of the files of a range, `prefix` bytes into each path, in order. Files of one folder follow each other.
std::vector<std::string> firstFolders(const PathList &files, Range range, std::size_t prefix)
{
    std::set<std::string, std::less<>> names;
    std::string_view last;
    for (std::size_t i = range.begin; i < range.end; ++i) {
        const std::string_view name = firstFolder(files[i].substr(prefix));
        if (i > range.begin && name == last) continue;
        names.emplace(name);
        last = name;
    }
    return {names.begin(), names.end()};
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
std::optional<SplitFolders> splitFolders(const PathList &files)
{
    SplitFolders found;
    std::size_t best = valNames.size();
    for (const auto &folder : firstFolders(files, {0, files.size()}, 0)) {
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

/// Of sorted paths, those of one folder follow each other.
Range below(const PathList &files, const std::string &folder)
{
    if (folder.empty()) return {0, files.size()};
    return {files.lowerBound(folder + '/'), files.lowerBound(folder + char('/' + 1))};
}

std::vector<std::string> classNames(const PathList &files, Range range, std::size_t prefix)
{
    auto names = firstFolders(files, range, prefix);
    if (!names.empty() && names.front().empty()) names.erase(names.begin());
    return names;
}

/// The class of each file: its folder, which follows the first `prefix` bytes of the path.
std::vector<int> labelsOf(const PathList &files, Range range, std::size_t prefix, const std::vector<std::string> &classes)
{
    std::vector<int> labels;
    labels.reserve(range.size());
    for (std::size_t i = range.begin; i < range.end; ++i) {
        const std::string_view name = firstFolder(files[i].substr(prefix));
        const auto place = std::ranges::lower_bound(classes, name);
        labels.push_back(name.empty() ? -1 : int(place - classes.begin()));
    }
    return labels;
}

std::string looseRemark(const std::vector<int> &labels, const std::vector<std::string> &classes)
{
    const auto loose = std::ranges::count(labels, -1);
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
    auto scan = scanFolder(folder);
    if (!scan) return scan.error();
    if (scan->files.empty()) return nothingFound(folder, *scan);

    const auto files = std::make_shared<const PathList>(std::move(scan->files));
    const auto split = splitFolders(*files);
    const std::string trainName = split ? split->train : std::string();
    const Range trainFiles = below(*files, trainName);
    const std::size_t trainPrefix = split ? trainName.size() + 1 : 0;
    auto classes = classNames(*files, trainFiles, trainPrefix);
    Range valFiles;
    if (split) {
        // One list of classes for both, so that a label means the same on either side.
        valFiles = below(*files, split->val);
        const auto valClasses = classNames(*files, valFiles, split->val.size() + 1);
        std::vector<std::string> names;
        std::ranges::set_union(classes, valClasses, std::back_inserter(names));
        classes = std::move(names);
    }

    const auto make = [&](Range range, std::size_t prefix, const std::string &remark, std::int64_t skipped) {
        auto labels = labelsOf(*files, range, prefix, classes);
        std::vector<std::string> names;
        names.reserve(classes.size());
        for (const auto &name : classes) names.push_back(readable(name));
        std::vector<std::string> remarks{remark, looseRemark(labels, classes)};
        std::erase(remarks, std::string());
        const Quarantine quarantine(paths::cache() / "index", folder,
                                    prefix > 0 ? std::string((*files)[range.begin].substr(0, prefix)) : std::string());
        auto data = std::make_shared<FolderDataset>(folder, files, range, std::move(labels), std::move(names), quarantine);
        data->setRemark(text::join(remarks, "; "), skipped);
        return data;
    };
    Source source{make(trainFiles, trainPrefix, scan->remark(), scan->skipped()), nullptr};
    if (split) source.val = make(valFiles, split->val.size() + 1, {}, 0);
    return source;
}

} // namespace parallax::data
