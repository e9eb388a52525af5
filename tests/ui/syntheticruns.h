// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/runs/events.h"
#include "core/runs/runfolder.h"
#include "core/runs/runrecord.h"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <unistd.h>

/// Run folders with curves that look like training, written as a supervisor and its ranks would.
namespace parallax::test {

struct SyntheticRun {
    std::string folder = "20261130-140700-simclr-aaaa"; ///< name below the workspace
    std::string name = "simclr-fmnist";
    std::string method = "simclr", dataset = "fashion-mnist", backbone = "resnet18";
    runs::State state = runs::State::Finished;
    int epochs = 5, doneEpochs = 5, stepsPerEpoch = 40, world = 2, color = 0;
    double knnGain = 0.12, minutesAgo = 12;
    unsigned seed = 1;
    bool gpu = false;
    std::optional<runs::Failure> failure;
};

class SyntheticWriter
{
public:
    /// Writes run.json, config.json and the events of the epochs done.
    SyntheticWriter(const std::filesystem::path &workspace, SyntheticRun run)
        : m_run(std::move(run)), m_folder(workspace / m_run.folder), m_random(m_run.seed),
          m_start(now() - m_run.minutesAgo * 60)
    {
        std::filesystem::create_directories(m_folder.checkpoints());
        std::filesystem::create_directories(m_folder.embeddings());
        writeConfig();
        writeRecord(m_run.state);
        for (int rank = 0; rank < m_run.world; ++rank) m_writers.push_back(openEvents(rank));
        for (int rank = 0; rank < m_run.world; ++rank)
            event(rank, "start", 0, {{"rank", rank}, {"world", m_run.world}, {"resumed", false}});
        event(0, "plan", 0,
              {{"epochs", m_run.epochs},
               {"steps", m_run.epochs * m_run.stepsPerEpoch},
               {"steps_per_epoch", m_run.stepsPerEpoch},
               {"images", 5000},
               {"chance_loss", std::log(255.0)}});
        evaluate(0);
        for (int i = 0; i < m_run.doneEpochs; ++i) epoch();
        if (m_run.failure) fail();
    }

    const runs::RunFolder &folder() const { return m_folder; }
    int step() const { return m_step; }

    void epoch()
    {
        for (int i = 0; i < m_run.stepsPerEpoch; ++i) oneStep();
        evaluate(m_step / m_run.stepsPerEpoch);
        event(0, "checkpoint", m_step,
              {{"file", "step-" + std::to_string(m_step)}, {"bytes", 48'700'000}, {"seconds", 0.06}});
        const auto files = m_folder.checkpoint(m_step);
        for (const auto &file : {files.tensors, files.state}) std::ofstream(file) << "{}";
        log(0, "info",
            "epoch " + std::to_string(m_step / m_run.stepsPerEpoch) + " done   checkpoint step-" + std::to_string(m_step) +
                " written   48.7 MB in 61 ms");
    }

    void oneStep()
    {
        ++m_step;
        const double progress = double(m_step) / (m_run.epochs * m_run.stepsPerEpoch);
        const double loss = 2.3 + 3.2 * std::exp(-5 * progress) + 0.18 * noise() * std::exp(-progress);
        const double warmth = 1 - std::exp(-m_step / 20.0);
        event(0, "metrics", m_step,
              {{"loss", loss},
               {"lr", 0.06 * std::cos(progress * 1.5)},
               {"images_per_s", 3900 * warmth + 40 * noise()},
               {"data_wait", 0.018 + 0.004 * std::abs(noise())},
               {"step_ms", 118 + 40 * (1 - warmth) + 2 * noise()},
               {"feature_std", 0.043 + 0.043 * warmth + 0.0006 * noise()}});
        for (int rank = 1; rank < m_run.world; ++rank)
            event(rank, "metrics", m_step, {{"step_ms", 126 + 6 * rank + 44 * (1 - warmth) + 2 * noise()}});
        if (m_step % 4 == 0)
            for (int rank = 0; rank < m_run.world; ++rank) event(rank, "memory", m_step, memory(rank));
    }

    void log(int rank, const std::string &level, const std::string &text)
    {
        event(rank, "log", m_step, {{"level", level}, {"text", text}});
    }

