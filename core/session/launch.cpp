// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/session/launch.h"

#include "core/base/atomicfile.h"
#include "core/base/text.h"
#include "core/session/host.h"
#include "core/session/job.h"
#include "core/session/qtconvert.h"
#include "core/session/settings.h"
#include "core/session/version.h"

#include <QDir>
#include <QEventLoop>
#include <QTemporaryFile>

#include <memory>

namespace parallax::session {

namespace {

constexpr int colours = 10; // of the categorical palette

/// Paths that exist, and patterns of archives, are stored whole: the run may be resumed from anywhere.
void makePathsAbsolute(const config::Schema &schema, config::Json &config)
{
    for (const config::Field *field : schema.applicable(config)) {
        if (field->hint != "path") continue;
        const config::Json *value = config::lookup(config, field->key);
        if (!value || !value->is_string()) continue;
        const auto name = value->get<std::string>();
        const std::filesystem::path path = name;
        const bool pattern = name.ends_with(".tar") && name.find_first_of("{*?[") != std::string::npos;
        std::error_code error;
        if (path.empty() || path.is_absolute() || !(pattern || std::filesystem::exists(path, error))) continue;
        config::assign(config, field->key, std::filesystem::absolute(path).lexically_normal().string());
    }
}

std::unique_ptr<QTemporaryFile> temporaryConfig(const config::Json &config)
{
    auto file = std::make_unique<QTemporaryFile>(QDir::tempPath() + QStringLiteral("/parallax-XXXXXX.json"));
    const QByteArray text = QByteArray::fromStdString(config.dump(2));
    if (!file->open() || file->write(text) != text.size() || !file->flush()) return nullptr;
    return file;
}

Error noTemporary()
{
    return {"No temporary file can be written", QDir::tempPath().toStdString(), "Make room there, or set TMPDIR"};
}

/// Two jobs at once, because each start of the worker takes a while.
struct Answers {
    Result<Json> plan{Error{}}, devices{Error{}};
};
Answers ask(const QString &configFile)
{
    Answers answers;
    QEventLoop loop;
    int open = 2;
    const auto run = [&](const QStringList &arguments, Result<Json> &into) {
        auto *job = new Job(Job::Program::Worker, arguments, &loop);
        const auto done = [&](Result<Json> result) {
            into = std::move(result);
            if (--open == 0) loop.quit();
        };
        QObject::connect(job, &Job::succeeded, &loop, [done](const Json &result) { done(result); });
        QObject::connect(job, &Job::failed, &loop, [done](const Error &error) { done(error); });
    };
    run({QStringLiteral("plan"), QStringLiteral("--config"), configFile}, answers.plan);
    run({QStringLiteral("devices")}, answers.devices);
    loop.exec();
    return answers;
}

std::vector<std::string> strings(const Json &object, const char *key)
{
    std::vector<std::string> list;
    const auto found = object.find(key);
    if (found == object.end() || !found->is_array()) return list;
    for (const Json &entry : *found)
        if (entry.is_string()) list.push_back(entry.get<std::string>());
    return list;
}

Json versionsOf(const Json &devices)
{
    Json versions{{"parallax", version()}};
    for (const char *key : {"torch", "torch_cuda", "opencv"})
        if (devices.contains(key)) versions[key] = devices[key];
    versions["qt"] = qVersion();
    return versions;
}

} // namespace

Result<config::Json> resolveConfig(const LaunchRequest &request)
{
    const auto schema = loadSchema();
    if (!schema) return schema.error();
    auto config = config::resolve(*schema, request.layers, request.assignments);
    if (config) makePathsAbsolute(*schema, *config);
    return config;
}

Result<config::Json> askWorker(const QString &job, const config::Json &config, const QStringList &more)
{
    const auto file = temporaryConfig(config);
    if (!file) return noTemporary();
    return runJob(Job::Program::Worker, QStringList{job, QStringLiteral("--config"), file->fileName()} + more, 600'000);
}

Result<Launch> checkLaunch(const LaunchRequest &request)
{
    auto config = resolveConfig(request);
    if (!config) return config.error();
    const auto file = temporaryConfig(*config);
    if (!file) return noTemporary();
    const Answers answers = ask(file->fileName());
    if (!answers.plan) return answers.plan.error();
    if (!answers.devices) return answers.devices.error();
    Launch launch;
    launch.config = std::move(config).value();
    launch.plan = *answers.plan;
    launch.versions = versionsOf(*answers.devices);
    launch.devices = strings(launch.plan, "devices");
    launch.warnings = strings(launch.plan, "warnings");
    if (launch.devices.empty()) return Error{"The worker's plan names no device", "parallax-worker plan", {}};
    return launch;
}

Result<runs::RunFolder> makeRun(const LaunchRequest &request, const Launch &launch)
{
    const config::Json *method = config::lookup(launch.config, "method.name");
    auto folder = runs::RunFolder::create(request.runs, method && method->is_string() ? method->get<std::string>() : "run");
    if (!folder) return folder;
    runs::RunRecord record;
    record.id = folder->id();
    record.name = request.name;
    record.state = runs::State::Queued;
    record.created = wallClock();
    record.host = hostName();
    record.world = int(launch.devices.size());
    record.devices = launch.devices;
    record.command = request.command;
    record.versions = launch.versions;
    record.git = gitState();
    record.color = int(runs::listRuns(request.runs).size() % colours);
    Status written = writeFileAtomic(folder->config(), launch.config.dump(2) + '\n');
    if (written) written = record.save(*folder);
    if (written) return folder;
    std::error_code ignored;
    std::filesystem::remove_all(folder->path(), ignored);
    return written.error();
}

} // namespace parallax::session
