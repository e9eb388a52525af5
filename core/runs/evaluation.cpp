// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/runs/evaluation.h"

#include "core/base/atomicfile.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/file.h>
#include <system_error>
#include <unistd.h>

namespace parallax::runs {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::size_t largest = std::size_t(256) << 20; ///< of a document that is read

/// Two evaluations of one run that end in the same second get two names. Held until the end of the scope.
class FolderLock
{
public:
    explicit FolderLock(const fs::path &folder) : m_fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC))
    {
        while (m_fd >= 0 && ::flock(m_fd, LOCK_EX) != 0 && errno == EINTR) { }
    }
    ~FolderLock()
    {
        if (m_fd >= 0) ::close(m_fd);
    }
    FolderLock(const FolderLock &) = delete;
    FolderLock &operator=(const FolderLock &) = delete;

private:
    int m_fd;
};

bool hasNumber(const Json &object, const char *key)
{
    return object.is_object() && object.contains(key) && object[key].is_number();
}

Result<Evaluation::Score> readScore(const Json &json, const char *key)
{
    const Json score = json.value(key, Json());
    if (!hasNumber(score, "epoch") || !hasNumber(score, "top1") || !hasNumber(score, "top5"))
        return Error{std::string("lacks epoch, top1 or top5 of ") + key, {}, {}};
    return Evaluation::Score{score["epoch"].get<std::int64_t>(), score["top1"].get<double>(), score["top5"].get<double>()};
}

Json scoreToJson(const Evaluation::Score &score)
{
    return {{"epoch", score.epoch}, {"top1", score.top1}, {"top5", score.top5}};
}

} // namespace

Json Evaluation::toJson() const
{
    return {{"file", file.string()},    {"mode", mode}, {"checkpoint_epoch", checkpointEpoch},
            {"val_images", images},     {"lr", lr},     {"best", scoreToJson(best)},
            {"last", scoreToJson(last)}};
}

Result<Evaluation> Evaluation::fromJson(const Json &json)
{
    if (!json.is_object()) return Error{"is not an evaluation", {}, {}};
    const Json mode = json.value("mode", Json()), checkpoint = json.value("checkpoint", Json()),
               data = json.value("data", Json());
    if (!mode.is_string() || !hasNumber(checkpoint, "epoch") || !hasNumber(data, "val_images") || !hasNumber(json, "lr"))
        return Error{"lacks mode, lr, checkpoint.epoch or data.val_images", {}, {}};
    const auto best = readScore(json, "best"), last = readScore(json, "last");
    if (!best) return best.error();
    if (!last) return last.error();
    Evaluation evaluation;
    evaluation.mode = mode.get<std::string>();
    evaluation.checkpointEpoch = checkpoint["epoch"].get<std::int64_t>();
    evaluation.images = data["val_images"].get<std::int64_t>();
    evaluation.lr = json["lr"].get<double>();
    evaluation.best = *best;
    evaluation.last = *last;
    return evaluation;
}

std::vector<Evaluation> readEvaluations(const RunFolder &run)
{
    std::vector<Evaluation> all;
    for (const auto &files : run.listEvaluations()) {
        const auto text = readFile(files.result, largest);
        if (!text) continue;
        auto evaluation = Evaluation::fromJson(Json::parse(*text, nullptr, false));
        if (!evaluation) continue;
        evaluation->file = files.result;
        all.push_back(std::move(evaluation).value());
    }
    return all;
}

Result<fs::path> storeEvaluation(const RunFolder &run, const std::string &mode, Json document,
                                 const std::function<Status(const fs::path &)> &writeWeights)
{
    std::error_code error;
    fs::create_directories(run.evaluations(), error);
    if (error) return systemError(error.value(), run.evaluations(), "made as the folder of evaluations");
    const FolderLock lock(run.evaluations());
    const auto files = run.newEvaluation(mode);
    if (Status status = writeWeights(files.weights); !status) return status.error();
    document["weights"]["file"] = files.weights.filename().string();
    const std::string text = document.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
    if (Status status = writeFileAtomic(files.result, text); !status) {
        fs::remove(files.weights, error);
        return status.error();
    }
    return files.result;
}

} // namespace parallax::runs
