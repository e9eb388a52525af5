// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/config/schema.h"
#include "core/engine/nn/backbone.h"
#include "core/engine/nn/weights.h"

#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <filesystem>

using namespace parallax;

/// Names and shapes of torchvision's networks, as its state_dict() lists them (0.29.2), against what Parallax exports: such a
/// file loads there with strict=True, and theirs loads here.
class Torchvision : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void exportsHaveItsNamesAndShapes_data() { everyList(); }
    void exportsHaveItsNamesAndShapes()
    {
        QFETCH(QString, list);
        QFETCH(QString, name);
        const auto net = make(name);
        auto theirs = read(list);
        const auto isClassifier = [&](const std::string &entry) {
            return std::ranges::any_of(net->classifier(), [&](const auto &prefix) { return entry.starts_with(prefix); });
        };
        int classifiers = 0;
        for (const auto &entry : theirs.items()) classifiers += isClassifier(entry.key());
        QCOMPARE(classifiers, 2); // weight and bias of one layer
        const auto ours = nn::stateDict(*net);
        QCOMPARE(std::int64_t(ours.size()), std::int64_t(theirs.size()) - classifiers);
        for (const auto &[key, tensor] : ours) {
            QVERIFY2(theirs.contains(key) && !isClassifier(key), key.c_str());
            QVERIFY2(theirs[key].get<std::vector<std::int64_t>>() == tensor.sizes().vec(), key.c_str());
            QCOMPARE(tensor.scalar_type(), key.ends_with("num_batches_tracked") ? torch::kInt64 : torch::kFloat32);
        }
    }

    void itsFilesLoad_data() { everyList(); }
    void itsFilesLoad()
    {
        QFETCH(QString, list);
        QFETCH(QString, name);
        const auto net = make(name);
        nn::NamedTensors tensors;
        double value = 0;
        const auto theirs = read(list);
        for (const auto &entry : theirs.items()) {
            const auto shape = entry.value().get<std::vector<std::int64_t>>();
            const bool counter = entry.key().ends_with("num_batches_tracked");
            // A value each; a single number in memory, whatever the shape.
            tensors.emplace_back(entry.key(),
                                 torch::full({}, ++value, counter ? torch::kInt64 : torch::kFloat32).expand(shape));
        }
        QTemporaryDir folder;
        const auto file = std::filesystem::path(folder.path().toStdString()) / "theirs.safetensors";
        QVERIFY(nn::saveTensors(file, tensors).ok());
        const auto opened = runs::SafetensorsFile::open(file);
        QVERIFY(opened.ok());
        const auto report = nn::loadBackbone(*net, *opened);
        QVERIFY2(report, report ? "" : report.error().message().c_str());
        QVERIFY2(report->warnings.size() == 1, "the classifier alone is left out");
        const auto ours = nn::stateDict(*net);
        for (std::size_t i = 0; i < tensors.size(); ++i)
            for (const auto &[key, tensor] : ours)
                if (key == tensors[i].first) QVERIFY2(tensor.eq(double(i + 1)).all().item<bool>(), key.c_str());
    }

private:
    static std::filesystem::path folder() { return PARALLAX_SOURCE_DIR "/tests/data/torchvision"; }
    static config::Json read(const QString &list)
    {
        const auto json = config::readFile((folder() / (list.toStdString() + ".json")).string());
        if (!json) qFatal("%s", json.error().message().c_str());
        return *json;
    }
    static nn::Backbone make(const QString &name)
    {
        const torch::NoGradGuard noGrad;
        return nn::makeBackbone({.name = name.toStdString(), .imageSize = 224});
    }
    static void everyList()
    {
        QTest::addColumn<QString>("list");
        QTest::addColumn<QString>("name");
        for (const auto &entry : std::filesystem::directory_iterator(folder())) {
            const std::string list = entry.path().stem().string();
            const std::string name = list == "vit_b_16" ? "vit_base" : list;
            QTest::newRow(list.c_str()) << QString::fromStdString(list) << QString::fromStdString(name);
        }
    }
};

QTEST_GUILESS_MAIN(Torchvision)
#include "tst_torchvision.moc"
