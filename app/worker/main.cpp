// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/base/text.h"
#include "core/engine/train/commands.h"
#include "core/engine/train/experiment.h"
#include "core/engine/train/explain.h"
#include "core/engine/train/failure.h"
#include "core/engine/train/jobs.h"
#include "core/engine/train/launchenv.h"
#include "core/engine/train/trainer.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <optional>

#include <unistd.h>

namespace {

using namespace parallax;
using namespace parallax::train;
using Json = nlohmann::ordered_json;

enum ExitCode { Finished = 0, Failed = 1, Stopped = 3 };

struct JobEntry {
    const char *name;
    std::vector<std::string> options;
    Result<Json> (*run)(const Arguments &);
};

const std::vector<JobEntry> jobTable{
    {"schema", {"--job"}, jobs::schema},
    {"methods", {}, jobs::methods},
    {"devices", {}, jobs::devices},
    {"plan", {"--config"}, jobs::plan},
    {"check", {"--config"}, jobs::check},
    {"stats", {"--config"}, jobs::stats},
    {"preview", {"--config", "--images", "--epochs", "--out"}, jobs::preview},
    {"embed", {"--run", "--epoch", "--data", "--limit", "--weights"}, jobs::embed},
    {"eval", {"--run", "--epoch", "--weights", "--data", "--val-data", "--device", "--set+"}, jobs::evaluate},
    {"export", {"--run", "--out", "--epoch", "--weights"}, jobs::exportBackbone},
    {"selftest", {"--method", "--device", "--ranks", "--steps", "--timeout"}, jobs::selftest},
};

int answer(const Result<Json> &result)
{
    const Json document = result
        ? *result
        : Json{{"error", {{"what", result.error().what}, {"where", result.error().where}, {"hint", result.error().hint}}}};
    std::cout << document.dump(-1, ' ', false, Json::error_handler_t::replace) << '\n' << std::flush;
    return result && std::cout ? Finished : Failed;
}

Launch launchOf(const Arguments &arguments)
{
    const runs::RunFolder run(arguments.required("--run"));
    if (!arguments.has("--rank")) {
        const auto experiment = valueOrThrow(Experiment::fromFile(run.config().string()));
        Launch launch =
            valueOrThrow(launchFromEnvironment(run, experiment.distributed, Machine::probe(), processEnvironment()));
        launch.resume = arguments.has("--resume");
        return launch;
    }
    Launch launch{run};
    launch.world = int(arguments.number("--world", 1, 1));
    launch.rank = int(arguments.number("--rank", 0));
    if (launch.rank >= launch.world) throw Failure({"--rank must be below --world", "command line", {}});
    launch.ranksHere = launch.world;
    if (launch.world > 1) launch.store = arguments.required("--store");
    launch.device = arguments.text("--device", "cpu");
    launch.resume = arguments.has("--resume");
    launch.commandFd = STDIN_FILENO;
    return launch;
}

/// What went wrong goes to the events, when they can be written, and to stderr. LibTorch's threads may still hang in a
/// collective that will never end: the process leaves without waiting for them.
[[noreturn]] void fail(std::optional<Reporter> &reporter, const Error &error)
{
    try {
        if (reporter) reporter->error(error);
    } catch (const std::exception &exception) {
        std::fprintf(stderr, "%s\n", text::printable(exception.what()).c_str());
    }
    std::fprintf(stderr, "%s\n", text::printable(error.message()).c_str());
    std::fflush(nullptr);
    std::_Exit(Failed);
}

/// Ctrl-C reaches every process of the terminal's group; the supervisor alone decides what it means. Its SIGTERM, and that of
/// torchrun and Slurm, asks for a checkpoint and the end.
void installSignals()
{
    std::signal(SIGINT, SIG_IGN);
    std::signal(SIGHUP, SIG_IGN);
    std::signal(SIGXFSZ, SIG_IGN); // a file-size limit shows as a failed write, which says what failed
    std::signal(SIGTERM, [](int) { Commands::requestStop(); });
}

int runTraining(const std::vector<std::string> &words)
{
    installSignals();
    std::optional<Reporter> reporter;
    int rank = -1;
    try {
        const auto arguments =
            valueOrThrow(Arguments::parse(words, {"--run", "--rank", "--world", "--store", "--device", "--resume!"}));
        const Launch launch = launchOf(arguments);
        rank = launch.rank;
        reporter.emplace(launch.run, rank);
        return train::train(launch, *reporter) == Outcome::Finished ? Finished : Stopped;
    } catch (const std::exception &exception) {
        fail(reporter, explain(exception, rank));
    }
}

int runJob(const JobEntry &job, const std::vector<std::string> &words)
{
    try {
        return answer(job.run(valueOrThrow(Arguments::parse(words, job.options))));
    } catch (const std::exception &exception) {
        return answer(explain(exception, -1));
    }
}

} // namespace

int main(int argc, char **argv)
{
    std::signal(SIGPIPE, SIG_IGN);
    const std::vector<std::string> words(argv + std::min(argc, 2), argv + argc);
    const std::string name = argc > 1 ? argv[1] : "";
    if (name == "train") return runTraining(words);
    std::vector<std::string> names{"train"};
    for (const auto &job : jobTable) {
        if (job.name == name) return runJob(job, words);
        names.push_back(job.name);
    }
    return answer(Error{name.empty() ? "no job is named" : "unknown job " + text::printable(name), "command line",
                        "Jobs: " + text::join(names, ", ")});
}
