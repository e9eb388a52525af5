// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/runs/runfolder.h"

#include "core/base/atomicfile.h"
#include "core/base/text.h"
#include "core/runs/runrecord.h"

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <functional>
#include <optional>
#include <random>
#include <sys/stat.h>
#include <system_error>

namespace parallax::runs {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t shownRuns = 5; ///< in messages

std::string randomId()
{
    constexpr std::string_view alphabet = "abcdefghijklmnopqrstuvwxyz234567"; // base32, RFC 4648
    std::random_device random;
    std::string id;
    for (int i = 0; i < 6; ++i) id += alphabet[random() % alphabet.size()];
    return id;
}

std::string utcNow()
{
    const std::time_t now = std::time(nullptr);
    std::tm utc{};
    ::gmtime_r(&now, &utc);
    char buffer[32];
    return {buffer, std::strftime(buffer, sizeof buffer, "%Y%m%dT%H%M%SZ", &utc)};
}

/// What a method is called in a folder's name: letters, digits, _ ; the minus separates the name's parts.
std::string namePart(const std::string &method)
{
    std::string part = method.empty() ? "run" : method.substr(0, 60);
    const auto allowed = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); };
    std::ranges::replace_if(
        part, [&](char c) { return !allowed(c); }, '_');
    return part;
}

bool isRun(const fs::path &folder)
{
    std::error_code ignored;
    return fs::exists(folder / "run.json", ignored) || fs::exists(folder / "config.json", ignored);
}

/// N of "<prefix>N<suffix>", for names written by us: digits only.
std::optional<std::int64_t> numberIn(const std::string &name, std::string_view prefix, std::string_view suffix)
{
    if (name.size() <= prefix.size() + suffix.size() || !name.starts_with(prefix) || !name.ends_with(suffix)) return {};
    const std::string digits = name.substr(prefix.size(), name.size() - prefix.size() - suffix.size());
    if (digits.find_first_not_of("0123456789") != std::string::npos) return {};
    return text::parseInt(digits);
}

std::vector<std::string> namesIn(const fs::path &folder)
{
    std::vector<std::string> names;
    std::error_code ignored;
    for (fs::directory_iterator it(folder, ignored), end; it != end; it.increment(ignored))
        names.push_back(it->path().filename().string());
    return names;
}

std::string listed(const std::vector<RunFolder> &runs)
{
    std::vector<std::string> names;
    for (std::size_t i = 0; i < std::min(runs.size(), shownRuns); ++i) names.push_back(text::printable(runs[i].name()));
    if (runs.size() > shownRuns) names.push_back("… " + std::to_string(runs.size() - shownRuns) + " more");
    return text::join(names, ", ");
}

/// Runs whose name or id is the word; else those whose own name it is; else those of which it starts one of the three.
std::vector<RunFolder> matching(const std::vector<RunFolder> &all, const std::string &word)
{
    std::vector<RunFolder> exact, named, started;
    for (const RunFolder &run : all)
        if (run.name() == word || run.id() == word) exact.push_back(run);
    if (!exact.empty()) return exact;
    for (const RunFolder &run : all) {
        const auto record = RunRecord::load(run);
        const std::string own = record ? record->name : std::string();
        if (own == word) named.push_back(run);
        if (own.starts_with(word) || run.name().starts_with(word) || run.id().starts_with(word)) started.push_back(run);
    }
    return named.empty() ? started : named;
}

} // namespace

Result<RunFolder> RunFolder::create(const fs::path &runs, const std::string &method)
{
    std::error_code error;
    fs::create_directories(runs, error);
    if (error) return systemError(error.value(), runs, "made as the folder of runs");
    for (int attempt = 0; attempt < 16; ++attempt) {
        const fs::path path = runs / (utcNow() + '-' + namePart(method) + '-' + randomId());
        if (::mkdir(path.c_str(), 0755) != 0) {
            if (errno == EEXIST) continue;
            Error failure = systemError(errno, runs, "given a new run");
            failure.hint = "Choose another place with --runs or PARALLAX_RUNS";
            return failure;
        }
        for (const char *part : {"checkpoints", "embeddings"})
            if (::mkdir((path / part).c_str(), 0755) != 0) return systemError(errno, path / part, "made");
        return RunFolder(path);
    }
    return Error{"no free name for a new run", text::printable(runs.string()), "Try again"};
}

