// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/data/check.h"

#include "core/base/parallel.h"
#include "core/base/text.h"
#include "core/engine/data/duplicates.h"
#include "core/engine/data/keptdataset.h"
#include "core/engine/data/source.h"

#include <algorithm>
#include <ctime>
#include <map>

namespace parallax::data {

namespace {

using Json = nlohmann::ordered_json;

/// What is kept of one image.
struct Finding {
    std::string problem; ///< empty for a readable image
    int label = -1, channels = 0;
    std::pair<int, int> size;
    bool cmyk = false, multiFrame = false, evaluation = false;
    PixelHash pixels;
    double seconds = 0; ///< of processor time, to read and decode it
    bool readable() const { return problem.empty(); }
};

double threadSeconds()
{
    timespec time{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return double(time.tv_sec) + double(time.tv_nsec) * 1e-9;
}

Finding examine(const Dataset &data, std::int64_t index)
{
    Finding finding;
    finding.label = data.item(index).label;
    const double start = threadSeconds();
    const auto decoded = data.inspect(index);
    finding.seconds = threadSeconds() - start;
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

/// The images of a source, those to train on first, and what was found of each.
class Check
{
public:
    Check(const DataConfig &config, const CheckOptions &options, Source source)
        : m_config(config), m_options(options), m_source(std::move(source)), m_trainSize(m_source.train->size())
    {
        unifyClasses();
        const std::int64_t total = m_trainSize + (m_source.val ? m_source.val->size() : 0);
        m_findings.resize(std::size_t(total));
        parallelFor(total, int(config.threads), [&](std::int64_t i) {
            Finding &finding = m_findings[std::size_t(i)] = examine(part(i), place(i));
            if (i >= m_trainSize && finding.label >= 0) finding.label = m_valLabels[std::size_t(finding.label)];
        });
        split();
    }

    Json toJson()
    {
        count();
        Json result;
        result["source"] = m_source.train->source();
        result["count"] = m_train + m_val;
        result["files"] = m_findings.size();
        result["train"] = m_train;
        result["val"] = m_val;
        result["split"] = m_split;
        result["classes"] = classes();
        result["balance"] = balance(result["classes"]);
        result["sizes"] = sizes();
        result["small"] = {{"size", m_options.viewSize}, {"count", m_small}};
        result["channels"] = m_channels;
        result["unreadable"] = unreadable();
        result["quarantine"] = quarantine();
        result["skipped"] = m_source.train->skipped();
        result["remark"] = remarks();
        result["multi_frame"] = m_multiFrame;
        result["cmyk"] = m_cmyk;
        addDuplicates(result);
        result["estimate"] = estimate();
        result["warnings"] = warnings(result);
        return result;
    }

private:
    const Dataset &part(std::int64_t i) const { return i < m_trainSize ? *m_source.train : *m_source.val; }
    std::int64_t place(std::int64_t i) const { return i < m_trainSize ? i : i - m_trainSize; }

    /// One list of classes for both parts, so that a label means the same in either.
    void unifyClasses()
    {
        m_classes = m_source.train->classes();
        if (!m_source.val) return;
        for (const auto &name : m_source.val->classes()) {
            const auto known = std::ranges::find(m_classes, name);
            m_valLabels.push_back(int(known - m_classes.begin()));
            if (known == m_classes.end()) m_classes.push_back(name);
        }
    }

    /// Which images are evaluated on: as openData() does it.
    void split()
    {
        if (m_source.train->classes().empty()) return;
        if (m_source.val) {
            m_split = "given";
            for (std::size_t i = std::size_t(m_trainSize); i < m_findings.size(); ++i) m_findings[i].evaluation = true;
        } else if (m_config.valFraction > 0) {
            m_split = "fraction";
            for (const auto i : evaluationPart(*m_source.train, m_config.valFraction, m_options.seed))
                m_findings[std::size_t(i)].evaluation = true;
        }
    }

    void count()
    {
        std::map<std::string, std::int64_t> channels;
        for (const Finding &finding : m_findings) {
            if (!finding.readable()) continue;
            ++(finding.evaluation ? m_val : m_train);
            ++channels[std::to_string(finding.channels)];
            m_multiFrame += finding.multiFrame;
            m_cmyk += finding.cmyk;
            m_small += std::min(finding.size.first, finding.size.second) < m_options.viewSize;
        }
        for (const auto &[name, count] : channels) m_channels[name] = count;
    }

    Json classes() const
    {
        std::vector<std::int64_t> counts(m_classes.size());
        for (const Finding &finding : m_findings)
            if (finding.readable() && finding.label >= 0) ++counts[std::size_t(finding.label)];
        Json list = Json::array();
        for (std::size_t i = 0; i < counts.size(); ++i) list.push_back({{"name", m_classes[i]}, {"count", counts[i]}});
        return list;
    }

    static Json balance(const Json &classes)
    {
        std::int64_t largest = 0, smallest = 0, filled = 0;
        for (const Json &entry : classes) {
            const auto count = entry["count"].get<std::int64_t>();
            if (count == 0) continue;
            ++filled;
            largest = std::max(largest, count);
            smallest = filled == 1 ? count : std::min(smallest, count);
        }
        if (filled < 2) return nullptr;
        return {{"largest", largest}, {"smallest", smallest}, {"ratio", double(largest) / double(smallest)}};
    }

    Json sizes() const
    {
        std::map<std::pair<int, int>, std::int64_t> counts;
        for (const Finding &finding : m_findings)
            if (finding.readable()) ++counts[finding.size];
        std::vector<std::pair<std::pair<int, int>, std::int64_t>> sorted(counts.begin(), counts.end());
        std::ranges::stable_sort(sorted, [](const auto &a, const auto &b) { return a.second > b.second; });
        Json list = Json::array();
        for (const auto &[size, count] : sorted)
            list.push_back({{"width", size.first}, {"height", size.second}, {"count", count}});
        return list;
    }

    std::string nameOf(std::int64_t i) const { return part(i).item(place(i)).name; }

    Json unreadable() const
    {
        Json list = Json::array();
        for (std::size_t i = 0; i < m_findings.size(); ++i)
            if (!m_findings[i].readable())
                list.push_back({{"name", nameOf(std::int64_t(i))}, {"reason", m_findings[i].problem}});
        return list;
    }

    /// Hands the unreadable ones to the sources, which keep them for the next run.
    std::string quarantine() const
    {
        std::vector<Dataset::Unreadable> train, val;
        for (std::size_t i = 0; i < m_findings.size(); ++i)
            if (!m_findings[i].readable())
                (std::int64_t(i) < m_trainSize ? train : val).push_back({place(std::int64_t(i)), m_findings[i].problem});
        std::string file = m_source.train->setAside(train);
        if (m_source.val) {
            const std::string other = m_source.val->setAside(val);
            if (file.empty()) file = other;
        }
        return file;
    }

    std::string remarks() const
    {
        std::vector<std::string> parts;
        if (!m_source.train->remark().empty()) parts.push_back(m_source.train->remark());
        if (m_multiFrame > 0)
            parts.push_back("first frame only of " + std::to_string(m_multiFrame) + " files with several frames or pages");
        if (m_cmyk > 0)
            parts.push_back(
                std::to_string(m_cmyk) +
                " CMYK pictures, read without their colour profile; JPEG inks are taken as stored inverted, Adobe's way");
        return text::join(parts, "; ");
    }

    void addDuplicates(Json &result) const
    {
        DuplicateCount duplicates;
        for (std::size_t i = 0; i < m_findings.size(); ++i)
            if (const Finding &finding = m_findings[i]; finding.readable())
                duplicates.add(finding.pixels, std::int64_t(i), finding.label, finding.evaluation);
        const auto counted = duplicates.count();
        result["duplicates"] = counted.copies;
        result["duplicates_across_labels"] = counted.acrossLabels;
        result["duplicates_across_splits"] = counted.acrossSplits;
        Json examples = Json::array();
        for (const auto &[val, train] : counted.examples)
            examples.push_back({{"val", nameOf(val)}, {"train", nameOf(train)}});
        result["examples"] = examples;
    }

    Json estimate() const
    {
        const int cores = int(std::thread::hardware_concurrency());
        const int threads = std::max(1, m_config.threads > 0 ? int(m_config.threads) : cores);
        std::int64_t bytes = 0;
        double seconds = 0;
        for (const Finding &finding : m_findings) {
            bytes += std::int64_t(finding.size.first) * finding.size.second * 3;
            seconds += finding.seconds;
        }
        return {{"decoded_bytes", bytes},
                {"free_bytes", availableMemory()},
                {"threads", threads},
                {"decode_seconds", seconds / std::min(threads, std::max(1, cores))}};
    }

    Json warnings(const Json &result) const
    {
        Json lines = Json::array();
        const auto number = [&](const char *key) { return result[key].get<std::int64_t>(); };
        const auto warn = [&](std::int64_t count, const std::string &words) {
            if (count > 0) lines.push_back(std::to_string(count) + words);
        };
        warn(std::int64_t(result["unreadable"].size()), " files cannot be read; runs put other images in their place");
        warn(number("duplicates_across_splits"),
             " images to evaluate on are trained on as well: accuracy comes out too high");
        warn(number("duplicates_across_labels"), " images lie under more than one label");
        warn(m_small,
             " images have a side below the " + std::to_string(m_options.viewSize) +
                 " px of a view (augment.size) and are enlarged");
        constexpr double uneven = 10;
        if (!result["balance"].is_null() && result["balance"]["ratio"].get<double>() >= uneven)
            lines.push_back("the largest class has " + std::to_string(result["balance"]["largest"].get<std::int64_t>()) +
                            " images, the smallest " + std::to_string(result["balance"]["smallest"].get<std::int64_t>()));
        return lines;
    }

    const DataConfig &m_config;
    const CheckOptions &m_options;
    Source m_source;
    std::int64_t m_trainSize;
    std::vector<std::string> m_classes;
    std::vector<int> m_valLabels; ///< the place in m_classes of each class of the evaluation images
    std::vector<Finding> m_findings;
    std::string m_split = "none";
    std::int64_t m_train = 0, m_val = 0, m_multiFrame = 0, m_cmyk = 0, m_small = 0;
    Json m_channels = Json::object();
};

} // namespace

Result<Json> checkData(const DataConfig &config, const CheckOptions &options)
{
    auto source = openSource(config.source, "data.source");
    if (!source) return source.error();
    if (!config.valSource.empty()) {
        auto other = openSource(config.valSource, "data.val_source");
        if (!other) return other.error();
        source->val = other->val ? other->val : other->train;
    }
    return Check(config, options, std::move(*source)).toJson();
}

} // namespace parallax::data
