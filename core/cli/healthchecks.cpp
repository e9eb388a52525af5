// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/cli/healthchecks.h"

#include "core/base/atomicfile.h"
#include "core/base/paths.h"
#include "core/base/text.h"
#include "core/config/builtindata.h"
#include "core/session/commandserver.h"
#include "core/session/host.h"
#include "core/session/job.h"
#include "core/session/settings.h"
#include "core/session/version.h"

#include <QTcpServer>
#include <QTcpSocket>

#include <thread>

namespace parallax::cli {

namespace {

using session::Json;

constexpr int loopbackMs = 3'000;
constexpr std::uintmax_t littleSpace = std::uintmax_t(1) << 30;

std::string member(const Json &object, const char *key)
{
    const auto found = object.find(key);
    if (found == object.end() || found->is_null()) return "";
    return found->is_string() ? found->get<std::string>() : found->dump();
}

bool isTrue(const Json &object, const char *key) { return object.contains(key) && object[key] == true; }

HealthCheck broken(const std::string &name, const Error &error)
{
    const std::string text = error.where.empty() ? error.what : error.where + ": " + error.what;
    return {name, Health::Broken, text, error.hint};
}

void addEngine(std::vector<HealthCheck> &checks)
{
    const auto answer = session::runJob(session::Job::Program::Worker, {QStringLiteral("devices")});
    if (!answer) {
        checks.push_back(broken("worker", answer.error()));
        return;
    }
    checks.push_back({"worker", Health::Good, session::programPath(session::Job::Program::Worker).toStdString(), {}});
    const bool cuda = isTrue(*answer, "torch_cuda");
    checks.push_back({"torch", Health::Good, member(*answer, "torch") + (cuda ? ", with CUDA" : ", CPU only"), {}});
    checks.push_back({"opencv", Health::Good, member(*answer, "opencv"), {}});
    const bool opens = isTrue(*answer, "cuda_module");
    const Health moduleHealth = opens || !cuda ? Health::Good : Health::Warning;
    checks.push_back({"CUDA module", moduleHealth, opens ? "opens" : "not used: " + member(*answer, "cuda_error"), {}});
    const auto devices = answer->find("devices");
    std::vector<std::string> names;
    if (devices != answer->end() && devices->is_array())
        for (const Json &device : *devices)
            names.push_back(member(device, "name") + " " + member(device, "label") + " (" + member(device, "free_mb") +
                            " of " + member(device, "total_mb") + " MB free)");
    checks.push_back(
        {"GPUs", Health::Good, names.empty() ? "none visible: training runs on the CPU" : text::join(names, "; "), {}});
    const auto schema = session::loadSchema();
    if (!schema)
        checks.push_back(broken("settings", schema.error()));
    else
        checks.push_back({"settings", Health::Good, std::to_string(schema->fields().size()) + " known", {}});
}

HealthCheck checkRuns(const std::filesystem::path &runs)
{
    std::error_code error;
    std::filesystem::create_directories(runs, error);
    const auto probe = runs / (".parallax-probe-" + std::to_string(session::ownPid()));
    const Status written =
        error ? Status(systemError(error.value(), runs, "made as the folder of runs")) : writeFileAtomic(probe, "probe");
    std::filesystem::remove(probe, error);
    if (!written)
        return {"runs folder", Health::Broken, written.error().message(), "Choose another with --runs or PARALLAX_RUNS"};
    const std::uintmax_t free = paths::freeSpace(runs);
    const std::string text = runs.string() + ", " + text::bytes(free) + " free";
    return {"runs folder", free < littleSpace ? Health::Warning : Health::Good, text,
            free < littleSpace ? "Checkpoints need room" : ""};
}

/// The ranks of one machine talk over 127.0.0.1.
HealthCheck checkLoopback()
{
    QTcpServer server;
    QTcpSocket socket;
    bool connected = server.listen(QHostAddress::LocalHost);
    if (connected) {
        socket.connectToHost(server.serverAddress(), server.serverPort());
        connected = socket.waitForConnected(loopbackMs);
    }
    if (connected) return {"loopback", Health::Good, "127.0.0.1 answers", {}};
    return {"loopback", Health::Broken, "127.0.0.1 does not answer: several ranks cannot reach each other",
            "Bring it up: ip link set lo up"};
}

HealthCheck checkSocket()
{
    session::CommandServer server([](const std::string &) { return Status(); }, [] { return std::string(); });
    const Status listening = server.listen("doctor-" + std::to_string(session::ownPid()));
    if (!listening) return broken("control socket", listening.error());
    return {"control socket", Health::Good, paths::runtime().string(), {}};
}

HealthCheck checkDemoData()
{
    for (const auto &place : paths::datasetPlaces(std::string(config::fashionMnist.name))) {
        std::error_code error;
        if (std::filesystem::exists(place / "train-images-idx3-ubyte.gz", error))
            return {"demo data", Health::Good, text::printable(place.string()), {}};
    }
    return {"demo data", Health::Warning, "Fashion-MNIST is not installed: the demo needs it",
            "sudo apt-get install dataset-fashion-mnist, or parallax data get fashion-mnist"};
}

} // namespace

std::vector<HealthCheck> checkHealth(const std::filesystem::path &runs)
{
    std::vector<HealthCheck> checks;
    checks.push_back({"parallax", Health::Good, session::version() + ", Qt " + qVersion(), {}});
    addEngine(checks);
    checks.push_back({"cores", Health::Good, std::to_string(std::thread::hardware_concurrency()), {}});
    checks.push_back(checkRuns(runs));
    checks.push_back(checkLoopback());
    checks.push_back(checkSocket());
    checks.push_back(checkDemoData());
    for (const std::string &variable : paths::unknownEnvironment())
        checks.push_back({"environment", Health::Warning, variable + " means nothing here", {}});
    return checks;
}

} // namespace parallax::cli
