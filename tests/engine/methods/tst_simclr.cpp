// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/methods/method.h"
#include "core/engine/nn/batchnorm.h"
#include "core/engine/optim/optimiser.h"
#include "tests/support/reference.h"

#include <QTest>

#include <cmath>

using namespace parallax;

namespace {

/// The backbone of the reference traces: a convolution, batch norm, ReLU and the mean.
struct TinyBackbone : nn::BackboneImpl {
    TinyBackbone()
    {
        features = 16;
        conv = register_module("0", torch::nn::Conv2d(torch::nn::Conv2dOptions(3, 16, 3).stride(2).padding(1).bias(false)));
        norm = register_module("1", nn::BatchNorm(16));
    }
    torch::Tensor forward(const torch::Tensor &images) override
    {
        return torch::adaptive_avg_pool2d(torch::relu(norm(conv(images))), {1, 1}).flatten(1);
    }
    torch::nn::Conv2d conv = nullptr;
    nn::BatchNorm norm = nullptr;
};

std::shared_ptr<methods::Method> make(const config::Json &options, nn::Backbone backbone)
{
    return methods::Registry::find("simclr")->make({{"method", options}}, std::move(backbone));
}

std::map<std::string, torch::Tensor> byName(const torch::nn::Module &module)
{
    std::map<std::string, torch::Tensor> tensors;
    for (const auto &[name, tensor] : nn::stateDict(module)) tensors[name] = tensor;
    return tensors;
}

torch::Tensor normsOf(const std::map<std::string, torch::Tensor> &tensors, const nlohmann::json &names, bool gradients)
{
    std::vector<torch::Tensor> list;
    for (const std::string name : names) list.push_back(gradients ? tensors.at(name).grad() : tensors.at(name));
    return reference::norms(list);
}

} // namespace

