// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/embeddings/mapdata.h"

#include "core/base/text.h"
#include "core/runs/events.h"
#include "core/runs/runfolder.h"

#include <QCoreApplication>
#include <QLocale>

#include <algorithm>
#include <cmath>
#include <map>

namespace parallax::embeddings {
namespace {

struct Text {
    Q_DECLARE_TR_FUNCTIONS(parallax::embeddings::MapData)
};

void classify(MapData &data)
{
    std::map<int, std::int64_t> counts;
    for (const auto &item : data.store.items()) ++counts[item.label];
    std::map<int, int> index;
    const auto &names = data.store.meta().classes;
    for (const auto &[label, count] : counts) {
        if (label < 0) continue;
        index[label] = int(data.classes.size());
        const auto name = label < int(names.size()) ? QString::fromStdString(text::printable(names[label]))
                                                    : Text::tr("Class %1").arg(label);
        data.classes.push_back({name, count, label});
    }
    if (const auto none = counts.find(-1); none != counts.end()) {
        index[-1] = int(data.classes.size());
        data.classes.push_back({counts.size() == 1 ? Text::tr("All images") : Text::tr("No label"), none->second, -1});
    }
    for (const auto &item : data.store.items()) data.classOf.push_back(index[item.label]);
}

std::vector<EpochScore> readScores(const runs::RunFolder &run)
{
    std::vector<EpochScore> scores;
    runs::EventReader reader(run.events(0));
    for (auto events = reader.poll(); !events.empty(); events = reader.poll())
        for (const auto &event : events) {
            const auto knn = event.fields.find("knn_top1");
            if (event.event != "eval" || knn == event.fields.end()) continue;
            // A resume starts again from an earlier epoch: what it replaces is not part of the curve.
            while (!scores.empty() && scores.back().epoch >= event.epoch) scores.pop_back();
            if (const auto value = runs::figure(*knn); value && std::isfinite(*value))
                scores.push_back({event.epoch, *value});
        }
    return scores;
}

QStringList remarks(const MapData &data)
{
    QStringList lines;
    const QLocale locale;
    if (data.map.skipped > 0)
        lines << Text::tr("%1 of %2 vectors hold NaN or infinity: they are not on the map. The network's weights may have "
                          "diverged.")
                     .arg(locale.toString(qlonglong(data.map.skipped)), locale.toString(qlonglong(data.count())));
    if (data.neighbours.allEqual())
        lines << Text::tr("All vectors are equal: the network tells no two images apart (collapse).");
    else if (data.neighbours.zeroRows() > 0)
        lines << Text::tr("%1 vectors are zero: their cosine is undefined and they have no neighbours.")
                     .arg(locale.toString(qlonglong(data.neighbours.zeroRows())));
    return lines;
}

} // namespace

QString MapData::name(std::int64_t item) const
{
    const auto &path = store.items()[std::size_t(item)].path;
    return path.empty() ? Text::tr("Item %L1").arg(item) : QString::fromStdString(text::printable(path));
}

Result<std::shared_ptr<const MapData>> loadMap(const QString &run, int epoch, const std::atomic<bool> *cancel)
{
    const runs::RunFolder folder(std::filesystem::path(run.toStdString()));
    auto store = embedding::Store::open(folder.embeddings(epoch));
    if (!store) return store.error();
    auto data = std::make_shared<MapData>();
    data->store = std::move(*store);
    const auto count = data->count(), dim = data->store.meta().dim;
    auto map = embedding::pca(data->store.vectors(), count, dim, cancel);
    if (!map) return map.error();
    data->map = std::move(*map);
    auto neighbours = embedding::Neighbours::build(data->store.vectors(), count, dim, cancel);
    if (!neighbours) return neighbours.error();
    data->neighbours = std::move(*neighbours);
    classify(*data);
    data->scores = readScores(folder);
    data->remarks = remarks(*data);
    return std::shared_ptr<const MapData>(std::move(data));
}

std::vector<Vote> vote(const MapData &data, const std::vector<embedding::Neighbour> &neighbours, int k)
{
    std::map<int, int> counts;
    const auto voters = std::min<std::size_t>(neighbours.size(), std::size_t(std::max(k, 0)));
    for (std::size_t i = 0; i < voters; ++i) ++counts[data.classOf[std::size_t(neighbours[i].item)]];
    std::vector<Vote> votes;
    for (const auto &[classIndex, n] : counts) votes.push_back({classIndex, n});
    std::stable_sort(votes.begin(), votes.end(), [](const Vote &a, const Vote &b) { return a.votes > b.votes; });
    return votes;
}

} // namespace parallax::embeddings
