// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/data/source.h"

#include "core/base/parallel.h"
#include "core/base/text.h"
#include "core/engine/data/filestate.h"
#include "core/engine/data/folderscan.h"
#include "core/engine/data/labelling.h"
#include "core/engine/data/random.h"
#include "core/engine/data/shardindex.h"
#include "core/engine/data/tarreader.h"

#include <algorithm>
#include <array>
#include <cctype>

#include <glob.h>

namespace parallax::data {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t imageLimit = std::uint64_t(2) << 30;
/// In order of preference when several are there.
constexpr std::array valNames{"val", "valid", "validation", "test"};

std::string readable(const std::string &path) { return text::isUtf8(path) ? path : text::printable(path); }

struct Shard {
    fs::path path;
    std::string name; ///< for messages and ids: relative to the folder
    std::uint64_t size = 0;
    std::int64_t changed = 0;
};

struct Sample {
    std::string member;
    std::uint64_t offset = 0, size = 0;
    std::uint32_t shard = 0;
    int label = -1;
};

class ShardDataset : public Dataset
{
public:
    ShardDataset(const std::string &source, std::vector<Shard> shards, std::vector<Sample> samples,
                 std::vector<std::string> classes, std::string remark, std::int64_t skipped)
        : m_shards(std::move(shards)), m_samples(std::move(samples))
    {
        m_source = readable(source);
        m_classes = std::move(classes);
        m_remark = std::move(remark);
        m_skipped = skipped;
    }

    std::int64_t size() const override { return std::int64_t(m_samples.size()); }

    Item item(std::int64_t index) const override
    {
        const Sample &sample = m_samples.at(std::size_t(index));
        const std::string name = m_shards[sample.shard].name + '/' + sample.member;
        return {fnv1a(name.data(), name.size()), readable(name), sample.label};
    }

    Result<cv::Mat> image(std::int64_t index) const override { return imageFor(index, {}); }

    Result<cv::Mat> imageFor(std::int64_t index, const DemandFor &demand) const override
    {
        auto decoded = decode(index, demand);
        if (!decoded) return decoded.error();
        return std::move(decoded->rgb);
    }

    Result<DecodedImage> inspect(std::int64_t index) const override { return decode(index, {}); }

    std::optional<std::string> identity(std::int64_t index) const override
    {
        const Sample &sample = m_samples.at(std::size_t(index));
        const auto archive = fileIdentity(m_shards[sample.shard].path);
        if (!archive) return {};
        return *archive + '[' + std::to_string(sample.offset) + '+' + std::to_string(sample.size) + ']';
    }

private:
    Result<DecodedImage> decode(std::int64_t index, const DemandFor &demand) const
    {
        const Sample &sample = m_samples.at(std::size_t(index));
        const Shard &shard = m_shards[sample.shard];
        const auto wrong = [&](const Error &error) { return Error{error.what, item(index).name, error.hint}; };
        if (sample.size > imageLimit) return wrong({"is too large: " + text::bytes(sample.size), {}, {}});
        const auto file = OpenFile::open(shard.path);
        if (!file) return wrong(file.error());
        if ((*file)->size() != shard.size || (*file)->changed() != shard.changed)
            return wrong({"its archive has changed since it was indexed", {}, "Start the run again."});
        std::vector<std::uint8_t> bytes(std::size_t(sample.size)); // the archive holds them: its index checked that
        const auto got = (*file)->readAt(sample.offset, bytes.data(), bytes.size());
        if (!got) return wrong(got.error());
        if (*got < bytes.size()) return wrong({"its archive is cut short", {}, "Load the archive again."});
        auto decoded = decodeImage(bytes, demand);
        if (!decoded) return wrong(decoded.error());
        return decoded;
    }