class SimClr : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void eightStepsAsInTheReference_data()
    {
        QTest::addColumn<bool>("doubles");
        QTest::newRow("float32") << false;
        QTest::newRow("float64") << true;
    }
    void eightStepsAsInTheReference()
    {
        QFETCH(bool, doubles);
        const reference::Case expected("traces/simclr");
        const std::string twin = doubles ? "64." : ".";
        const auto &params = expected.params;
        const auto method = make({{"temperature", params.at("temperature").get<double>()},
                                  {"hidden_dim", params.at("hidden").get<int>()},
                                  {"projection_dim", params.at("out").get<int>()}},
                                 std::make_shared<TinyBackbone>());
        const auto loaded = nn::loadState(*method, expected.file(), "init.");
        QVERIFY2(loaded.ok(), loaded ? "" : loaded.error().message().c_str());
        const auto dtype = doubles ? torch::kFloat64 : torch::kFloat32;
        nn::convertFloats(*method, dtype);

        optim::OptimConfig config;
        config.weightDecay = 0;
        config.momentum = params.at("momentum");
        const auto optimiser = optim::makeOptimiser(config, optim::parametersOf(*method, config));
        const std::vector<torch::Tensor> views{expected.tensor("input.x0").to(dtype), expected.tensor("input.x1").to(dtype)};
        torch::Tensor losses = torch::empty({params.at("steps").get<int>()}, torch::kFloat64);
        for (int step = 0; step < losses.size(0); ++step) {
            optimiser->zeroGrad();
            const auto result = method->step(views, m_context);
            result.loss.backward();
            losses[step] = result.loss.item<double>();
            if (step == 0)
                same(expected, "output" + twin + "grad_norms_step0",
                     normsOf(byName(*method), expected.list("param_names"), true));
            optimiser->step(params.at("lr"));
        }
        same(expected, "output" + twin + "losses", losses);
        same(expected, "output" + twin + "param_norms", normsOf(byName(*method), expected.list("param_names"), false));
        if (doubles) return;
        for (const auto &[name, tensor] : byName(*method))
            if (!name.ends_with("num_batches_tracked")) same(expected, "final." + name, tensor);
        QCOMPARE(byName(*method).at("backbone.1.num_batches_tracked").item<int>(), 16);
    }

    void registersItself()
    {
        const auto *info = methods::Registry::find("simclr");
        QVERIFY(info && info->usesGather && info->wantsLargeBatch);
        QVERIFY(!methods::Registry::find("simclrr"));
        const auto &all = methods::Registry::all();
        QVERIFY(std::is_sorted(all.begin(), all.end(), [](const auto &a, const auto &b) { return a.name < b.name; }));
        config::Schema schema;
        info->declareOptions(schema);
        QStringList keys;
        for (const auto &field : schema.fields()) {
            keys << QString::fromStdString(field.key);
            QVERIFY(field.when && field.when->key == "method.name" && field.when->value == "simclr");
            QVERIFY(!field.help.empty());
        }
        QCOMPARE(keys, QStringList({"method.temperature", "method.hidden_dim", "method.projection_dim", "method.layers"}));
    }

    void theHeadIsAsWideAsTheFeaturesByDefault()
    {
        const auto tensors = byName(*make(config::Json::object(), std::make_shared<TinyBackbone>()));
        QCOMPARE(tensors.at("projection_head.layers.0.weight").sizes(), torch::IntArrayRef({16, 16}));
        QCOMPARE(tensors.at("projection_head.layers.3.weight").sizes(), torch::IntArrayRef({128, 16}));
        const auto deep = byName(*make({{"layers", 3}, {"hidden_dim", 8}}, std::make_shared<TinyBackbone>()));
        QCOMPARE(deep.at("projection_head.layers.6.weight").sizes(), torch::IntArrayRef({128, 8}));
    }

    void twoRandomViewsOfAnImage()
    {
        data::AugmentConfig augment;
        augment.size = 40;
        const auto views = make(config::Json::object(), std::make_shared<TinyBackbone>())->views(augment);
        QCOMPARE(views.size(), std::size_t(2));
        for (const auto &view : views) QVERIFY(view.random && view.augment.size == 40);
    }

    void figuresTellCollapseFromSpread()
    {
        torch::manual_seed(9);
        const auto method = make(config::Json::object(), std::make_shared<TinyBackbone>());
        const std::vector<torch::Tensor> noise{torch::randn({64, 3, 8, 8}), torch::randn({64, 3, 8, 8})};
        auto result = method->step(noise, m_context);
        QCOMPARE(result.outputDim, std::int64_t(128));
        const double ideal = 1 / std::sqrt(128.0);
        QVERIFY(std::abs(result.figures.at("feature_std") / ideal - 1) < 0.1);
        QVERIFY(std::abs(result.figures.at("negative_similarity")) < 0.1);
        result = method->step({noise[0], noise[0]}, m_context);
        QVERIFY(std::abs(result.figures.at("positive_similarity") - 1) < 1e-5);

        method->eval(); // batch norm would spread equal rows again
        const torch::Tensor black = torch::zeros({8, 3, 8, 8});
        result = method->step({black, black}, m_context);
        QVERIFY(result.figures.at("feature_std") < 1e-6);
        QVERIFY(std::abs(result.loss.item<double>() - method->chanceLoss(8)) < 1e-4);
    }

    void chanceIsThatOfTheBatch()
    {
        const auto method = make(config::Json::object(), std::make_shared<TinyBackbone>());
        QCOMPARE(method->chanceLoss(128), std::log(255.0));
    }

    void theBackboneIsWhatIsExported()
    {
        const auto backbone = std::make_shared<TinyBackbone>();
        const auto method = make(config::Json::object(), backbone);
        QVERIFY(method->backbone() == backbone);
        method->eval();
        const torch::Tensor images = torch::randn({2, 3, 8, 8});
        QVERIFY(method->features(images).equal(backbone->forward(images)));
    }

private:
    static void same(const reference::Case &expected, const std::string &name, const torch::Tensor &got)
    {
        const std::string fault = expected.differs(name, got);
        if (!fault.empty()) QTest::qFail(fault.c_str(), __FILE__, __LINE__);
    }
    const methods::Context m_context{.ranks = dist::localRanks(torch::kCPU)};
};

QTEST_GUILESS_MAIN(SimClr)
#include "tst_simclr.moc"
