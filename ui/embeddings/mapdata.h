// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/embedding/project.h"
#include "core/embedding/store.h"

#include <QString>
#include <QStringList>

#include <atomic>
#include <memory>
#include <vector>

namespace parallax::embeddings {

struct ClassInfo {
    QString name;
    std::int64_t count = 0;
    int series = 0; ///< categorical colour; -1: items without a label
};

/// kNN accuracy after an epoch, for the curve above the stored epochs.
struct EpochScore {
    double epoch, knn;
};

/// One stored epoch, read and projected: handed over whole and never changed afterwards.
struct MapData {
    embedding::Store store;
    embedding::Projection map;
    embedding::Neighbours neighbours;
    std::vector<ClassInfo> classes; ///< those that occur, in the order of the labels; unlabelled items last
    std::vector<int> classOf;       ///< item → index into classes
    std::vector<EpochScore> scores; ///< ascending
    QStringList remarks;            ///< what a person should know of these vectors, in full sentences

    std::int64_t count() const { return store.meta().count; }
    /// The item's name for a screen: control characters replaced, never empty.
    QString name(std::int64_t item) const;
};

/// Reads and projects `embeddings/epoch-N` of a run. Takes up to seconds: for a thread. `cancel` set: an Error.
Result<std::shared_ptr<const MapData>> loadMap(const QString &run, int epoch, const std::atomic<bool> *cancel);

/// How the nearest neighbours vote on an item's class; most votes first.
struct Vote {
    int classIndex;
    int votes;
};
std::vector<Vote> vote(const MapData &data, const std::vector<embedding::Neighbour> &neighbours, int k);

} // namespace parallax::embeddings
