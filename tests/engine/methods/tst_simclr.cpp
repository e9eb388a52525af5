// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/methods/method.h"
#include "core/engine/nn/batchnorm.h"
#include "core/engine/nn/weights.h"

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
    torch::Tensor compute(const torch::Tensor &images) override
    {
        return torch::adaptive_avg_pool2d(torch::relu(norm(conv(images))), {1, 1}).flatten(1);
    }
    torch::nn::Conv2d conv = nullptr;
    nn::BatchNorm norm = nullptr;
};

std::shared_ptr<methods::Method> make(const config::Json &options, const nn::Backbone &backbone)
{
    return methods::Registry::find("simclr")->make({{"method", options}}, [&backbone] { return backbone; });
}

std::map<std::string, torch::Tensor> byName(const torch::nn::Module &module)
{
    std::map<std::string, torch::Tensor> tensors;
    for (const auto &[name, tensor] : nn::stateDict(module)) tensors[name] = tensor;
    return tensors;
}

} // namespace

class SimClr : public QObject
{
    Q_OBJECT

private Q_SLOTS:
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
            QVERIFY(field.when && field.when->key == "method.name" &&
                    field.when->values == std::vector<std::string>{"simclr"});
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
    const std::shared_ptr<dist::Ranks> m_alone = dist::localRanks(torch::kCPU);
    const methods::Context m_context{.ranks = m_alone, .all = m_alone};
};

QTEST_GUILESS_MAIN(SimClr)
#include "tst_simclr.moc"
