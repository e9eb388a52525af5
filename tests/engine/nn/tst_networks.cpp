// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/nn/backbone.h"
#include "core/engine/nn/batchnorm.h"
#include "core/engine/nn/head.h"

#include <QTest>

#include <cmath>
#include <set>

using namespace parallax;

class Networks : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void widthScalesEveryLayer()
    {
        nn::BackboneConfig config{.name = "resnet18", .stem = "cifar", .width = 0.25};
        const auto narrow = nn::makeBackbone(config);
        QCOMPARE(narrow->features, std::int64_t(128));
        QCOMPARE(narrow->forward(torch::randn({2, 3, 28, 28})).size(1), std::int64_t(128));
        config.name = "resnet50";
        config.width = 0.0625;
        QCOMPARE(nn::makeBackbone(config)->features, std::int64_t(128));
    }

    void weightsFollowTheSeedAlone()
    {
        const auto make = [](std::uint64_t seed) {
            torch::manual_seed(seed);
            return nn::makeBackbone({.name = "resnet18", .width = 0.125})->parameters();
        };
        const auto one = make(1), again = make(1), other = make(2);
        bool differs = false;
        for (std::size_t i = 0; i < one.size(); ++i) {
            QVERIFY(one[i].equal(again[i]));
            differs |= !one[i].equal(other[i]);
        }
        QVERIFY(differs);
    }

    void convolutionsStartAtFanOut()
    {
        torch::manual_seed(1);
        const auto net = nn::makeBackbone({.name = "resnet34"});
        const auto weights = net->named_parameters();
        // 512 outputs of 3×3: standard deviation √(2 / (9 · 512)).
        QVERIFY(std::abs(weights["layer4.1.conv2.weight"].std().item<double>() / std::sqrt(2.0 / (9 * 512)) - 1) < 0.01);
        QVERIFY(weights["layer1.0.bn2.weight"].eq(1).all().item<bool>());
    }

    void convolutionsCanStartAsPyTorchMakesThem()
    {
        torch::manual_seed(1);
        const auto weights = nn::makeBackbone({.name = "resnet34", .init = "uniform"})->named_parameters();
        // 512 inputs of 3×3: even between ±1 / √(9 · 512).
        const torch::Tensor &weight = weights["layer4.1.conv2.weight"];
        const double bound = 1 / std::sqrt(9.0 * 512);
        QVERIFY(weight.abs().max().item<double>() <= bound);
        QVERIFY(std::abs(weight.std().item<double>() / (bound / std::sqrt(3.0)) - 1) < 0.01);
    }

    void wideNetworksWidenTheMiddleOnly()
    {
        const auto weights = nn::makeBackbone({.name = "wide_resnet50_2", .width = 0.125})->named_parameters();
        QCOMPARE(weights["layer1.0.conv2.weight"].sizes().vec(), (std::vector<std::int64_t>{16, 16, 3, 3}));
        QCOMPARE(weights["layer1.0.conv3.weight"].sizes().vec(), (std::vector<std::int64_t>{32, 16, 1, 1}));
        QCOMPARE(nn::makeBackbone({.name = "resnet101", .width = 0.0625})->features, std::int64_t(128));
    }

    void everyNetworkOfTheTableGivesItsFeatures_data()
    {
        QTest::addColumn<QString>("name");
        for (const auto &backbone : nn::backbones())
            QTest::newRow(backbone.name.c_str()) << QString::fromStdString(backbone.name);
    }
    void everyNetworkOfTheTableGivesItsFeatures()
    {
        QFETCH(QString, name);
        torch::NoGradGuard noGrad;
        nn::BackboneConfig config;
        config.name = name.toStdString();
        config.width = 0.0625; // of residual networks; the others have none
        config.imageSize = 32;
        const auto net = nn::makeBackbone(config);
        net->eval();
        const torch::Tensor features = net->forward(torch::randn({1, 3, 32, 32}));
        QCOMPARE(features.sizes().vec(), (std::vector<std::int64_t>{1, net->features}));
        QVERIFY(features.isfinite().all().item<bool>());
    }

    void blocksCanStartAsIdentity()
    {
        const auto weights =
            nn::makeBackbone({.name = "resnet50", .width = 0.0625, .zeroInitResidual = true})->named_parameters();
        QVERIFY(weights["layer1.0.bn3.weight"].eq(0).all().item<bool>());
        QVERIFY(weights["layer1.0.bn2.weight"].eq(1).all().item<bool>());
        QVERIFY(weights["layer1.0.downsample.1.weight"].eq(1).all().item<bool>());
    }

    void theTableAndTheChoicesAgree()
    {
        config::Group<nn::BackboneConfig> group("backbone");
        nn::BackboneConfig::describe(group);
        QCOMPARE(group.entries().front().field.choices.size(), nn::backbones().size());
        QVERIFY_EXCEPTION_THROWN(nn::makeBackbone({.name = "resnet19"}), std::runtime_error);
    }

    void settingsGoWithTheirFamily()
    {
        config::Schema schema;
        config::declare<nn::BackboneConfig>(schema, "backbone", "Backbone");
        const auto keys = [&](const char *name) {
            QStringList list;
            for (const auto *field : schema.applicable({{"backbone", {{"name", name}}}}))
                list << QString::fromStdString(field->name());
            return list.join(" ");
        };
        QCOMPARE(keys("wide_resnet50_2"), "name stem width init zero_init_residual drop_path");
        QCOMPARE(keys("vit_small"), "name patch_size image_size drop_path");
        QCOMPARE(keys("convnext_tiny"), "name drop_path");
    }
};

QTEST_GUILESS_MAIN(Networks)
#include "tst_networks.moc"
