// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/atomicfile.h"
#include "core/config/schema.h"
#include "core/runs/events.h"
#include "core/runs/runfolder.h"
#include "core/runs/safetensors.h"

#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>

#include <QProcess>
#include <QTest>

#include <memory>
#include <random>
#include <vector>

/// Real parallax-worker processes for tests: small runs on pictures drawn here.
namespace parallax::test {

using Json = nlohmann::ordered_json;

/// `perClass` pictures in each of `classes` folders: class c shows a bright square whose place tells the class, plus noise.
inline void drawClasses(const std::filesystem::path &folder, int classes, int perClass, int size = 16)
{
    std::mt19937 random(7);
    for (int c = 0; c < classes; ++c) {
        const auto place = folder / ("class" + std::to_string(c));
        std::filesystem::create_directories(place);
        for (int i = 0; i < perClass; ++i) {
            cv::Mat image(size, size, CV_8UC3);
            for (auto it = image.begin<cv::Vec3b>(); it != image.end<cv::Vec3b>(); ++it)
                *it = cv::Vec3b(uchar(random() % 100), uchar(random() % 100), uchar(random() % 100));
            cv::rectangle(image, cv::Rect(c % 2 * size / 2, c / 2 * size / 2, size / 2, size / 2),
                          cv::Scalar(200, 60 * c, 255 - 60 * c), cv::FILLED);
            cv::imwrite((place / (std::to_string(100 + i) + ".png")).string(), image);
        }
    }
}

/// A run small enough for a test: seconds on one core.
inline Json smallConfig(const std::filesystem::path &images)
{
    return {{"data", {{"source", images.string()}, {"threads", 1}, {"val_fraction", 0.25}}},
            {"augment", {{"size", 16}}},
            {"backbone", {{"name", "resnet18"}, {"stem", "cifar"}, {"width", 0.125}}},
            {"train", {{"epochs", 2}, {"batch_size", 16}, {"threads", 1}}},
            {"distributed", {{"device", "cpu"}, {"timeout_s", 60}}},
            {"eval", {{"knn_k", 5}, {"untrained", false}}},
            {"output", {{"embed_at_end", false}}}};
}

inline Json with(Json config, const std::vector<std::pair<std::string, Json>> &changes)
{
    for (const auto &[key, value] : changes) config::assign(config, key, value);
    return config;
}

inline QString worker() { return QStringLiteral(PARALLAX_BIN_DIR "/parallax-worker"); }

/// A run folder and the ranks that train it.
class WorkerRun
{
public:
    WorkerRun(const std::filesystem::path &folder, const Json &config) : run(folder)
    {
        std::filesystem::create_directories(run.checkpoints());
        std::filesystem::create_directories(run.embeddings());
        if (!writeFileAtomic(run.config(), config.dump(1))) qFatal("cannot write the configuration");
    }
    ~WorkerRun()
    {
        for (auto &rank : ranks) {
            rank->kill();
            rank->waitForFinished();
        }
    }

    void start(int world, const QStringList &more = {})
    {
        ranks.clear();
        const auto store = run.path() / ("store-" + std::to_string(++m_launches));
        for (int rank = 0; rank < world; ++rank) {
            auto process = std::make_unique<QProcess>();
            process->setStandardErrorFile(QString::fromStdString(run.log(rank).string()), QIODevice::Append);
            process->start(worker(),
                           QStringList{"train", "--run", QString::fromStdString(run.path().string()), "--rank",
                                       QString::number(rank), "--world", QString::number(world), "--store",
                                       QString::fromStdString(store.string()), "--device", "cpu"} +
                               more);
            ranks.push_back(std::move(process));
        }
    }
    void send(const QByteArray &word)
    {
        for (auto &rank : ranks) {
            rank->write(word + '\n');
            rank->waitForBytesWritten();
        }
    }
    /// Exit codes in rank order; -1: killed by a signal, -2: still running after two minutes.
    std::vector<int> wait()
    {
        std::vector<int> codes;
        for (auto &rank : ranks) {
            const bool ended = rank->state() == QProcess::NotRunning || rank->waitForFinished(120'000);
            codes.push_back(!ended ? -2 : rank->exitStatus() == QProcess::NormalExit ? rank->exitCode() : -1);
        }
        return codes;
    }
    std::vector<int> train(int world, const QStringList &more = {})
    {
        start(world, more);
        return wait();
    }

    std::vector<runs::Event> events(const std::string &kind, int rank = 0) const
    {
        runs::EventReader reader(run.events(rank));
        std::vector<runs::Event> found;
        for (auto batch = reader.poll(); !batch.empty(); batch = reader.poll())
            for (const auto &event : batch)
                if (event.event == kind) found.push_back(event);
        return found;
    }
    std::vector<double> losses() const
    {
        std::vector<double> values;
        for (const auto &event : events("metrics"))
            if (event.fields.contains("loss")) values.push_back(*runs::figure(event.fields["loss"]));
        return values;
    }
    /// The fields of the last event of a kind as text: for messages and substring checks.
    std::string last(const std::string &kind, int rank = 0) const
    {
        const auto all = events(kind, rank);
        return all.empty() ? std::string() : all.back().fields.dump();
    }
    std::string digest(int rank = 0) const
    {
        const auto all = events("state", rank);
        return all.empty() ? std::string() : all.back().fields.value("params_digest", std::string());
    }
    bool sawState(const std::string &state, int rank = 0) const
    {
        for (const auto &event : events("state", rank))
            if (event.fields.value("state", std::string()) == state) return true;
        return false;
    }

    runs::RunFolder run;
    std::vector<std::unique_ptr<QProcess>> ranks;

private:
    int m_launches = 0;
};

struct Answer {
    int exitCode = -1;
    Json json;
};
/// One of the worker's one-shot jobs.
inline Answer job(const QStringList &arguments, const QStringList &environment = {})
{
    QProcess process;
    QStringList all = QProcess::systemEnvironment();
    all += environment;
    process.setEnvironment(all);
    process.start(worker(), arguments);
    if (!process.waitForFinished(120'000) || process.exitStatus() != QProcess::NormalExit) return {};
    return {process.exitCode(), Json::parse(process.readAllStandardOutput().toStdString(), nullptr, false)};
}

} // namespace parallax::test
