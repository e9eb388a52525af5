// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/train/jobs.h"

#include "core/base/atomicfile.h"
#include "core/base/paths.h"
#include "core/engine/nn/weights.h"
#include "core/engine/train/checkpoint.h"
#include "core/engine/train/failure.h"
#include "core/runs/runfolder.h"

#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>

#include <chrono>
#include <fstream>
#include <random>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

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

Json testConfig(const fs::path &images, std::int64_t steps)
{
    return {{"data", {{"source", images.string()}, {"threads", 1}}},
            {"augment", {{"size", 16}}},
            {"backbone", {{"name", "resnet18"}, {"stem", "cifar"}, {"width", 0.125}}},
            {"train", {{"epochs", 1000}, {"batch_size", 32}, {"max_steps", steps}, {"precision", "fp64"}, {"threads", 1}}},
            {"distributed", {{"device", "cpu"}, {"timeout_s", 60}}},
            {"eval", {{"every_epochs", 0}}},
            {"checkpoint", {{"every_epochs", 0}}},
            {"output", {{"embed_at_end", false}}}};
}

/// One rank of this program as a process of its own; its stdin is the read end of `commands`.
pid_t startRank(const runs::RunFolder &run, int rank, int world, int commands)
{
    const std::vector<std::string> words{"parallax-worker", "train",
                                         "--run",           run.path().string(),
                                         "--rank",          std::to_string(rank),
                                         "--world",         std::to_string(world),
                                         "--store",         (run.path() / "store").string(),
                                         "--device",        "cpu"};
    std::vector<char *> argv;
    for (const auto &word : words) argv.push_back(const_cast<char *>(word.c_str()));
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, commands, STDIN_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, run.log(rank).c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
    pid_t pid = -1;
    const int error = posix_spawn(&pid, "/proc/self/exe", &actions, nullptr, argv.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0) throw Failure({"cannot start a rank: " + std::generic_category().message(error), "selftest", {}});
    return pid;
}

/// Trains to the end; the ranks end by themselves, at the latest by distributed.timeout_s.
void trainRanks(const runs::RunFolder &run, const Json &config, int world)
{
    fs::create_directories(run.checkpoints());
    valueOrThrow(writeFileAtomic(run.config(), config.dump(1)));
    int commands[2];
    if (pipe2(commands, O_CLOEXEC) != 0) throw Failure({"cannot make a pipe", "selftest", {}});
    std::vector<pid_t> ranks;
    for (int rank = 0; rank < world; ++rank) ranks.push_back(startRank(run, rank, world, commands[0]));
    close(commands[0]);
    int failed = -1;
    for (int rank = 0; rank < world; ++rank) {
        int status = 0;
        while (waitpid(ranks[std::size_t(rank)], &status, 0) < 0 && errno == EINTR) { }
        if (status != 0 && failed < 0) failed = rank;
    }
    close(commands[1]);
    if (failed < 0) return;
    std::ifstream log(run.log(failed));
    const std::string text{std::istreambuf_iterator<char>(log), {}};
    throw Failure({"rank " + std::to_string(failed) + " of " + std::to_string(world) + " failed: " + text, "selftest", {}});
}

double largestDifference(const runs::RunFolder &one, const runs::RunFolder &two)
{
    std::vector<std::string> warnings;
    const auto a = valueOrThrow(readNewest(one, warnings)), b = valueOrThrow(readNewest(two, warnings));
    double difference = 0;
    for (const auto &[name, tensor] : valueOrThrow(nn::readTensors(a.tensors, kModelPrefix))) {
        const auto other = valueOrThrow(nn::readTensor(b.tensors, kModelPrefix + name));
        difference =
            std::max(difference, (tensor.to(torch::kFloat64) - other.to(torch::kFloat64)).abs().max().item<double>());
    }
    return difference;
}

} // namespace

Result<Json> selftest(const Arguments &arguments)
{
    const std::int64_t steps = arguments.number("--steps", 10, 1);
    const auto start = std::chrono::steady_clock::now();
    const TemporaryFolder folder;
    drawImages(folder.path() / "images");
    const Json config = testConfig(folder.path() / "images", steps);
    const runs::RunFolder one(folder.path() / "one"), two(folder.path() / "two");
    trainRanks(one, config, 1);
    trainRanks(two, config, 2);
    const double difference = largestDifference(one, two);
    return Json{{"ok", difference <= kTolerance},
                {"max_difference", difference},
                {"tolerance", kTolerance},
                {"steps", steps},
                {"seconds", std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count()}};
}

} // namespace parallax::train::jobs