Result<RunFolder> RunFolder::find(const fs::path &runs, const std::string &word)
{
    if (!word.empty() && isRun(word)) {
        const fs::path path = fs::absolute(word).lexically_normal();
        return RunFolder(path.has_filename() ? path : path.parent_path());
    }
    const std::vector<RunFolder> all = listRuns(runs);
    const std::string where = text::printable(runs.string());
    if (all.empty()) return Error{"holds no run", where, "Start one with: parallax train"};
    if (word == "last") return all.front();
    const std::vector<RunFolder> best = word.empty() ? std::vector<RunFolder>() : matching(all, word);
    if (best.size() == 1) return best.front();
    if (best.empty())
        return Error{"holds no run \"" + text::printable(word) + '"', where, "There is: " + listed(all) + ", or: last"};
    return Error{'"' + text::printable(word) + "\" stands for " + std::to_string(best.size()) + " runs", where,
                 "Write more of the name: " + listed(best)};
}

std::string RunFolder::id() const
{
    const std::string all = name();
    return all.substr(all.rfind('-') + 1); // npos + 1 is 0
}

RunFolder::Checkpoint RunFolder::checkpoint(std::int64_t step) const
{
    const std::string stem = "step-" + std::to_string(step);
    return {step, checkpoints() / (stem + ".safetensors"), checkpoints() / (stem + ".json")};
}

std::vector<RunFolder::Checkpoint> RunFolder::listCheckpoints() const
{
    std::vector<Checkpoint> found;
    std::error_code ignored;
    for (const std::string &name : namesIn(checkpoints())) {
        const auto step = numberIn(name, "step-", ".json");
        if (!step) continue;
        const Checkpoint candidate = checkpoint(*step);
        if (candidate.state.filename() == name && fs::is_regular_file(candidate.tensors, ignored))
            found.push_back(candidate);
    }
    std::ranges::sort(found, {}, &Checkpoint::step);
    return found;
}

std::vector<int> RunFolder::listEmbeddings() const
{
    std::vector<int> epochs;
    std::error_code ignored;
    for (const std::string &name : namesIn(embeddings())) {
        const auto epoch = numberIn(name, "epoch-", "");
        if (epoch && *epoch < 1'000'000'000 && fs::exists(embeddings() / name / "meta.json", ignored))
            epochs.push_back(static_cast<int>(*epoch));
    }
    std::ranges::sort(epochs);
    return epochs;
}

RunFolder::Evaluation RunFolder::newEvaluation(const std::string &mode) const
{
    const std::string first = utcNow() + '-' + namePart(mode);
    for (int attempt = 1;; ++attempt) {
        const std::string stem = attempt == 1 ? first : first + '-' + std::to_string(attempt);
        Evaluation candidate{evaluations() / (stem + ".json"), evaluations() / (stem + ".safetensors")};
        std::error_code ignored;
        if (!fs::exists(candidate.result, ignored) && !fs::exists(candidate.weights, ignored)) return candidate;
    }
}

std::vector<RunFolder::Evaluation> RunFolder::listEvaluations() const
{
    std::vector<Evaluation> found;
    for (const std::string &name : namesIn(evaluations())) {
        const fs::path result = evaluations() / name;
        if (name.front() == '.' || result.extension() != ".json") continue;
        found.push_back({result, evaluations() / (result.stem().string() + ".safetensors")});
    }
    std::ranges::sort(found, {}, &Evaluation::result);
    return found;
}

std::vector<RunFolder> listRuns(const fs::path &runs)
{
    std::vector<std::string> names = namesIn(runs);
    std::erase_if(names, [&](const std::string &name) { return name.front() == '.' || !isRun(runs / name); });
    std::ranges::sort(names, std::greater<>());
    std::vector<RunFolder> folders;
    folders.reserve(names.size());
    for (const std::string &name : names) folders.emplace_back(runs / name);
    return folders;
}

} // namespace parallax::runs
