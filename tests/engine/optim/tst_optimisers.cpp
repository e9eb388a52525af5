// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/nn/ema.h"
#include "core/engine/nn/vit.h"
#include "core/engine/optim/lars.h"

#include <QTest>

using namespace parallax;

namespace {

torch::nn::Sequential makeNet()
{
    torch::manual_seed(6);
    torch::nn::Sequential net(torch::nn::Linear(4, 8), torch::nn::BatchNorm1d(8), torch::nn::ReLU(),
                              torch::nn::Linear(8, 2));
    nn::convertFloats(*net, torch::kFloat64);
    return net;
}

void backward(torch::nn::Sequential &net, int step)
{
    torch::manual_seed(std::uint64_t(step));
    net->forward(torch::randn({6, 4}, torch::kFloat64)).square().sum().backward();
}

double difference(torch::nn::Sequential &a, torch::nn::Sequential &b)
{
    const auto x = a->parameters(), y = b->parameters();
    double worst = 0;
    for (std::size_t i = 0; i < x.size(); ++i) worst = std::max(worst, (x[i] - y[i]).abs().max().item<double>());
    return worst;
}

optim::OptimConfig named(const char *name)
{
    optim::OptimConfig config;
    config.name = name;
    config.weightDecay = 0.02;
    return config;
}

std::unique_ptr<optim::Optimiser> optimiserOf(torch::nn::Sequential &net, const optim::OptimConfig &config)
{
    return optim::makeOptimiser(config, optim::parametersOf(*net, config));
}

/// A parameter with this gradient.
optim::Parameter parameterOf(const torch::Tensor &value, const torch::Tensor &gradient, double decay)
{
    torch::Tensor tensor = value.clone().requires_grad_();
    tensor.mutable_grad() = gradient.clone();
    return {"p", tensor, decay};
}

} // namespace