    std::vector<Shard> m_shards;
    std::vector<Sample> m_samples;
};

/// Whether a part of the name between signs and digits is `word`: "imagenet-val-000001.tar" has "val".
bool hasWord(const std::string &name, std::string_view word)
{
    std::string part;
    for (const char c : name + '.') {
        if (std::isalpha(static_cast<unsigned char>(c))) {
            part += char(std::tolower(static_cast<unsigned char>(c)));
            continue;
        }
        if (part == word) return true;
        part.clear();
    }
    return false;
}

/// The tar files of a folder, and of the folders of splits in it, by relative names in order.
std::vector<std::string> tarsIn(const fs::path &folder)
{
    std::vector<std::string> names;
    const auto collect = [&](const std::string &below) {
        std::error_code error;
        for (fs::directory_iterator it(folder / below, error); !error && it != fs::directory_iterator();
             it.increment(error)) {
            const std::string name = it->path().filename().string();
            std::error_code ignored;
            if (name.ends_with(".tar") && !name.starts_with('.') && it->is_regular_file(ignored))
                names.push_back(below + name);
        }
    };
    collect("");
    collect("train/");
    for (const char *name : valNames) collect(std::string(name) + '/');
    std::ranges::sort(names);
    return names;
}

/// "passed over 4 members: 3 .mp3, 1 link or special file", the most frequent kinds first.
std::string passedOverText(const std::map<std::string, std::int64_t> &passedOver, std::int64_t sum)
{
    constexpr std::size_t named = 6;
    std::vector<std::pair<std::string, std::int64_t>> kinds(passedOver.begin(), passedOver.end());
    std::ranges::stable_sort(kinds, [](const auto &a, const auto &b) { return a.second > b.second; });
    std::vector<std::string> parts;
    std::int64_t others = sum;
    for (const auto &[kind, count] : kinds) {
        if (parts.size() == named) break;
        parts.push_back(std::to_string(count) + ' ' + kind);
        others -= count;
    }
    if (others > 0) parts.push_back(std::to_string(others) + " other");
    return "passed over " + std::to_string(sum) + " members: " + text::join(parts, ", ");
}

/// The samples of some shards, before labels are known as places in the list of classes.
class Part
{
public:
    void add(const fs::path &folder, const std::string &name, ShardIndex index)
    {
        const auto shard = std::uint32_t(m_shards.size());
        m_shards.push_back({folder / name, name, index.size, index.changed});
        for (auto &sample : index.samples) {
            m_samples.push_back({std::move(sample.member), sample.offset, sample.size, shard, -1});
            words.push_back(std::move(sample.label));
        }
        for (const auto &[kind, count] : index.passedOver) m_passedOver[kind] += count, m_skipped += count;
        if (index.problem.empty()) return;
        ++m_skipped;
        if (m_problems++ == 0)
            m_problem = text::printable(name) + ' ' + index.problem + " (" + std::to_string(index.samples.size()) +
                " images of it are used)";
    }

    std::vector<std::string> words;
    bool empty() const { return m_samples.empty(); }
    const std::string &problem() const { return m_problem; }

