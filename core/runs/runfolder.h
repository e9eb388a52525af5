// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace parallax::runs {

/// The one place that knows what a run's files are called.
class RunFolder
{
public:
    explicit RunFolder(std::filesystem::path path) : m_path(std::move(path)) { }

    /// Makes <runs>/<utc>-<method>-<id>/ with checkpoints/ and embeddings/. The Error of an unwritable place names it.
    static Result<RunFolder> create(const std::filesystem::path &runs, const std::string &method);
    /// A run given as a path, as a folder name, or as the start of a name, an id or the run's own name below `runs`;
    /// "last" is the newest. Unknown or ambiguous: an Error that lists what there is.
    static Result<RunFolder> find(const std::filesystem::path &runs, const std::string &word);

    const std::filesystem::path &path() const { return m_path; }
    std::string name() const { return m_path.filename().string(); }
    std::string id() const; ///< last part of the folder's name

    std::filesystem::path record() const { return m_path / "run.json"; }
    std::filesystem::path config() const { return m_path / "config.json"; }
    std::filesystem::path events(int rank) const { return m_path / ("events-r" + std::to_string(rank) + ".jsonl"); }
    std::filesystem::path log(int rank) const { return m_path / ("log-r" + std::to_string(rank) + ".txt"); }
    std::filesystem::path supervisorLog() const { return m_path / "supervisor.txt"; } ///< of one left in the background
    std::filesystem::path checkpoints() const { return m_path / "checkpoints"; }
    std::filesystem::path embeddings() const { return m_path / "embeddings"; }
    std::filesystem::path evaluations() const { return m_path / "evals"; }
    std::filesystem::path plots() const { return m_path / "plots.svg"; }
    /// Where the ranks of one launch meet. A new file for each: a killed launch leaves its own behind.
    std::filesystem::path rendezvous(std::size_t attempt) const
    {
        return m_path / (".rendezvous-" + std::to_string(attempt));
    }
    /// Some bytes kept by the supervisor, so that a full disk still takes the last run.json.
    std::filesystem::path reserve() const { return m_path / ".reserve"; }
    std::filesystem::path embeddings(int epoch) const { return embeddings() / ("epoch-" + std::to_string(epoch)); }

    struct Checkpoint {
        std::int64_t step;
        std::filesystem::path tensors, state; ///< step-N.safetensors, step-N.json
    };
    Checkpoint checkpoint(std::int64_t step) const;
    /// Those of which both files are there, oldest first.
    std::vector<Checkpoint> listCheckpoints() const;
    std::vector<int> listEmbeddings() const; ///< epochs, ascending; unfinished ones are not among them

    struct Evaluation {
        std::filesystem::path result, weights; ///< <utc>-<mode>.json, .safetensors
    };
    /// Names that no evaluation has yet, in the existing folder evaluations().
    Evaluation newEvaluation(const std::string &mode) const;
    std::vector<Evaluation> listEvaluations() const; ///< those with a result, oldest first

private:
    std::filesystem::path m_path;
};

/// Folders below `runs` that hold a run.json or a config.json, newest first by name.
std::vector<RunFolder> listRuns(const std::filesystem::path &runs);

} // namespace parallax::runs
