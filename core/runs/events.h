// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// events-r<rank>.jsonl: one JSON object a line, appended and never changed.
///
/// Every line: "t" (seconds since 1970), "event" (below), "step" (optimiser steps done), "epoch" (may be fractional).
///   start       rank, world, device, pid, resumed (bool)        a launch of this rank; with step > 0 a resume from there
///   plan        epochs, steps, steps_per_epoch, images, batch, batch_per_rank (of one part where accumulate, the parts a step
///               is computed in, is above 1), lr_scaled, chance_loss, bank, queries
///   metrics     any figures: loss, lr, images_per_s, data_wait (0..1), step_ms, grad_norm, feature_std, momentum …
///   memory      rss_mb; on CUDA also allocated_mb, reserved_mb, device_used_mb, device_total_mb
///   eval        with labels knn_top1, knn_top5, k, temperature, bank, queries, classes; of the features feature_spread, rankme,
///               alignment, uniformity, mean_cosine, quality_images; seconds. Epoch 0 is the untrained network
///   state       state: starting, training, evaluating, checkpointing, embedding, paused, stopping, finished
///   checkpoint  file, bytes, seconds
///   embedding   epoch, count, unreadable (images left out)
///   log         level (info, warning, error), text
///   error       what, where, hint                               the reason this rank is about to exit
/// A line without "event" counts as metrics. Not finite: the strings "NaN", "Infinity", "-Infinity"; null reads as NaN.
namespace parallax::runs {

using Json = nlohmann::ordered_json;

/// Appends whole lines with one write each. A torn last line of an earlier writer is ended first.
class EventWriter
{
public:
    static Result<EventWriter> open(const std::filesystem::path &file);
    EventWriter(EventWriter &&other) noexcept;
    EventWriter &operator=(EventWriter &&) = delete;
    ~EventWriter();

    /// Adds "t" and "event" in front of `fields`. A full disk is an Error; nothing of the line stays then. A line beyond
    /// 1 MiB, which no reader takes, is one too.
    Status write(const std::string &event, Json fields);

private:
    EventWriter(int fd, std::filesystem::path file) : m_fd(fd), m_file(std::move(file)) { }
    int m_fd = -1;
    std::filesystem::path m_file;
};

struct Event {
    double t = 0;
    std::string event;
    std::int64_t step = 0;
    double epoch = 0;
    Json fields; ///< all of the line
};

/// Reads what has been appended since the last poll. Whole lines only: a torn last line waits for its end. Lines that are
/// not JSON objects (NUL blocks, cut lines, invalid UTF-8, nesting beyond 32, over 1 MiB) are skipped and counted.
class EventReader
{
public:
    explicit EventReader(std::filesystem::path file) : m_file(std::move(file)) { }
    /// At most about `limitBytes` are read a call; call again while it returns events.
    std::vector<Event> poll(std::size_t limitBytes = std::size_t(8) << 20);
    std::int64_t skipped() const { return m_skipped; }
    /// At the last poll the file had been replaced or cut (it was shorter than what had been read): the reader started
    /// again, and what it returned before is void.
    bool restarted() const { return m_restarted; }

private:
    std::filesystem::path m_file;
    void take(std::string_view bytes, std::vector<Event> &events);
    void takeLine(std::string_view line, std::vector<Event> &events);
    std::uint64_t m_offset = 0, m_inode = 0;
    std::string m_pending;
    bool m_discarding = false, m_restarted = false;
    std::int64_t m_skipped = 0;
};

/// A figure of a line: numbers, the three strings above, null as NaN, true/false as 1/0. Nothing for other strings.
std::optional<double> figure(const Json &value);

} // namespace parallax::runs
