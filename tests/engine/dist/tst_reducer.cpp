// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/dist/reducer.h"
#include "tests/support/rankprocesses.h"

#include <QTest>

using namespace parallax;
using rankprocesses::check;

namespace {

/// Two branches; `second` takes part only where asked.
struct Net : torch::nn::Module {
    Net()
    {
        torch::manual_seed(11);
        first = register_module("first", torch::nn::Linear(6, 40));
        second = register_module("second", torch::nn::Linear(6, 40));
        last = register_module("last", torch::nn::Linear(40, 3));
        offset = register_buffer("offset", torch::zeros({3}));
        to(torch::kFloat64);
    }
    torch::Tensor forward(const torch::Tensor &x, bool both = true)
    {
        torch::Tensor hidden = torch::tanh(first(x));
        if (both) hidden = hidden + torch::tanh(second(x));
        return last(hidden) + offset;
    }
    torch::nn::Linear first = nullptr, second = nullptr, last = nullptr;
    torch::Tensor offset;
};

torch::Tensor dataOf(int rank, int step)
{
    torch::manual_seed(std::uint64_t(100 * step + rank));
    return torch::randn({5, 6}, torch::kFloat64);
}

/// Several steps of plain gradient descent; after each, every gradient is the mean of what the ranks find alone.
const rankprocesses::Body averages("averages", [](const rankprocesses::Ranks &ranks, const std::string &) {
    Net net;
    dist::GradientReducer reducer(net, ranks, {.bucketMb = 0.001}); // several buckets
    for (int step = 0; step < 4; ++step) {
        std::vector<torch::Tensor> mean;
        for (const auto &param : net.parameters()) mean.push_back(torch::zeros_like(param));
        for (int rank = 0; rank < ranks->world(); ++rank) {
            const auto alone = torch::autograd::grad({net.forward(dataOf(rank, step)).square().sum()}, net.parameters());
            for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += alone[i] / ranks->world();
        }
        for (auto &param : net.parameters()) param.mutable_grad().reset();
        reducer.prepareForward();
        const torch::Tensor loss = net.forward(dataOf(ranks->rank(), step)).square().sum();
        reducer.prepareBackward({loss});
        loss.backward();
        torch::NoGradGuard noGrad;
        std::size_t i = 0;
        for (auto &param : net.parameters()) {
            check(torch::allclose(param.grad(), mean[i++], 1e-12, 1e-12), "a gradient is not the mean of the ranks'");
            param.add_(param.grad(), -0.01);
            const torch::Tensor all = ranks->allGatherEqual(param);
            for (int rank = 1; rank < ranks->world(); ++rank) check(all[rank].equal(all[0]), "ranks differ after a step");
        }
    }
});

const rankprocesses::Body unused("unused", [](const rankprocesses::Ranks &ranks, const std::string &) {
    Net net;
    dist::GradientReducer reducer(net, ranks, {.findUnused = true});
    for (int step = 0; step < 3; ++step) { // in turn one branch and both
        for (auto &param : net.parameters()) param.mutable_grad().reset();
        reducer.prepareForward();
        const torch::Tensor loss = net.forward(dataOf(ranks->rank(), step), step == 1).square().sum();
        reducer.prepareBackward({loss});
        loss.backward();
        const torch::Tensor gradient = net.second->weight.grad();
        if (step == 1)
            check(gradient.abs().sum().item<double>() > 0, "no gradient where both branches take part");
        else
            check(!gradient.defined() || gradient.abs().sum().item<double>() == 0,
                  "a gradient for a branch that took no part");
    }
});

const rankprocesses::Body missing("missing", [](const rankprocesses::Ranks &ranks, const std::string &) {
    Net net;
    dist::GradientReducer reducer(net, ranks);
    try {
        for (int step = 0; step < 2; ++step) {
            reducer.prepareForward();
            const torch::Tensor loss = net.forward(dataOf(ranks->rank(), step), false).square().sum();
            reducer.prepareBackward({loss});
            loss.backward();
        }
    } catch (const std::exception &error) {
        check(std::string(error.what()).find("second.weight") != std::string::npos ||
                  std::string(error.what()).find("unused") != std::string::npos,
              error.what());
        return;
    }
    check("a parameter without gradient went unnoticed");
});

const rankprocesses::Body broadcasts("broadcasts", [](const rankprocesses::Ranks &ranks, const std::string &) {
    Net net;
    {
        torch::NoGradGuard noGrad;
        for (auto &param : net.parameters()) param.add_(ranks->rank());
        net.offset.fill_(ranks->rank() + 1);
    }
    dist::broadcastBuffers(net, *ranks);
    check(net.offset.eq(1).all().item<bool>(), "buffers are not rank 0's");
    Net fresh;
    check(net.first->weight.equal(fresh.first->weight + ranks->rank()), "broadcastBuffers changed a parameter");
    dist::broadcastState(net, *ranks);
    check(net.first->weight.equal(fresh.first->weight) && net.last->bias.equal(fresh.last->bias),
          "parameters are not rank 0's");
});

} // namespace

class Reducer : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void oneRankLeavesGradientsAlone()
    {
        Net net;
        dist::GradientReducer reducer(net, dist::localRanks(torch::kCPU));
        reducer.prepareForward();
        const torch::Tensor loss = net.forward(dataOf(0, 0)).square().sum();
        reducer.prepareBackward({loss});
        const auto expected = torch::autograd::grad({loss}, {net.first->weight}, {}, /*retain_graph=*/true)[0];
        loss.backward();
        QVERIFY(net.first->weight.grad().equal(expected));
    }
    void gradientsAreTheMeanOfTheRanks() { onRanks("averages", 2); }
    void gradientsAreTheMeanOfThreeRanks() { onRanks("averages", 3); }
    void unusedParametersAreFoundWhenAskedFor() { onRanks("unused", 2); }
    void anUnusedParameterIsAnErrorOtherwise() { onRanks("missing", 2); }
    void stateComesFromRank0() { onRanks("broadcasts", 2); }

private:
    static void onRanks(const char *body, int world)
    {
        const QByteArray fault = rankprocesses::run(body, world);
        QVERIFY2(fault.isEmpty(), fault);
    }
};

RANK_TEST_MAIN(Reducer)
#include "tst_reducer.moc"
