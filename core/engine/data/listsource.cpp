// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/data/source.h"

#include "core/base/atomicfile.h"
#include "core/base/text.h"
#include "core/engine/data/csvreader.h"
#include "core/engine/data/filestate.h"
#include "core/engine/data/labelling.h"
#include "core/engine/data/random.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <unordered_set>

namespace parallax::data {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t fileLimit = std::size_t(2) << 30;

std::string readable(const std::string &path) { return text::isUtf8(path) ? path : text::printable(path); }

std::string lowered(std::string s)
{
    for (char &c : s) c = char(std::tolower(static_cast<unsigned char>(c)));
    return s;
}

struct Entry {
    std::string path; ///< as listed: relative to the list's folder, or absolute
    int label = -1;
};

class ListDataset : public Dataset
{
public:
    ListDataset(fs::path list, std::vector<Entry> entries, std::vector<std::string> classes, std::string remark,
                std::int64_t skipped)
        : m_folder(list.parent_path()), m_entries(std::move(entries))
    {
        m_source = readable(list.string());
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
        return fileIdentity(m_folder / m_entries.at(std::size_t(index)).path);
    }

private:
    Result<DecodedImage> decode(std::int64_t index, const DemandFor &demand) const
    {
        const std::string &path = m_entries.at(std::size_t(index)).path;
        const auto bytes = readFile(m_folder / path, fileLimit);
        if (!bytes) return Error{bytes.error().what, readable(path), bytes.error().hint};
        auto decoded = decodeImage({reinterpret_cast<const std::uint8_t *>(bytes->data()), bytes->size()}, demand);
        if (!decoded) return Error{decoded.error().what, readable(path), decoded.error().hint};
        return decoded;
    }

    fs::path m_folder;
    std::vector<Entry> m_entries;
};

/// In order of preference when several are listed, as with folders.
constexpr std::array valNames{"val", "valid", "validation", "test"};

struct Row {
    std::string path, label;
    std::size_t split = 0; ///< 0: training, from 1 on: place in valNames
};

/// The rows of a list whose files are there, and what is to be said of the others.
class List
{
public:
    List(const fs::path &file, std::string_view text) : m_file(file), m_csv(text) { }

    std::vector<Row> rows;
    std::int64_t missing = 0, repeated = 0;
    std::string firstMissing;

    Status read()
    {
        if (auto status = readHeader(); !status) return status;
        std::unordered_set<std::string> seen;
        while (true) {
            auto record = m_csv.next();
            if (!record) return at(record.error());
            if (!*record) return {};
            const auto &fields = **record;
            if (fields.size() != m_columns)
                return wrong("has " + std::to_string(fields.size()) + " fields, the header has " +
                             std::to_string(m_columns));
            Row row;
            row.path = fields[m_path];
            if (row.path.empty()) return wrong("has an empty path");
            if (m_label) row.label = text::trimmed(fields[*m_label]);
            if (m_split) {
                const auto split = splitOf(fields[*m_split]);
                if (!split)
                    return wrong("has the split \"" + text::printable(fields[*m_split]) +
                                 "\": train, val, valid, validation, test or nothing is read");
                row.split = *split;
            }
            std::error_code error;
            if (row.path.find('\0') != std::string::npos || !fs::is_regular_file(m_file.parent_path() / row.path, error)) {
                if (missing++ == 0) firstMissing = row.path;
                continue;
            }
            repeated += !seen.insert(row.path).second;
            rows.push_back(std::move(row));
        }
    }

private:
    Error at(const Error &error) const { return {error.what, text::printable(m_file.string()), error.hint}; }
    Error wrong(const std::string &what) const { return at({"line " + std::to_string(m_csv.line()) + ' ' + what, {}, {}}); }

    Status readHeader()
    {
        const auto record = m_csv.next();
        if (!record) return at(record.error());
        const std::string hint = "The first line names the columns: path, and if you like label and split.";
        if (!*record) return at({"is empty", {}, hint});
        const auto &names = **record;
        m_columns = names.size();
        const auto find = [&](const std::string &wanted) -> std::optional<std::size_t> {
            for (std::size_t i = 0; i < names.size(); ++i)
                if (lowered(text::trimmed(names[i])) == wanted) return i;
            return {};
        };
        const auto path = find("path");
        if (!path) {
            const bool semicolons = names.size() == 1 && names[0].find_first_of(";\t") != std::string::npos;
            return at(
                {std::string("has no column \"path\"") + (semicolons ? "; columns are separated by commas" : ""), {}, hint});
        }
        m_path = *path, m_label = find("label"), m_split = find("split");
        return {};
    }

    static std::optional<std::size_t> splitOf(const std::string &field)
    {
        const std::string word = lowered(text::trimmed(field));
        if (word.empty() || word == "train" || word == "training") return 0;
        const auto place = std::ranges::find(valNames, word);
        if (place == valNames.end()) return {};
        return std::size_t(place - valNames.begin()) + 1;
    }

    const fs::path &m_file;
    CsvReader m_csv;
    std::size_t m_columns = 0, m_path = 0;
    std::optional<std::size_t> m_label, m_split;
};

std::string remark(const List &list, std::int64_t leftOut)
{
    std::vector<std::string> parts;
    const auto count = [](std::int64_t n, const char *what) { return std::to_string(n) + what; };
    if (list.missing > 0)
        parts.push_back(count(list.missing, " listed files are missing, the first: ") + text::printable(list.firstMissing));
    if (list.repeated > 0) parts.push_back(count(list.repeated, " rows name a file that an earlier row names"));
    if (leftOut > 0) parts.push_back(count(leftOut, " rows are of a further evaluation split and left out"));
    return text::join(parts, "; ");
}

} // namespace

Result<Source> openList(const fs::path &file)
{
    const auto text = readFile(file, fileLimit);
    if (!text) return text.error();
    List list(file, *text);
    if (auto status = list.read(); !status) return status.error();
    const std::string where = text::printable(file.string());

    std::size_t val = valNames.size() + 1;
    for (const auto &row : list.rows)
        if (row.split > 0) val = std::min(val, row.split);
    std::vector<std::string> words;
    words.reserve(list.rows.size());
    for (const auto &row : list.rows) words.push_back(row.label);
    const Labelling all = labelling(words);
    std::vector<Entry> train, others;
    for (std::size_t i = 0; i < list.rows.size(); ++i) {
        Row &row = list.rows[i];
        if (row.split == 0 || row.split == val)
            (row.split == 0 ? train : others).push_back({std::move(row.path), all.labels[i]});
    }
    if (train.empty()) {
        const std::string missing = remark(list, 0);
        return Error{"lists no training image" + (missing.empty() ? std::string() : " that is there: " + missing), where,
                     "Paths are relative to the list's folder."};
    }
    const auto leftOut = std::int64_t(list.rows.size() - train.size() - others.size());
    Source source;
    source.train =
        std::make_shared<const ListDataset>(file, std::move(train), all.classes, remark(list, leftOut), list.missing);
    if (!others.empty())
        source.val = std::make_shared<const ListDataset>(file, std::move(others), all.classes, std::string(), 0);
    return source;
}

} // namespace parallax::data