    /// One line of any rank; the caller gives the figures.
    void event(int rank, const std::string &name, int step, runs::Json fields)
    {
        fields["step"] = step;
        fields["epoch"] = double(step) / m_run.stepsPerEpoch;
        // The clock of the run, not the one of this writer: a minute of curve takes no minute to write.
        runs::Json line{{"t", m_start + seconds(step)}, {"event", name}};
        line.update(fields);
        m_writers[std::size_t(rank)] << line.dump() << '\n' << std::flush;
    }

    void writeRecord(runs::State state)
    {
        runs::RunRecord record;
        record.id = m_folder.id();
        record.name = m_run.name;
        record.state = state;
        record.failure = m_run.failure;
        record.created = m_start;
        if (state >= runs::State::Finished) record.ended = m_start + seconds(m_run.doneEpochs * m_run.stepsPerEpoch);
        // A run that counts as alive needs a living supervisor: this process.
        record.pid = getpid();
        record.pidStart = runs::processStart(record.pid).value_or(0);
        char host[256] = {};
        gethostname(host, sizeof host - 1);
        record.host = host;
        record.world = m_run.world;
        for (int rank = 0; rank < m_run.world; ++rank)
            record.devices.push_back(m_run.gpu ? "cuda:" + std::to_string(rank) : "cpu");
        record.command = {"parallax", "train", "--preset", "demo", "--set", "train.batch_size=128"};
        record.versions = {{"parallax", "0.1.0"}, {"torch", "2.15.0"}};
        record.git = {{"commit", "a41f09c2d1"}, {"dirty", false}};
        record.color = m_run.color;
        record.attempts.push_back({m_start, 0});
        m_saved = bool(record.save(m_folder));
    }
    bool saved() const { return m_saved; }

private:
    static double now() { return double(std::time(nullptr)); }
    double noise() { return m_normal(m_random); }
    double seconds(int step) const { return 2 + step * 0.13 * 40 / m_run.stepsPerEpoch; }

    std::ofstream openEvents(int rank) const { return std::ofstream(m_folder.events(rank), std::ios::app); }

    void writeConfig() const
    {
        const runs::Json config{{"data", {{"source", m_run.dataset}}},
                                {"method", {{"name", m_run.method}}},
                                {"backbone", {{"name", m_run.backbone}}},
                                {"train", {{"epochs", m_run.epochs}, {"batch_size", 128}}},
                                {"distributed", {{"ranks", m_run.world}, {"sync_bn", true}, {"gather", true}}}};
        std::ofstream(m_folder.config()) << config.dump(1);
    }

    runs::Json memory(int rank)
    {
        runs::Json fields{{"rss_mb", 812 + 31 * rank + 60 * (1 - std::exp(-m_step / 8.0)) + 2 * noise()}};
        if (m_run.gpu)
            fields.update(runs::Json{{"allocated_mb", 5910 - 200 * rank + 10 * noise()},
                                     {"reserved_mb", 6310 - 100 * rank},
                                     {"device_used_mb", 6900},
                                     {"device_total_mb", 24'000}});
        return fields;
    }

    void evaluate(int epoch)
    {
        const double share = double(epoch) / m_run.epochs;
        event(0, "eval", m_step,
              {{"knn_top1", 0.56 + m_run.knnGain * (1 - std::exp(-3 * share)) + (epoch > 0 ? 0.004 * noise() : 0)},
               {"k", 200},
               {"temperature", 0.1},
               {"bank", 5000},
               {"queries", 2000},
               {"classes", 10},
               {"seconds", 1.2}});
    }

    void fail()
    {
        event(m_run.failure->rank < 0 ? 0 : m_run.failure->rank, "error", m_step,
              {{"what", m_run.failure->what}, {"where", m_run.failure->where}, {"hint", m_run.failure->hint}});
        log(0, "info", "ended on request, 1.8 s; state written");
    }

    SyntheticRun m_run;
    runs::RunFolder m_folder;
    std::vector<std::ofstream> m_writers;
    std::mt19937 m_random;
    std::normal_distribution<double> m_normal;
    double m_start;
    int m_step = 0;
    bool m_saved = false;
};

} // namespace parallax::test
