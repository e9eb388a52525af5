// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/data/check.h"

#include "core/base/text.h"
#include "core/engine/data/parallel.h"
#include "core/engine/data/random.h"
#include "core/engine/data/source.h"

#include <algorithm>
#include <map>
#include <set>

namespace parallax::data {

namespace {

using Json = nlohmann::ordered_json;

/// What is kept of one image.
struct Finding {
    std::string name, problem; ///< problem: empty for a readable image
    int label = -1, channels = 0;
    std::pair<int, int> size;
    bool cmyk = false, multiFrame = false;
    std::uint64_t pixels = 0; ///< hash of size and pixels
};

std::uint64_t hashOf(const cv::Mat &rgb)
{
    std::uint64_t hash = mix(std::uint64_t(rgb.cols), std::uint64_t(rgb.rows));
    for (int y = 0; y < rgb.rows; ++y) {
        const std::uint8_t *row = rgb.ptr(y);
        const std::size_t bytes = std::size_t(rgb.cols) * 3;
        std::size_t i = 0;
        for (; i + 8 <= bytes; i += 8) {
            std::uint64_t word = 0;
            std::memcpy(&word, row + i, 8);
            hash = (hash ^ word) * 0x9E3779B97F4A7C15ULL;
            hash ^= hash >> 32;
        }
        hash = fnv1a(row + i, bytes - i, hash);
    }
    return hash;
}

Finding examine(const Dataset &data, std::int64_t index)
{
    Finding finding;
    const Item item = data.item(index);
    finding.name = item.name;
    finding.label = item.label;
    const auto decoded = data.inspect(index);
    if (!decoded) {
        finding.problem = decoded.error().what;
        return finding;
    }
    finding.channels = decoded->header.channels;
    finding.size = {decoded->rgb.cols, decoded->rgb.rows};
    finding.cmyk = decoded->header.cmyk;
    finding.multiFrame = decoded->header.frames > 1;
    finding.pixels = hashOf(decoded->rgb);
    return finding;
}

Json classCounts(const std::vector<Finding> &findings, const std::vector<std::string> &classes)
{
    std::vector<std::int64_t> counts(classes.size());
    for (const auto &finding : findings)
        if (finding.problem.empty() && finding.label >= 0) ++counts[std::size_t(finding.label)];
    Json list = Json::array();
    for (std::size_t i = 0; i < classes.size(); ++i) list.push_back({{"name", classes[i]}, {"count", counts[i]}});
    return list;
}

Json sizeCounts(const std::vector<Finding> &findings)
{
    std::map<std::pair<int, int>, std::int64_t> counts;
    for (const auto &finding : findings)
        if (finding.problem.empty()) ++counts[finding.size];
    std::vector<std::pair<std::pair<int, int>, std::int64_t>> sorted(counts.begin(), counts.end());
    std::ranges::stable_sort(sorted, [](const auto &a, const auto &b) { return a.second > b.second; });
    Json list = Json::array();
    for (const auto &[size, count] : sorted)
        list.push_back({{"width", size.first}, {"height", size.second}, {"count", count}});
    return list;
}

void addDuplicates(const std::vector<Finding> &findings, Json &result)
{
    struct Group {
        std::int64_t count = 0;
        std::set<int> labels;
    };
    std::map<std::uint64_t, Group> groups;
    for (const auto &finding : findings)
        if (finding.problem.empty()) {
            Group &group = groups[finding.pixels];
            ++group.count;
            group.labels.insert(finding.label);
        }
    std::int64_t all = 0, across = 0;
    for (const auto &[hash, group] : groups) {
        all += group.count - 1;
        if (group.labels.size() > 1) across += group.count - 1;
    }
    result["duplicates"] = all;
    result["duplicates_across_labels"] = across;
}

std::string remarks(const Source &source, std::int64_t multiFrame, std::int64_t cmyk)
{
    std::vector<std::string> parts;
    if (!source.train->remark().empty()) parts.push_back(source.train->remark());
    if (multiFrame > 0)
        parts.push_back("first frame only of " + std::to_string(multiFrame) + " files with several frames or pages");
    if (cmyk > 0)
        parts.push_back(
            std::to_string(cmyk) +
            " CMYK pictures, read without their colour profile; JPEG inks are taken as stored inverted, Adobe's way");
    return text::join(parts, "; ");
}

} // namespace

Result<Json> checkData(const DataConfig &config)
{
    const auto source = openSource(config.source, "data.source");
    if (!source) return source.error();
    const std::int64_t trainSize = source->train->size(), total = trainSize + (source->val ? source->val->size() : 0);
    std::vector<Finding> findings(std::size_t(total), Finding{});
    parallelFor(total, int(config.threads), [&](std::int64_t i) {
        findings[std::size_t(i)] = i < trainSize ? examine(*source->train, i) : examine(*source->val, i - trainSize);
    });

    Json channels = Json::object(), unreadable = Json::array();
    std::map<std::string, std::int64_t> channelCounts;
    std::int64_t multiFrame = 0, cmyk = 0;
    for (const auto &finding : findings) {
        if (!finding.problem.empty()) {
            unreadable.push_back({{"name", finding.name}, {"reason", finding.problem}});
            continue;
        }
        ++channelCounts[std::to_string(finding.channels)];
        multiFrame += finding.multiFrame;
        cmyk += finding.cmyk;
    }
    for (const auto &[name, count] : channelCounts) channels[name] = count;
    Json result;
    result["source"] = source->train->source();
    result["count"] = total - std::int64_t(unreadable.size());
    result["files"] = total;
    result["classes"] = classCounts(findings, source->train->classes());
    result["sizes"] = sizeCounts(findings);
    result["channels"] = channels;
    result["unreadable"] = unreadable;
    result["skipped"] = source->train->skipped();
    result["remark"] = remarks(*source, multiFrame, cmyk);
    result["multi_frame"] = multiFrame;
    result["cmyk"] = cmyk;
    addDuplicates(findings, result);
    return result;
}

} // namespace parallax::data
