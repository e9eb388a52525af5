// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/cli/checkreport.h"

#include "core/base/text.h"

#include <algorithm>
#include <functional>

namespace parallax::cli {

namespace {

constexpr std::size_t mostClasses = 20, mostSizes = 10, mostFiles = 50;

/// A part of an answer as an object; empty where it is none.
Json objectAt(const Json &answer, const char *key)
{
    const auto found = answer.find(key);
    return found != answer.end() && found->is_object() ? *found : Json::object();
}

double numberAt(const Json &object, const char *key)
{
    const auto found = object.find(key);
    return found != object.end() && found->is_number() ? found->get<double>() : 0;
}

std::string bytesAt(const Json &object, const char *key)
{
    return text::bytes(std::uint64_t(std::max(0.0, numberAt(object, key))));
}

/// Collects the lines: a head of fixed width, then what there is to say.
class Report
{
public:
    void line(std::string head, const std::string &words)
    {
        head.resize(std::max<std::size_t>(12, head.size()), ' ');
        m_text += head + words + '\n';
    }
    void indented(const std::string &words) { m_text += "  " + words + '\n'; }
    void warning(const std::string &head, const std::string &words)
    {
        m_text += toned(head, Tone::Warning) + "  " + words + '\n';
    }
    const std::string &text() const { return m_text; }

private:
    std::string m_text;
};

/// "name count" for each entry of a list of objects, at most `limit` of them.
std::string counted(const Json &answer, const char *list, const std::function<std::string(const Json &)> &name,
                    std::size_t limit)
{
    std::vector<std::string> parts;
    const auto entries = answer.find(list);
    if (entries == answer.end() || !entries->is_array()) return "–";
    for (const Json &entry : *entries) {
        if (parts.size() == limit) {
            parts.push_back("and " + std::to_string(entries->size() - limit) + " more");
            break;
        }
        if (entry.is_object()) parts.push_back(name(entry));
    }
    return parts.empty() ? "none" : text::join(parts, ", ");
}

void addImages(Report &report, const Json &answer)
{
    report.line("images", shown(answer, "count") + " in " + shown(answer, "source"));
    if (numberAt(answer, "val") > 0)
        report.line("split",
                    shown(answer, "train") + " to train on, " + shown(answer, "val") + " to evaluate on (" +
                        shown(answer, "split") + ")");
    report.line("classes",
                counted(
                    answer, "classes", [](const Json &c) { return shown(c, "name") + " (" + shown(c, "count") + ")"; },
                    mostClasses));
    if (const Json balance = objectAt(answer, "balance"); !balance.empty())
        report.line("balance", "largest class " + shown(balance, "largest") + ", smallest " + shown(balance, "smallest"));
    report.line(
        "sizes",
        counted(
            answer, "sizes",
            [](const Json &s) { return shown(s, "width") + "×" + shown(s, "height") + " (" + shown(s, "count") + ")"; },
            mostSizes));
    if (const Json small = objectAt(answer, "small"); numberAt(small, "count") > 0)
        report.line("small", shown(small, "count") + " with a side below " + shown(small, "size") + " px");
    std::vector<std::string> channels;
    const Json stored = objectAt(answer, "channels");
    for (const auto &[number, count] : stored.items()) channels.push_back(text::printable(number) + ": " + count.dump());
    if (!channels.empty()) report.line("channels", text::join(channels, ", "));
}

void addDuplicates(Report &report, const Json &answer)
{
    if (numberAt(answer, "duplicates") == 0) return;
    report.line("duplicates",
                shown(answer, "duplicates") + " (" + shown(answer, "duplicates_across_labels") + " under several labels, " +
                    shown(answer, "duplicates_across_splits") + " to evaluate on that are trained on)");
    const auto examples = answer.find("examples");
    if (examples == answer.end() || !examples->is_array()) return;
    for (const Json &pair : *examples)
        if (pair.is_object()) report.indented(shown(pair, "val") + " is " + shown(pair, "train"));
}

void addEstimate(Report &report, const Json &answer)
{
    const Json estimate = objectAt(answer, "estimate");
    if (estimate.empty()) return;
    report.line("memory", bytesAt(estimate, "decoded_bytes") + " decoded, " + bytesAt(estimate, "free_bytes") + " free");
    report.line("time",
                text::fixed(numberAt(estimate, "decode_seconds"), 1) + " s to read and decode all of them with " +
                    shown(estimate, "threads") + " threads");
}

void addUnreadable(Report &report, const Json &answer)
{
    const auto files = answer.find("unreadable");
    if (files == answer.end() || !files->is_array() || files->empty()) return;
    const std::string list = shown(answer, "quarantine");
    report.warning("unreadable",
                   std::to_string(files->size()) +
                       (list == "–" || list.empty() ? "" : "; runs do not try them again: " + list));
    for (std::size_t i = 0; i < files->size() && i < mostFiles; ++i)
        if (const Json &file = (*files)[i]; file.is_object())
            report.indented(shown(file, "name") + ": " + shown(file, "reason"));
    if (files->size() > mostFiles)
        report.indented("and " + std::to_string(files->size() - mostFiles) + " more: --json has them all");
}

} // namespace

std::string checkReport(const Json &answer)
{
    Report report;
    addImages(report, answer);
    if (numberAt(answer, "multi_frame") > 0) report.line("many frames", shown(answer, "multi_frame"));
    for (const char *key : {"cmyk", "skipped"})
        if (numberAt(answer, key) > 0) report.line(key, shown(answer, key));
    addDuplicates(report, answer);
    addEstimate(report, answer);
    if (const std::string remark = shown(answer, "remark"); remark != "–" && !remark.empty()) report.line("note", remark);
    addUnreadable(report, answer);
    if (const auto warnings = answer.find("warnings"); warnings != answer.end() && warnings->is_array())
        for (const Json &warning : *warnings)
            if (warning.is_string()) report.warning("warning", "   " + text::printable(warning.get<std::string>()));
    return report.text();
}

} // namespace parallax::cli
