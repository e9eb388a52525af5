// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/embedding/store.h"
#include "core/runs/events.h"
#include "core/runs/runfolder.h"
#include "core/runs/runrecord.h"

#include <QImage>
#include <QPainter>
#include <QString>

#include <cmath>
#include <random>
#include <string>
#include <vector>

/// Runs with embeddings for tests of screens: clusters in a few dimensions, one a class, with a thumbnail of the class's
/// colour and shape.
namespace parallax::testing {

struct EmbeddingPlan {
    int count = 60, classes = 3, dim = 8, epoch = 1, perFile = 32;
    bool labels = true, thumbs = true;
    double spread = 0.4;
    std::vector<float> vectors;     ///< instead of the clusters; [count, dim]
    std::vector<std::string> names; ///< instead of "class 0/0.png"; [count]
};

inline QImage tilePicture(int classIndex, int item, int side)
{
    QImage image(side, side, QImage::Format_RGB32);
    image.fill(QColor::fromHsv((classIndex * 67) % 360, 90, 40 + item % 40));
    QPainter painter(&image);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(Qt::NoPen);
    painter.setBrush(QColor::fromHsv((classIndex * 67) % 360, 120, 230 - item % 60));
    const QRectF middle(side * 0.2, side * 0.2, side * 0.6, side * 0.6);
    if (classIndex % 3 == 0)
        painter.drawEllipse(middle);
    else if (classIndex % 3 == 1)
        painter.drawRect(middle);
    else
        painter.drawPolygon(QPolygonF({middle.bottomLeft(), middle.bottomRight(), QPointF(side / 2.0, side * 0.15)}));
    return image;
}

inline Status writeEmbeddings(const runs::RunFolder &run, const EmbeddingPlan &plan)
{
    std::mt19937 generator(unsigned(plan.epoch) + 5);
    std::normal_distribution<double> normal;
    embedding::Meta meta{plan.count, plan.dim, plan.epoch * 10, plan.epoch, {}, "made up", 24, 8, plan.perFile};
    if (!plan.thumbs) meta.thumbSize = meta.thumbColumns = meta.thumbsPerFile = 0;
    if (plan.labels)
        for (int c = 0; c < plan.classes; ++c) meta.classes.push_back("class " + std::to_string(c));
    std::vector<embedding::Item> items;
    std::vector<float> vectors = plan.vectors;
    for (int i = 0; i < plan.count; ++i) {
        const int c = i % plan.classes;
        const std::string name = plan.names.empty() ? "class " + std::to_string(c) + "/" + std::to_string(i) + ".png"
                                                    : plan.names[std::size_t(i)];
        items.push_back({std::uint64_t(i) + 100, name, plan.labels ? c : -1, "train"});
        if (!plan.vectors.empty()) continue;
        for (int d = 0; d < plan.dim; ++d)
            vectors.push_back(float(plan.spread * normal(generator) + 2 * std::cos(c * 2.1 + d * (1.3 + 0.2 * c))));
    }
    const auto folder = run.embeddings(plan.epoch);
    if (auto status = embedding::writeStore(folder, meta, items, vectors.data()); !status) return status;
    for (int first = 0, file = 0; plan.thumbs && first < plan.count; first += plan.perFile, ++file) {
        QImage atlas(8 * 24, (plan.perFile + 7) / 8 * 24, QImage::Format_RGB32);
        atlas.fill(Qt::black);
        QPainter painter(&atlas);
        for (int i = first; i < std::min(plan.count, first + plan.perFile); ++i)
            painter.drawImage((i - first) % 8 * 24, (i - first) / 8 * 24, tilePicture(i % plan.classes, i, 24));
        painter.end();
        const auto name = QString::fromStdString((folder / ("thumbs-" + std::to_string(file) + ".png")).string());
        if (!atlas.save(name)) return Error{"Cannot write the atlas", name.toStdString(), {}};
    }
    return {};
}

/// A finished run with a kNN curve of `epochs` epochs.
inline runs::RunFolder makeRun(const std::filesystem::path &runsFolder, const std::string &name, int epochs = 5,
                               int color = 0)
{
    auto folder = runs::RunFolder::create(runsFolder, "simclr");
    runs::RunRecord record;
    record.id = folder->id();
    record.name = name;
    record.state = runs::State::Finished;
    record.color = color;
    record.created = 1e9;
    record.ended = 1e9 + 60;
    (void)record.save(*folder);
    auto writer = runs::EventWriter::open(folder->events(0));
    for (int epoch = 0; writer && epoch <= epochs; ++epoch)
        (void)writer->write("eval",
                            {{"step", epoch * 10}, {"epoch", epoch}, {"knn_top1", 0.86 - 0.3 * std::exp(-epoch / 6.0)}});
    return *folder;
}

} // namespace parallax::testing
