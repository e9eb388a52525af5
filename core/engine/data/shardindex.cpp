// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/data/shardindex.h"

#include "core/base/text.h"
#include "core/engine/data/tarreader.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <unordered_map>

namespace parallax::data {

namespace {

using namespace std::string_view_literals;

constexpr std::array imageExtensions{"jpg"sv, "jpeg"sv, "png"sv, "webp"sv, "bmp"sv, "tif"sv, "tiff"sv,
                                     "gif"sv, "ppm"sv,  "pgm"sv, "pbm"sv,  "pnm"sv, "jfif"sv};
constexpr std::size_t labelLimit = std::size_t(1) << 20;

std::string lowered(std::string s)
{
    for (char &c : s) c = char(std::tolower(static_cast<unsigned char>(c)));
    return s;
}

/// The label in a member's content; empty: none.
std::string labelIn(const std::string &extension, const std::string &content)
{
    if (extension == "cls") return text::trimmed(content);
    if (extension == "txt") {
        const std::string word = text::trimmed(content);
        return text::parseInt(word) ? word : std::string();
    }
    const auto json = nlohmann::json::parse(content, nullptr, false);
    if (!json.is_object()) return {};
    for (const char *key : {"cls", "label", "class"}) {
        const auto found = json.find(key);
        if (found == json.end()) continue;
        if (found->is_number_integer()) return found->dump();
        if (found->is_string()) return text::trimmed(found->get<std::string>());
    }
    return {};
}

/// Which label of a key counts: the first that is there of these.
int rankOf(const std::string &extension)
{
    return extension == "cls" ? 3 : extension == "json" ? 2 : extension == "txt" ? 1 : 0;
}

class Indexer
{
public:
    explicit Indexer(ShardIndex &index) : m_index(index) { }

    Status run(TarReader &tar)
    {
        while (true) {
            auto next = tar.next();
            if (!next) return next.error();
            if (!*next) return {};
            if (auto status = take(**next, tar); !status) return status;
        }
    }

    /// What has been found, in the order of the archive; keys without an image are left.
    void finish()
    {
        for (auto &group : m_groups) {
            if (group.sample.member.empty())
                ++m_index.passedOver["label without an image"];
            else
                m_index.samples.push_back(std::move(group.sample));
        }
    }

private:
    struct Group {
        ShardSample sample;
        int rank = 0;
    };

    Status take(const TarMember &member, TarReader &tar)
    {
        const std::string base = member.baseName();
        if (!member.isFile() || base.empty()) { // old archives mark folders by nothing but a slash at the end
            if (!member.isFile() && member.type != '5') ++m_index.passedOver["link or special file"];
            return {};
        }
        const std::size_t folder = member.name.size() - base.size(), dot = base.find('.', base.starts_with('.') ? 1 : 0);
        const std::string extension = lowered(base.substr(std::min(base.rfind('.'), base.size() - 1) + 1));
        const bool image = std::ranges::find(imageExtensions, extension) != imageExtensions.end();
        const int rank = rankOf(extension);
        if (base.starts_with('.') || dot == std::string::npos || (!image && rank == 0)) {
            ++m_index.passedOver[base.starts_with('.')          ? "hidden"
                                     : dot == std::string::npos ? "without extension"
                                                                : '.' + text::printable(extension)];
            return {};
        }
        Group &group = groupOf(member.name.substr(0, folder + dot));
        if (image) {
            if (!group.sample.member.empty())
                ++m_index.passedOver["image beside the first of its key"];
            else
                group.sample.member = member.name, group.sample.offset = member.offset, group.sample.size = member.size;
            return {};
        }
        if (rank < group.rank || member.size > labelLimit) return {};
        const auto content = tar.content(labelLimit);
        if (!content) return content.error();
        auto label = labelIn(extension, *content);
        if (!label.empty()) group.sample.label = std::move(label), group.rank = rank;
        return {};
    }

    Group &groupOf(const std::string &key)
    {
        const auto [found, isNew] = m_places.emplace(key, m_groups.size());
        if (isNew) m_groups.emplace_back();
        return m_groups[found->second];
    }

    ShardIndex &m_index;
    std::vector<Group> m_groups;
    std::unordered_map<std::string, std::size_t> m_places;
};

/// "000..012" → 000, 001 … 012; "a,b" → a, b. Empty: neither.
std::vector<std::string> choices(const std::string &inside, std::size_t most)
{
    const auto dots = inside.find("..");
    if (dots == std::string::npos)
        return inside.find(',') == std::string::npos ? std::vector<std::string>() : text::split(inside, ',');
    const std::string from = inside.substr(0, dots), to = inside.substr(dots + 2);
    const auto digits = [](const std::string &s) {
        return !s.empty() && s.size() < 10 && std::ranges::all_of(s, [](unsigned char c) { return std::isdigit(c); });
    };
    if (!digits(from) || !digits(to)) return {};
    const std::int64_t first = *text::parseInt(from), last = *text::parseInt(to);
    std::vector<std::string> numbers;
    for (std::int64_t n = first; n <= last && numbers.size() <= most; ++n) {
        const std::string number = std::to_string(n);
        numbers.push_back(std::string(from.size() - std::min(from.size(), number.size()), '0') + number);
    }
    return numbers;
}

} // namespace

ShardIndex indexShard(const std::filesystem::path &file)
{
    ShardIndex index;
    auto stream = ByteStream::open(file);
    if (!stream) {
        index.problem = stream.error().what;
        return index;
    }
    if (stream->gzip()) {
        index.problem = "is packed, and images are read in place: unpack it with gunzip";
        return index;
    }
    index.size = stream->file()->size();
    index.changed = stream->file()->changed();
    TarReader tar(*stream);
    Indexer indexer(index);
    if (const auto status = indexer.run(tar); !status) index.problem = status.error().what;
    indexer.finish();
    return index;
}

Result<std::vector<std::string>> expandBraces(const std::string &pattern)
{
    constexpr std::size_t most = 1'000'000;
    std::vector<std::string> done{""};
    std::size_t at = 0;
    while (at < pattern.size()) {
        const std::size_t open = std::min(pattern.find('{', at), pattern.size());
        for (auto &name : done) name += pattern.substr(at, open - at);
        if (open == pattern.size()) break;
        const std::size_t close = pattern.find('}', open);
        const auto parts = close == std::string::npos ? std::vector<std::string>()
                                                      : choices(pattern.substr(open + 1, close - open - 1), most);
        if (parts.empty() || parts.size() > most / done.size())
            return Error{"the braces of " + text::printable(pattern) +
                             (parts.empty() ? " do not fit" : " stand for more than a million names"),
                         {},
                         "Write {000..012} or {a,b}."};
        std::vector<std::string> longer;
        for (const auto &name : done)
            for (const auto &part : parts) longer.push_back(name + part);
        done = std::move(longer);
        at = close + 1;
    }
    return done;
}

} // namespace parallax::data
