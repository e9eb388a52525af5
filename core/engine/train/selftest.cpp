// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/train/jobs.h"

#include "core/base/atomicfile.h"
#include "core/base/text.h"
#include "core/engine/methods/tiny.h"
#include "core/engine/nn/weights.h"
#include "core/engine/train/checkpoint.h"
#include "core/engine/train/devices.h"
#include "core/engine/train/failure.h"
#include "core/engine/train/reporter.h"
#include "core/engine/train/spawnedranks.h"
#include "core/runs/events.h"
#include "core/runs/runfolder.h"

#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>

#include <chrono>
#include <cmath>
#include <random>

#include <unistd.h>

namespace parallax::train::jobs {
namespace {

namespace fs = std::filesystem;
constexpr double kTolerance = 1e-9; ///< in float64; float32's rounding grows a thousandfold within 20 steps

/// A folder of its own that goes with it.
class TemporaryFolder
{
public:
    TemporaryFolder()
    {
        std::string name = (fs::temp_directory_path() / "parallax-selftest-XXXXXX").string();
        if (!mkdtemp(name.data()))
            throw Failure({"cannot make a temporary folder", name, "Set TMPDIR to a writable folder"});
        m_path = name;
    }
    ~TemporaryFolder()
    {
        std::error_code ignored;
        fs::remove_all(m_path, ignored);
    }
    TemporaryFolder(const TemporaryFolder &) = delete;
    const fs::path &path() const { return m_path; }

private:
    fs::path m_path;
};

/// 64 small pictures of noise of different coarseness.
void drawImages(const fs::path &folder)
{
    fs::create_directories(folder);
    std::mt19937 random(1);
    for (int i = 0; i < 64; ++i) {
        cv::Mat coarse(2 + i % 7, 2 + i % 5, CV_8UC3), image;
        for (auto *p = coarse.datastart; p != coarse.dataend; ++p) *const_cast<uchar *>(p) = uchar(random());
        cv::resize(coarse, image, {16, 16}, 0, 0, cv::INTER_CUBIC);
        cv::imwrite((folder / (std::to_string(100 + i) + ".png")).string(), image);
    }
}

/// A run of `info` that is over in seconds: views of 16 px, the smallest network that the method takes, float64.
Json testConfig(const methods::MethodInfo &info, const fs::path &images, std::int64_t steps, double timeout)
{
    Json config = methods::tinyOptions(info);
    const Json backbone = info.masksPatches ? Json{{"name", "vit_tiny"}, {"patch_size", 8}}
                                            : Json{{"name", "resnet9"}, {"stem", "cifar"}, {"width", 0.125}};
    config::merge(
        config,
        {{"data", {{"source", images.string()}, {"threads", 1}}},
         {"augment", {{"size", 16}}},
         {"backbone", backbone},
         {"train", {{"epochs", 1000}, {"batch_size", 16}, {"max_steps", steps}, {"precision", "fp64"}, {"threads", 1}}},
         {"distributed", {{"timeout_s", timeout}}},
         {"eval", {{"every_epochs", 0}}},
         {"checkpoint", {{"every_epochs", 0}}},
         {"output", {{"embed_at_end", false}}}});
    return config;
}

/// What a finished run left behind: every loss, and the network with all that belongs to it.
struct Outcomes {
    std::vector<double> losses;
    std::map<std::string, torch::Tensor> weights;
};

Outcomes readOutcomes(const runs::RunFolder &run)
{
    Outcomes outcomes;
    runs::EventReader events(run.events(0));
    for (auto batch = events.poll(); !batch.empty(); batch = events.poll())
        for (const auto &event : batch)
            if (event.event == "metrics") outcomes.losses.push_back(runs::figure(event.fields["loss"]).value_or(NAN));
    std::vector<std::string> warnings;
    const auto checkpoint = valueOrThrow(readNewest(run, warnings));
    outcomes.weights = valueOrThrow(nn::readTensors(checkpoint.tensors, kModelPrefix));
    return outcomes;
}

Outcomes train(const fs::path &folder, const Json &config, const std::vector<std::string> &devices, double timeout)
{
    const runs::RunFolder run(folder);
    fs::create_directories(run.checkpoints());
    valueOrThrow(writeFileAtomic(run.config(), config.dump(1)));
    SpawnedRanks(run, devices, timeout).finish();
    Outcomes outcomes = readOutcomes(run);
    fs::remove_all(folder);
    return outcomes;
}

/// Relative to the larger of 1 and `want`; infinite where one of them is no number.
double difference(double got, double want)
{
    const double d = std::abs(got - want) / std::max(1.0, std::abs(want));
    return std::isnan(d) ? INFINITY : d;
}

double lossDifference(const Outcomes &got, const Outcomes &want)
{
    if (got.losses.size() != want.losses.size()) return INFINITY;
    double largest = 0;
    for (std::size_t i = 0; i < got.losses.size(); ++i)
        largest = std::max(largest, difference(got.losses[i], want.losses[i]));
    return largest;
}

/// Relative to the largest weight of each tensor, or to 1.
double weightDifference(const Outcomes &got, const Outcomes &want)
{
    if (got.weights.size() != want.weights.size()) return INFINITY;
    double largest = 0;
    for (const auto &[name, tensor] : want.weights) {
        const auto found = got.weights.find(name);
        if (found == got.weights.end() || found->second.sizes() != tensor.sizes()) return INFINITY;
        const torch::Tensor a = found->second.to(torch::kFloat64), b = tensor.to(torch::kFloat64);
        if (a.numel() == 0) continue;
        const double scale = std::max(1.0, b.abs().max().item<double>());
        largest = std::max(largest, difference((a - b).abs().max().item<double>() / scale, 0));
    }
    return largest;
}

/// "2,4"
std::vector<std::int64_t> readRanks(const std::string &list)
{
    std::vector<std::int64_t> ranks;
    for (const auto &part : text::split(list, ',')) {
        const auto number = text::parseInt(part);
        if (!number || *number < 1 || *number > 64)
            throw Failure({"--ranks takes numbers from 1 to 64 with commas between them, not " + text::printable(list),
                           "command line", "For example: --ranks 2,4"});
        ranks.push_back(*number);
    }
    return ranks;
}

struct Trial {
    std::vector<std::string> devices; ///< of all ranks there may be; empty: the CPU, as many as wanted
    std::vector<std::int64_t> ranks;
    std::vector<std::string> skipped;
};

/// Which numbers of ranks to compare with a single one on the CPU.
Trial trialOf(const Arguments &arguments)
{
    Trial trial;
    const std::string device = arguments.text("--device", "cpu");
    if (device != "cpu" && device != "cuda")
        throw Failure({"--device is cpu or cuda, not " + text::printable(device), "command line", {}});
    if (device == "cuda") {
        DistributedConfig config;
        config.device = "cuda";
        trial.devices = valueOrThrow(mapDevices(config, 1, 1, Machine::probe())).devices;
    }
    for (const std::int64_t ranks : readRanks(arguments.text("--ranks", device == "cuda" ? "1,2,4" : "2,4"))) {
        if (trial.devices.empty() || ranks <= std::int64_t(trial.devices.size()))
            trial.ranks.push_back(ranks);
        else
            trial.skipped.push_back(std::to_string(ranks) + " ranks: a CUDA device takes one, and there " +
                                    (trial.devices.size() == 1 ? "is 1" : "are " + std::to_string(trial.devices.size())));
    }
    if (trial.ranks.empty()) throw Failure({"there is nothing to compare", "--ranks", text::join(trial.skipped, "; ")});
    return trial;
}

std::vector<const methods::MethodInfo *> chosenMethods(const Arguments &arguments)
{
    std::vector<const methods::MethodInfo *> chosen;
    std::vector<std::string> names;
    const std::string wanted = arguments.text("--method");
    for (const auto &info : methods::Registry::all()) {
        names.push_back(info.name);
        if (wanted.empty() || info.name == wanted) chosen.push_back(&info);
    }
    if (!chosen.empty()) return chosen;
    const auto near = text::nearest(wanted, names);
    throw Failure({"there is no method named " + text::printable(wanted), "--method",
                   near ? "Did you mean " + *near + "?" : "There is: " + text::join(names, ", ")});
}

double secondsSince(std::chrono::steady_clock::time_point start)
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

} // namespace

Result<Json> selftest(const Arguments &arguments)
{
    const std::int64_t steps = arguments.number("--steps", 10, 1);
    const double timeout = double(arguments.number("--timeout", 60, 5));
    const Trial trial = trialOf(arguments);
    const auto chosen = chosenMethods(arguments);
    const auto start = std::chrono::steady_clock::now();
    const TemporaryFolder folder;
    drawImages(folder.path() / "images");
    Json rows = Json::array();
    bool good = true;
    for (const auto *info : chosen) {
        const Json config = testConfig(*info, folder.path() / "images", steps, timeout);
        const Outcomes want = train(folder.path() / info->name, config, {"cpu"}, timeout);
        for (const std::int64_t ranks : trial.ranks) {
            const auto begin = std::chrono::steady_clock::now();
            auto devices = trial.devices;
            devices.resize(std::size_t(ranks), "cpu");
            const Outcomes got = train(folder.path() / info->name, config, devices, timeout);
            const double loss = lossDifference(got, want), weights = weightDifference(got, want);
            const bool same = loss <= kTolerance && weights <= kTolerance;
            good = good && same;
            rows.push_back({{"method", info->name},
                            {"label", info->label},
                            {"ranks", ranks},
                            {"loss_difference", figureToJson(loss)},
                            {"weight_difference", figureToJson(weights)},
                            {"ok", same},
                            {"seconds", secondsSince(begin)}});
        }
    }
    return Json{{"ok", good},
                {"device", arguments.text("--device", "cpu")},
                {"steps", steps},
                {"tolerance", kTolerance},
                {"rows", rows},
                {"skipped", trial.skipped},
                {"seconds", secondsSince(start)}};
}

} // namespace parallax::train::jobs
