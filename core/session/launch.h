// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"
#include "core/config/schema.h"
#include "core/runs/runrecord.h"

#include <QString>
#include <QStringList>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace parallax::session {

/// What a person asked for.
struct LaunchRequest {
    std::vector<config::Layer> layers;    ///< preset, file, options; later ones win
    std::vector<std::string> assignments; ///< of --set
    std::filesystem::path runs;           ///< the folder of runs
    std::string name;
    std::vector<std::string> command;
};

/// A launch that can begin: nothing is on disk yet.
struct Launch {
    config::Json config; ///< resolved, paths absolute
    config::Json plan;   ///< the worker's answer
    config::Json versions;
    std::vector<std::string> devices; ///< by rank
    std::vector<std::string> warnings;
};

/// Defaults ← layers ← assignments, checked against the schema: every issue in one Error. Existing relative paths become
/// absolute, so that a resume from another folder finds them.
Result<config::Json> resolveConfig(const LaunchRequest &request);

/// Asks the worker whether data, batch and devices allow it, and for its versions.
Result<Launch> checkLaunch(const LaunchRequest &request);

/// A worker's answer to a job that reads a configuration from a file ("plan", "check", "preview").
Result<config::Json> askWorker(const QString &job, const config::Json &config, const QStringList &more = {});

/// Makes the run folder with config.json and run.json (state queued). What cannot be written leaves no folder behind.
Result<runs::RunFolder> makeRun(const LaunchRequest &request, const Launch &launch);

} // namespace parallax::session
