// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/nn/batchnorm.h"
#include "core/engine/nn/head.h"
#include "core/engine/nn/weights.h"
#include "tests/support/gradcheck.h"
#include "tests/support/rankprocesses.h"

#include <QTest>

using namespace parallax;
using rankprocesses::check;

namespace {

constexpr auto f64 = torch::kFloat64;

void copyInto(const torch::Tensor &target, const torch::Tensor &source)
{
    torch::NoGradGuard noGrad;
    if (target.defined()) torch::Tensor(target).copy_(source);
}

enum class Layout { Vectors, Images, ChannelsLast };

/// Gradients of x, weight and bias against finite differences, for [n, C] and [n, C, h, w] with unequal n. Each rank has
/// weights of its own here: their gradient is the own share.
void checkGradients(const rankprocesses::Ranks &ranks)
{
    for (const Layout layout : {Layout::Vectors, Layout::Images, Layout::ChannelsLast}) {
        torch::manual_seed(std::uint64_t(20 + ranks->rank()));
        const std::int64_t n = 2 + ranks->rank();
        const torch::Tensor x =
            (layout == Layout::Vectors ? torch::randn({n, 3}, f64) : torch::randn({n, 3, 2, 2}, f64)).requires_grad_();
        const torch::Tensor upstream = torch::randn_like(x);
        nn::BatchNorm norm(3);
        norm->synchronise(ranks);
        nn::convertFloats(*norm, f64);
        copyInto(norm->weight, torch::tensor({0.5, 1.0, -2.0}, f64));
        const double error = gradcheck::worstError(*ranks, {x, norm->weight, norm->bias}, [&] {
            const bool last = layout == Layout::ChannelsLast;
            return (norm->forward(last ? x.contiguous(torch::MemoryFormat::ChannelsLast) : x).sin() * upstream).sum();
        });
        check(error < 1e-6, "gradient off by " + std::to_string(error) + " in layout " + std::to_string(int(layout)));
    }
}

const rankprocesses::Body gradients("gradients",
                                    [](const rankprocesses::Ranks &ranks, const std::string &) { checkGradients(ranks); });

/// A rank without rows, and one with a large mean beside a small spread: single pass sums would lose it.
const rankprocesses::Body oddShares("oddShares", [](const rankprocesses::Ranks &ranks, const std::string &) {
    torch::manual_seed(3);
    const torch::Tensor whole = torch::randn({6, 4, 3, 3}) * 0.1 + 300;
    const torch::Tensor x = (ranks->rank() == 0 ? whole : whole.narrow(0, 0, 0)).clone().requires_grad_();
    nn::BatchNorm norm(4), alone(4);
    norm->synchronise(ranks);
    const torch::Tensor y = norm->forward(x);
    y.square().sum().backward();
    const torch::Tensor exact = whole.to(f64);
    const torch::Tensor mean = exact.mean({0, 2, 3}), var = exact.var({0, 2, 3}, true);
    check(torch::allclose(norm->running_mean.to(f64), 0.1 * mean, 1e-6), "running_mean");
    check(torch::allclose(norm->running_var.to(f64), 0.9 + 0.1 * var, 1e-5), "running_var");
    check(y.sizes() == x.sizes() && x.grad().sizes() == x.sizes(), "shapes of the rank without rows");

    nn::BatchNorm single(4);
    single->synchronise(ranks);
    bool refused = false;
    try {
        single->forward(ranks->rank() == 0 ? torch::randn({1, 4}) : torch::zeros({0, 4}));
    } catch (const c10::Error &) {
        refused = true;
    }
    check(refused, "one value a channel over all ranks was taken");
});

const rankprocesses::Body enables("enables", [](const rankprocesses::Ranks &ranks, const std::string &) {
    torch::nn::Sequential net(torch::nn::Linear(3, 4), nn::BatchNorm(4), nn::Head(std::vector<nn::HeadLayer>{{4, 4}}));
    nn::enableSyncBatchNorm(*net, ranks);
    int synchronised = 0;
    net->apply([&](torch::nn::Module &part) {
        if (auto *norm = dynamic_cast<nn::BatchNormImpl *>(&part)) synchronised += norm->isSynchronised();
    });
    check(synchronised == 2, "not every batch norm was found");
    torch::manual_seed(std::uint64_t(ranks->rank()));
    net->forward(torch::randn({4, 3}));
    for (const auto &buffer : net->buffers()) {
        const torch::Tensor all = ranks->allGatherEqual(buffer);
        check(all[0].equal(all[1]), "running statistics differ between ranks");
    }
    net->eval(); // evaluation is local: one rank alone may run it
    if (ranks->rank() == 0) net->forward(torch::randn({1, 3}));
});

} // namespace

class BatchNorm : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void aloneItIsTorchs()
    {
        torch::manual_seed(1);
        for (const bool training : {true, false}) {
            nn::BatchNorm ours(5);
            torch::nn::BatchNorm2d theirs(5);
            ours->train(training);
            theirs->train(training);
            const torch::Tensor x = torch::randn({4, 5, 3, 3});
            QVERIFY(ours->forward(x).equal(theirs->forward(x)));
            QVERIFY(ours->running_mean.equal(theirs->running_mean) && ours->running_var.equal(theirs->running_var));
            QCOMPARE(ours->num_batches_tracked.item<int>(), int(training));
        }
    }

    void namesAreTorchs()
    {
        QStringList names;
        for (const auto &[name, tensor] : nn::stateDict(*nn::BatchNorm(2))) names << QString::fromStdString(name);
        QCOMPARE(names, QStringList({"weight", "bias", "running_mean", "running_var", "num_batches_tracked"}));
    }

    void wrongShapesAreRefused()
    {
        nn::BatchNorm norm(3);
        QVERIFY_EXCEPTION_THROWN(norm->forward(torch::zeros({2, 4})), c10::Error);
        QVERIFY_EXCEPTION_THROWN(norm->forward(torch::zeros({3})), c10::Error);
    }

    void gradientsOnOneRank() { checkGradients(dist::localRanks(torch::kCPU)); }
    void gradientsOnTwoRanks() { onRanks("gradients", 2); }
    void oddSharesOfTheBatch() { onRanks("oddShares", 2); }
    void enablingReachesEveryNorm() { onRanks("enables", 2); }

private:
    static void onRanks(const char *body, int world)
    {
        const QByteArray fault = rankprocesses::run(body, world);
        QVERIFY2(fault.isEmpty(), fault);
    }
};

RANK_TEST_MAIN(BatchNorm)
#include "tst_batchnorm.moc"