    std::shared_ptr<const Dataset> dataset(const std::string &source, const std::vector<std::string> &classes,
                                           const int *labels)
    {
        for (std::size_t i = 0; i < m_samples.size(); ++i) m_samples[i].label = labels[i];
        std::vector<std::string> parts;
        if (m_problems > 0)
            parts.push_back(m_problem +
                            (m_problems > 1 ? "; " + std::to_string(m_problems - 1) + " further archives are damaged" : ""));
        const auto bare = std::ranges::count(m_samples, -1, &Sample::label);
        if (bare == std::int64_t(m_samples.size()))
            parts.emplace_back("no labels (.cls, .json) in the archives: unlabelled");
        else if (bare > 0)
            parts.push_back(std::to_string(bare) + " images have no label");
        const std::int64_t passed = m_skipped - m_problems;
        if (passed > 0) parts.push_back(passedOverText(m_passedOver, passed));
        return std::make_shared<const ShardDataset>(source, std::move(m_shards), std::move(m_samples), classes,
                                                    text::join(parts, "; "), m_skipped);
    }

private:
    std::vector<Shard> m_shards;
    std::vector<Sample> m_samples;
    std::map<std::string, std::int64_t> m_passedOver;
    std::int64_t m_skipped = 0, m_problems = 0;
    std::string m_problem;
};

/// The word of valNames that some of the names have, when others have "train"; empty: there are no splits.
std::string valWord(const std::vector<std::string> &names)
{
    if (std::ranges::none_of(names, [](const auto &name) { return hasWord(name, "train"); })) return {};
    for (const char *word : valNames)
        if (std::ranges::any_of(names, [&](const auto &name) { return hasWord(name, word) && !hasWord(name, "train"); }))
            return word;
    return {};
}

Result<Source> openAll(const std::string &source, const fs::path &folder, std::vector<std::string> names)
{
    const std::string val = valWord(names);
    if (!val.empty()) std::erase_if(names, [&](const auto &name) { return !hasWord(name, "train") && !hasWord(name, val); });
    std::vector<ShardIndex> indices(names.size());
    parallelFor(std::int64_t(names.size()), 0,
                [&](std::int64_t i) { indices[std::size_t(i)] = indexShard(folder / names[std::size_t(i)]); });
    Part train, other;
    for (std::size_t i = 0; i < names.size(); ++i)
        (val.empty() || hasWord(names[i], "train") ? train : other).add(folder, names[i], std::move(indices[i]));
    if (train.empty())
        return Error{train.problem().empty() ? "holds no images (members such as key.jpg with key.cls)" : train.problem(),
                     text::printable(source), "Give tar archives in webdataset's form."};
    std::vector<std::string> words = train.words;
    words.insert(words.end(), other.words.begin(), other.words.end());
    const Labelling all = labelling(words);
    const std::size_t trained = train.words.size();
    Source result{train.dataset(source, all.classes, all.labels.data()), nullptr};
    if (!other.empty()) result.val = other.dataset(source, all.classes, all.labels.data() + trained);
    return result;
}

bool isPattern(const std::string &name) { return name.find_first_of("{*?[") != std::string::npos; }

} // namespace

bool isTar(const fs::path &file)
{
    auto stream = ByteStream::open(file);
    if (!stream) return false;
    TarReader tar(*stream);
    (void)tar.next();
    return tar.recognised();
}

bool holdsShards(const fs::path &folder)
{
    if (tarsIn(folder).empty()) return false;
    const auto scan = scanFolder(folder);
    return scan && scan->files.empty(); // beside image files, archives are something else
}

bool namesShards(const std::string &name) { return name.ends_with(".tar") && isPattern(name); }

Result<Source> openShards(const std::string &name)
{
    std::error_code error;
    const fs::path path(name);
    if (fs::is_directory(path, error)) return openAll(name, path, tarsIn(path));
    if (fs::is_regular_file(path, error)) return openAll(name, path.parent_path(), {path.filename().string()});
    const auto expanded = expandBraces(name);
    if (!expanded) return expanded.error();
    std::vector<std::string> names;
    for (const auto &one : *expanded) {
        if (!isPattern(one)) {
            if (!fs::is_regular_file(one, error))
                return Error{"there is no " + text::printable(one) + ", which the pattern asks for", text::printable(name),
                             "Check the numbers of the pattern."};
            names.push_back(one);
            continue;
        }
        glob_t found{};
        if (::glob(one.c_str(), 0, nullptr, &found) == 0)
            for (std::size_t i = 0; i < found.gl_pathc; ++i) names.emplace_back(found.gl_pathv[i]);
        ::globfree(&found);
    }
    if (names.empty()) return Error{"no file has a name like this", text::printable(name), "Check the pattern."};
    // Ids and messages use the names below the folder that the pattern starts with.
    const fs::path folder = fs::path(name.substr(0, name.find_first_of("{*?["))).parent_path();
    for (auto &one : names) one = fs::path(one).lexically_relative(folder.empty() ? fs::path(".") : folder).string();
    return openAll(name, folder, std::move(names));
}

} // namespace parallax::data
