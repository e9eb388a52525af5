// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/optim/optimiser.h"

#include <QTest>

using namespace parallax;

namespace {

torch::nn::Sequential makeNet()
{
    torch::manual_seed(6);
    return torch::nn::Sequential(torch::nn::Linear(4, 8), torch::nn::BatchNorm1d(8), torch::nn::ReLU(),
                                 torch::nn::Linear(8, 2));
}

void backward(torch::nn::Sequential &net, int step)
{
    torch::manual_seed(std::uint64_t(step));
    net->forward(torch::randn({6, 4})).square().sum().backward();
}

bool sameWeights(torch::nn::Sequential &a, torch::nn::Sequential &b)
{
    const auto x = a->parameters(), y = b->parameters();
    return std::equal(x.begin(), x.end(), y.begin(), y.end(), [](const auto &p, const auto &q) { return p.equal(q); });
}

} // namespace

class Sgd : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void arithmeticIsTorchs_data()
    {
        QTest::addColumn<double>("momentum");
        QTest::addColumn<double>("decay");
        QTest::addColumn<bool>("nesterov");
        QTest::newRow("plain") << 0.0 << 0.0 << false;
        QTest::newRow("decay") << 0.0 << 0.01 << false;
        QTest::newRow("momentum") << 0.9 << 0.01 << false;
        QTest::newRow("nesterov") << 0.9 << 0.01 << true;
    }
    void arithmeticIsTorchs()
    {
        QFETCH(double, momentum);
        QFETCH(double, decay);
        QFETCH(bool, nesterov);
        auto ours = makeNet(), theirs = makeNet();
        optim::OptimConfig config;
        config.momentum = momentum;
        config.weightDecay = decay;
        config.nesterov = nesterov;
        const auto optimiser = optim::makeOptimiser(config, optim::parametersOf(*ours, config));
        torch::optim::SGD expected(theirs->parameters(),
                                   torch::optim::SGDOptions(0.1).momentum(momentum).weight_decay(decay).nesterov(nesterov));
        for (int step = 0; step < 5; ++step) {
            optimiser->zeroGrad();
            expected.zero_grad();
            backward(ours, step);
            backward(theirs, step);
            const double rate = 0.1 / (step + 1);
            static_cast<torch::optim::SGDOptions &>(expected.param_groups()[0].options()).lr(rate);
            optimiser->step(rate);
            expected.step();
            QVERIFY(sameWeights(ours, theirs));
        }
    }

    void aSavedStateContinuesBitForBit()
    {
        optim::OptimConfig config;
        auto whole = makeNet(), resumed = makeNet();
        const auto first = optim::makeOptimiser(config, optim::parametersOf(*whole, config));
        for (int step = 0; step < 3; ++step) {
            first->zeroGrad();
            backward(whole, step);
            first->step(0.05);
        }
        const auto state = first->state();
        QCOMPARE(state.size(), whole->parameters().size());
        QVERIFY(state.count("0.weight.momentum"));
        {
            torch::NoGradGuard noGrad;
            for (std::size_t i = 0; i < whole->parameters().size(); ++i)
                resumed->parameters()[i].copy_(whole->parameters()[i]);
        }
        const auto second = optim::makeOptimiser(config, optim::parametersOf(*resumed, config));
        QVERIFY(second->loadState(state).ok());
        for (auto *optimiser : {first.get(), second.get()}) {
            auto &net = optimiser == first.get() ? whole : resumed;
            optimiser->zeroGrad();
            backward(net, 7);
            optimiser->step(0.05);
        }
        QVERIFY(sameWeights(whole, resumed));
    }

    void aStateThatDoesNotFitChangesNothing()
    {
        optim::OptimConfig config;
        auto net = makeNet();
        const auto optimiser = optim::makeOptimiser(config, optim::parametersOf(*net, config));
        const auto unknown =
            optimiser->loadState({{"0.weight.momentum", torch::zeros({8, 4})}, {"9.weight.momentum", torch::zeros({1})}});
        QVERIFY(!unknown);
        QCOMPARE(unknown.error().what,
                 std::string("The saved optimiser state holds 9.weight.momentum, which belongs to no parameter"));
        QVERIFY(!optimiser->loadState({{"0.weight.momentum", torch::zeros({3})}}));
        QVERIFY(optimiser->state().empty());
    }

    void biasesAndNormsCanBeLeftOutOfDecay()
    {
        optim::OptimConfig config;
        config.weightDecay = 0.5;
        auto net = makeNet();
        for (const auto &parameter : optim::parametersOf(*net, config)) QCOMPARE(parameter.weightDecay, 0.5);
        config.excludeBiasNormWd = true;
        QStringList decayed;
        for (const auto &parameter : optim::parametersOf(*net, config))
            if (parameter.weightDecay > 0) decayed << QString::fromStdString(parameter.name);
        QCOMPARE(decayed, QStringList({"0.weight", "3.weight"}));
    }

    void frozenParametersStay()
    {
        optim::OptimConfig config;
        auto net = makeNet();
        net->parameters()[0].requires_grad_(false);
        const auto parameters = optim::parametersOf(*net, config);
        QCOMPARE(parameters.size(), net->parameters().size() - 1);
        const auto optimiser = optim::makeOptimiser(config, parameters);
        const auto before = net->parameters()[5].detach().clone();
        optimiser->step(0.1); // no gradient anywhere
        QVERIFY(net->parameters()[5].equal(before));
        QVERIFY(optimiser->state().empty());
    }

    void nesterovNeedsMomentum()
    {
        optim::OptimConfig config;
        config.momentum = 0;
        config.nesterov = true;
        QVERIFY_EXCEPTION_THROWN(optim::makeOptimiser(config, {}), std::runtime_error);
        config.nesterov = false;
        config.name = "sgdd";
        QVERIFY_EXCEPTION_THROWN(optim::makeOptimiser(config, {}), std::runtime_error);
    }
};

QTEST_GUILESS_MAIN(Sgd)
#include "tst_sgd.moc"
