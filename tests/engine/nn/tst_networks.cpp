// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/nn/backbone.h"
#include "core/engine/nn/batchnorm.h"
#include "core/engine/nn/head.h"
#include "tests/support/reference.h"

#include <QTest>

#include <cmath>
#include <set>

using namespace parallax;

namespace {

constexpr auto f64 = torch::kFloat64;

nn::BackboneConfig configOf(const std::string &arch)
{
    nn::BackboneConfig config;
    config.name = arch.substr(0, arch.find('_'));
    if (arch.ends_with("_cifar")) config.stem = "cifar";
    return config;
}

/// By name, in the order of the reference file.
std::vector<torch::Tensor> byName(const torch::nn::Module &module, const nlohmann::json &names, bool gradients)
{
    std::map<std::string, torch::Tensor> all;
    for (const auto &[name, tensor] : nn::stateDict(module)) all[name] = tensor;
    std::vector<torch::Tensor> list;
    for (const std::string name : names) {
        const bool unused = !all.count(name); // a classifier that the reference leaves unused
        list.push_back(unused ? torch::Tensor() : gradients ? all.at(name).grad() : all.at(name));
    }
    return list;
}

template<class Module>
void resetGradients(Module &module)
{
    for (auto &param : module.parameters()) param.mutable_grad().reset();
}

/// The names and shapes that the reference has; "fc." is the classifier, which a backbone does not carry.
QString stateDictFault(const torch::nn::Module &module, const nlohmann::json &expected)
{
    std::map<std::string, std::vector<std::int64_t>> want, have;
    for (const auto &entry : expected)
        if (const std::string name = entry[0]; !name.starts_with("fc."))
            want[name] = entry[1].get<std::vector<std::int64_t>>();
    for (const auto &[name, tensor] : nn::stateDict(module)) have[name] = tensor.sizes().vec();
    for (const auto &[name, shape] : want)
        if (!have.count(name) || have[name] != shape) return "differs at " + QString::fromStdString(name);
    return want.size() == have.size() ? QString() : QString("%1 tensors instead of %2").arg(have.size()).arg(want.size());
}

nn::Head headOf(const nlohmann::json &params)
{
    const auto args = params.at("args");
    return nn::simclrProjectionHead(args.value("input_dim", 2048), args.value("hidden_dim", 2048),
                                    args.value("output_dim", 128), args.value("num_layers", 2),
                                    args.value("batch_norm", true));
}

} // namespace

class Networks : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void backbone_data() { files("backbones"); }
    void backbone()
    {
        QFETCH(QString, name);
        const reference::Case expected(name.toStdString());
        const auto net = nn::makeBackbone(configOf(expected.params.at("arch")));
        const QString fault = stateDictFault(*net, expected.list("state_dict"));
        QVERIFY2(fault.isEmpty(), qPrintable(fault));
        // Deep networks in float32 say little (their gradients are ill-conditioned) and take long.
        const bool deep = expected.params.at("arch") == "resnet34" || expected.params.at("arch") == "resnet50";
        for (const auto dtype : {torch::kFloat32, f64}) {
            if (deep && dtype != f64) continue;
            const std::string twin = dtype == f64 ? "64" : "";
            reference::fillModule(*net);
            nn::convertFloats(*net, dtype);
            for (const std::string mode : {"eval", "train"}) {
                net->train(mode == "train");
                resetGradients(*net);
                const torch::Tensor out = net->forward(expected.tensor("input.x").to(dtype)), loss = out.square().mean();
                loss.backward();
                QCOMPARE(out.size(1), net->features);
                same(expected, "output" + twin + "." + mode, out);
                same(expected, "output" + twin + ".loss_" + mode, loss);
                same(expected, "grad" + twin + ".norms_" + mode,
                     reference::norms(byName(*net, expected.list("grad_names"), true)));
            }
            same(expected, "output" + twin + ".buffer_norms_after_train",
                 reference::norms(byName(*net, expected.list("buffer_names"), false)));
        }
    }

    void simclrHead_data() { files("heads"); }
    void simclrHead()
    {
        QFETCH(QString, name);
        const reference::Case expected(name.toStdString());
        nn::Head head = headOf(expected.params);
        const QString fault = stateDictFault(*head, expected.list("state_dict"));
        QVERIFY2(fault.isEmpty(), qPrintable(fault));
        for (const auto dtype : {torch::kFloat32, f64}) {
            const std::string twin = dtype == f64 ? "64" : "";
            reference::fillModule(*head);
            nn::convertFloats(*head, dtype);
            for (const std::string mode : {"eval", "train"}) {
                head->train(mode == "train");
                resetGradients(*head);
                const torch::Tensor x = expected.tensor("input.x").to(dtype).requires_grad_();
                const torch::Tensor out = head->forward(x);
                const torch::Tensor loss = (out - expected.tensor("input.target").to(dtype)).square().mean();
                loss.backward();
                same(expected, "output" + twin + "." + mode, out);
                same(expected, "output" + twin + ".loss_" + mode, loss);
                same(expected, "grad" + twin + ".x_" + mode, x.grad());
                same(expected, "grad" + twin + ".norms_" + mode,
                     reference::norms(byName(*head, expected.list("grad_names"), true)));
            }
            if (!expected.has("output.buffer_norms_after_train")) continue;
            same(expected, "output" + twin + ".buffer_norms_after_train",
                 reference::norms(byName(*head, expected.list("buffer_names"), false)));
        }
    }

    void aHeadNeedsTwoLayers() { QVERIFY_EXCEPTION_THROWN(nn::simclrProjectionHead(4, 4, 4, 1), c10::Error); }

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

private:
    static void files(const std::string &group)
    {
        QTest::addColumn<QString>("name");
        for (const auto &name : reference::cases(group)) QTest::newRow(name.c_str()) << QString::fromStdString(name);
    }
    static void same(const reference::Case &expected, const std::string &name, const torch::Tensor &got)
    {
        const std::string fault = expected.differs(name, got);
        if (!fault.empty()) QTest::qFail(fault.c_str(), __FILE__, __LINE__);
    }
};

QTEST_GUILESS_MAIN(Networks)
#include "tst_networks.moc"
