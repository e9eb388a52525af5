// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/runs/events.h"
#include "core/runs/runrecord.h"
#include "core/session/runreader.h"

#include <QString>

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace parallax::session {

/// What a table of runs shows of one run.
struct RunSummary {
    static constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
    static constexpr std::size_t warningsKept = 20;

    QString folder; ///< path
    runs::RunRecord record;
    QString dataset, method, backbone; ///< labels from config.json; a run's name: runname.h
    double epoch = 0;                  ///< done
    int epochs = 0;
    std::int64_t batchSize = 0; ///< global; 0: unknown
    std::int64_t step = 0, steps = 0;
    double lastKnn = unknown, bestKnn = unknown, untrainedKnn = unknown; ///< NaN: none yet; untrained is epoch 0's
    std::int64_t knnStep = -1; ///< step of the last evaluation, the untrained one's too; -1: none yet
    double loss = unknown, imagesPerSecond = unknown, secondsLeft = unknown, duration = unknown; ///< NaN: unknown
    std::vector<float> lossLine;   ///< about 60 points, for a sparkline
    std::vector<QString> warnings; ///< the newest ones of rank 0, at most `warningsKept`
    std::int64_t warningCount = 0; ///< all of them
    QString problem;               ///< unreadable run folder: why
    bool operator==(const RunSummary &) const = default;

    bool ended() const { return record.state >= runs::State::Finished; }
    runs::Json toJson() const;
    static Result<RunSummary> fromJson(const runs::Json &json);
};

/// Gives method and backbone the labels of the worker's schema ("SimCLR" for simclr), once that is known on this machine.
void relabel(RunSummary &summary);

/// Reads one run, all of it; what is not there stays NaN. Never fails: see `problem`.
RunSummary summarize(const runs::RunFolder &folder);

/// Reads the summary of one run bit by bit: in constant memory, whatever the run's length.
class Summarizer
{
public:
    explicit Summarizer(runs::RunFolder folder);
    /// Record and configuration only: what a list can show at once. Returns whether there was anything new.
    bool pollRecord();
    /// The events as well. Marks a run interrupted whose supervisor is gone. Returns whether there was anything new.
    bool poll();
    const RunSummary &summary() const { return m_summary; }

private:
    /// The loss over the whole run as at most `capacity` means over equal numbers of steps.
    class Sparkline
    {
    public:
        void add(std::int64_t step, double value);
        void cutAfter(std::int64_t step);
        std::vector<float> points() const;

    private:
        struct Bucket {
            std::int64_t step;
            double sum;
            int count;
        };
        static constexpr std::size_t capacity = 96;
        std::vector<Bucket> m_buckets;
        int m_perBucket = 1;
    };

    void readConfig();
    void readRecord();
    void forgetEvents();
    void apply(const runs::Event &event);
    void applyStart(const runs::Event &event);
    void applyMetrics(const runs::Event &event);
    void applyEval(const runs::Event &event);
    void applyLog(const runs::Event &event);
    void derive();

    runs::RunFolder m_folder;
    RunSummary m_summary;
    FileStamp m_recordStamp, m_configStamp;
    runs::EventReader m_events;
    std::vector<std::pair<std::int64_t, double>> m_knn; ///< step, accuracy; trained, of the current part
    Sparkline m_loss;
    double m_startTime = 0, m_lastTime = 0, m_earlier = 0; ///< seconds; m_earlier: active time of earlier attempts
    double m_firstTime = 0;                                ///< of the attempt's first metrics
    std::int64_t m_firstStep = -1;
};

} // namespace parallax::session
