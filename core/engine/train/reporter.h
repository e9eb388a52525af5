// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/runs/events.h"
#include "core/runs/runfolder.h"

#include <torch/torch.h>

#include <chrono>
#include <set>
#include <string>

namespace parallax::train {

/// One rank's events, each with the step and epoch it belongs to. Throws Failure where the file cannot be written: a run that
/// cannot be followed does not go on.
class Reporter
{
public:
    Reporter(const runs::RunFolder &run, int rank);

    /// Where the run is: optimiser steps done, and epochs, the running one as a fraction.
    void moveTo(std::int64_t step, double epoch);
    void write(const std::string &event, runs::Json fields = runs::Json::object());
    void state(const std::string &state) { write("state", {{"state", state}}); }
    void info(const std::string &text) { log("info", text); }
    /// A warning that was given before is not repeated.
    void warn(const std::string &text);
    void error(const Error &error);
    /// Resident set and, on CUDA, the allocator's and the device's figures; at most once a second unless `now`.
    void memory(torch::Device device, bool now = false);

private:
    void log(const std::string &level, const std::string &text) { write("log", {{"level", level}, {"text", text}}); }

    runs::EventWriter m_writer;
    std::int64_t m_step = 0;
    double m_epoch = 0;
    std::set<std::string> m_warned;
    std::chrono::steady_clock::time_point m_lastMemory{};
};

/// A figure as events spell it: numbers as they are, the rest as "NaN", "Infinity", "-Infinity".
runs::Json figureToJson(double value);

/// Resident set of this process in MB (1e6 bytes); NaN where /proc does not say.
double residentMb();

} // namespace parallax::train