class Optimisers : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void adamIsTorchs_data()
    {
        QTest::addColumn<bool>("decoupled");
        QTest::addColumn<double>("decay");
        for (const double decay : {0.0, 0.05}) {
            QTest::addRow("adam %g", decay) << false << decay;
            QTest::addRow("adamw %g", decay) << true << decay;
        }
    }
    void adamIsTorchs()
    {
        QFETCH(bool, decoupled);
        QFETCH(double, decay);
        auto ours = makeNet(), theirs = makeNet();
        optim::OptimConfig config = named(decoupled ? "adamw" : "adam");
        config.weightDecay = decay;
        config.beta1 = 0.8;
        config.beta2 = 0.95;
        config.eps = 1e-6;
        const auto optimiser = optimiserOf(ours, config);
        std::unique_ptr<torch::optim::Optimizer> expected;
        if (decoupled)
            expected = std::make_unique<torch::optim::AdamW>(
                theirs->parameters(), torch::optim::AdamWOptions(0.1).betas({0.8, 0.95}).eps(1e-6).weight_decay(decay));
        else
            expected = std::make_unique<torch::optim::Adam>(
                theirs->parameters(), torch::optim::AdamOptions(0.1).betas({0.8, 0.95}).eps(1e-6).weight_decay(decay));
        for (int step = 0; step < 6; ++step) {
            optimiser->zeroGrad();
            expected->zero_grad();
            backward(ours, step);
            backward(theirs, step);
            const double rate = 0.1 / (step + 1);
            expected->param_groups()[0].options().set_lr(rate);
            optimiser->step(rate);
            expected->step();
            QVERIFY2(difference(ours, theirs) < 1e-13, qPrintable(QString::number(difference(ours, theirs))));
        }
    }

    void aSavedStateContinuesBitForBit_data()
    {
        QTest::addColumn<QByteArray>("name");
        for (const char *name : {"sgd", "adam", "adamw", "lars"}) QTest::newRow(name) << QByteArray(name);
    }
    void aSavedStateContinuesBitForBit()
    {
        QFETCH(QByteArray, name);
        const auto config = named(name);
        auto whole = makeNet(), resumed = makeNet();
        const auto first = optimiserOf(whole, config);
        for (int step = 0; step < 3; ++step) {
            first->zeroGrad();
            backward(whole, step);
            first->step(0.05);
        }
        nn::updateMomentum(*whole, *resumed, 0);
        const auto second = optimiserOf(resumed, config);
        QVERIFY(second->state().empty());
        const Status loaded = second->loadState(first->state());
        QVERIFY2(loaded.ok(), loaded ? "" : loaded.error().message().c_str());
        for (int step = 3; step < 5; ++step)
            for (auto *optimiser : {first.get(), second.get()}) {
                auto &net = optimiser == first.get() ? whole : resumed;
                optimiser->zeroGrad();
                backward(net, step);
                optimiser->step(0.05);
            }
        QCOMPARE(difference(whole, resumed), 0.0);
        const auto one = first->state(), other = second->state();
        QCOMPARE(one.size(), other.size());
        for (const auto &[key, tensor] : one) QVERIFY2(tensor.equal(other.at(key)), key.c_str());
    }

    void aPartOfAStateIsRefused()
    {
        auto net = makeNet();
        const auto optimiser = optimiserOf(net, named("adam"));
        backward(net, 0);
        optimiser->step(0.1);
        auto state = optimiser->state();
        QCOMPARE(state.size(), 3 * net->parameters().size());
        for (auto &[key, tensor] : state) tensor = tensor.clone();
        auto part = state;
        part.erase("0.weight.step");
        const auto missing = optimiser->loadState(part);
        QVERIFY(!missing);
        QCOMPARE(missing.error().what,
                 std::string("The saved optimiser state holds a part only of what belongs to 0.weight"));
        QVERIFY(!optimiserOf(net, named("sgd"))->loadState(state));
        QVERIFY(optimiser->state().at("0.weight.exp_avg").equal(state.at("0.weight.exp_avg")));
    }

    /// A parameter that gets its first gradient late starts its own count.
    void adamCountsByParameter()
    {
        torch::Tensor late = torch::ones({1}, torch::kFloat64).requires_grad_(),
                      early = late.detach().clone().requires_grad_();
        auto config = named("adam");
        const auto optimiser = optim::makeOptimiser(config, {{"late", late}, {"early", early}});
        for (int step = 0; step < 3; ++step) {
            early.mutable_grad() = torch::ones_like(early);
            if (step == 2) late.mutable_grad() = torch::ones_like(late);
            optimiser->step(0.1);
        }
        QCOMPARE(optimiser->state().at("late.step").item<std::int64_t>(), std::int64_t(1));
        QCOMPARE(optimiser->state().at("early.step").item<std::int64_t>(), std::int64_t(3));
        QVERIFY(std::abs(late.item<double>() - 0.9) < 1e-7); // the first update has the length of the rate
    }

    void larsWithZeros()
    {
        const torch::Tensor zero = torch::zeros({3}, torch::kFloat64), one = torch::ones({3}, torch::kFloat64);
        const auto after = [](const torch::Tensor &value, const torch::Tensor &gradient) {
            auto parameter = parameterOf(value, gradient, 0.1);
            optim::Lars lars({parameter}, {});
            for (int step = 0; step < 3; ++step) lars.step(0.5);
            return parameter.tensor.detach();
        };
        QVERIFY(after(zero, zero).equal(zero));
        QVERIFY(after(one, zero).equal(one)); // as in lightly: no decay without a gradient
        const torch::Tensor moved = after(zero, one);
        QVERIFY(moved.isfinite().all().item<bool>());
        QVERIFY(moved.lt(-0.5).all().item<bool>()); // the first step is a plain one
    }

    void larsLeavesBiasesAndNormsOut()
    {
        auto net = makeNet();
        optim::OptimConfig config = named("lars");
        QStringList decayed;
        for (const auto &parameter : optim::parametersOf(*net, config))
            if (parameter.weightDecay > 0) decayed << QString::fromStdString(parameter.name);
        QCOMPARE(decayed, QStringList({"0.weight", "3.weight"}));
        config.excludeBiasNormLars = false;
        for (const auto &parameter : optim::parametersOf(*net, config)) QCOMPARE(parameter.weightDecay, 0.02);

        // What is left out takes the step of plain SGD.
        config.excludeBiasNormLars = true;
        config.momentum = 0;
        const auto before = net->named_parameters()["0.bias"].detach().clone();
        const auto optimiser = optimiserOf(net, config);
        backward(net, 0);
        optimiser->step(0.1);
        const auto named = net->named_parameters();
        QVERIFY(named["0.bias"].detach().allclose(before - 0.1 * named["0.bias"].grad(), 1e-14, 1e-15));
    }

    void theLayersLengthSetsItsRate()
    {
        torch::manual_seed(1);
        const torch::Tensor value = torch::randn({4, 4}, torch::kFloat64), gradient = torch::randn({4, 4}, torch::kFloat64);
        auto parameter = parameterOf(value, gradient * 1000, 1e-6);
        optim::LarsOptions options;
        options.momentum = 0;
        optim::Lars({parameter}, options).step(1);
        const double length = (parameter.tensor - value).norm().item<double>() / value.norm().item<double>();
        QVERIFY(std::abs(length / options.trustCoefficient - 1) < 1e-6); // whatever the gradient's length
    }

    void larsNeedsMomentumForNesterov()
    {
        optim::OptimConfig config = named("lars");
        config.momentum = 0;
        config.nesterov = true;
        QVERIFY_EXCEPTION_THROWN(optim::makeOptimiser(config, {}), std::runtime_error);
    }

    /// Biases and norms do not decay; class token and positions do.
    void decayInATransformer()
    {
        const auto net = std::make_shared<nn::VitImpl>(nn::VitOptions{16, 4, 1, 2, 8, 16});
        optim::OptimConfig config = named("adamw");
        config.excludeBiasNormWd = true;
        QStringList without;
        for (const auto &parameter : optim::parametersOf(*net, config))
            if (!parameter.decays) without << QString::fromStdString(parameter.name);
        const QString layer = "encoder.layers.encoder_layer_0.";
        QCOMPARE(
            without,
            QStringList({"conv_proj.bias", layer + "ln_1.weight", layer + "ln_1.bias", layer + "self_attention.in_proj_bias",
                         layer + "self_attention.out_proj.bias", layer + "ln_2.weight", layer + "ln_2.bias",
                         layer + "mlp.0.bias", layer + "mlp.3.bias", "encoder.ln.weight", "encoder.ln.bias"}));
        const auto optimiser = optim::makeOptimiser(config, optim::parametersOf(*net, config));
        optimiser->setWeightDecay(0.3);
        for (const auto &parameter : optimiser->parameters()) QCOMPARE(parameter.weightDecay, parameter.decays ? 0.3 : 0.0);
    }

    void theAverageStartsAsACopy()
    {
        auto model = makeNet(), average = makeNet();
        {
            torch::NoGradGuard noGrad;
            for (auto &parameter : average->parameters()) parameter.add_(1);
            model->buffers()[0].add_(3);
        }
        nn::startMomentum(*model, *average);
        QCOMPARE(difference(model, average), 0.0);
        QVERIFY(average->buffers()[0].equal(model->buffers()[0]));
        for (const auto &parameter : average->parameters()) QVERIFY(!parameter.requires_grad());
        for (const auto &parameter : model->parameters()) QVERIFY(parameter.requires_grad());
        torch::nn::Sequential other(torch::nn::Linear(2, 2));
        QVERIFY_EXCEPTION_THROWN(nn::updateMomentum(*model, *other, 0.5), c10::Error);
    }
};

QTEST_GUILESS_MAIN(Optimisers)
#include "tst_optimisers.moc"
