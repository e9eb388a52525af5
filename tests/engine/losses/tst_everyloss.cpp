// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "tests/engine/losses/everyloss.h"
#include "tests/support/gradcheck.h"
#include "tests/support/rankprocesses.h"

#include <QTest>

#include <cmath>

using namespace parallax;
using everyloss::Tensors;
using rankprocesses::check;

namespace {

constexpr std::int64_t images = 8;

Tensors batchOf(const everyloss::Entry &entry, double scale = 1)
{
    torch::manual_seed(12);
    Tensors inputs;
    for (auto shape : entry.shapes) {
        shape.insert(shape.begin(), images);
        inputs.push_back(torch::randn(shape, torch::kFloat64) * scale);
    }
    return inputs;
}

Tensors leaves(const Tensors &inputs, torch::Dtype dtype, std::int64_t begin = 0, std::int64_t end = images)
{
    Tensors all;
    for (const auto &input : inputs) all.push_back(input.narrow(0, begin, end - begin).to(dtype).clone().requires_grad_());
    return all;
}

torch::Tensor gradientOf(const torch::Tensor &leaf) { return leaf.grad().defined() ? leaf.grad() : torch::zeros_like(leaf); }

/// Shares grow with the rank: 2 and 6 images on two ranks, 1, 3 and 4 on three.
std::pair<std::int64_t, std::int64_t> shareOf(const dist::Ranks &ranks)
{
    const auto before = [&](std::int64_t rank) {
        return images * rank * (rank + 1) / (std::int64_t(ranks.world()) * (ranks.world() + 1));
    };
    return {before(ranks.rank()), before(ranks.rank() + 1)};
}

/// However the batch is cut: the mean over ranks of loss and gradient is that of one process.
void checkOneBatch(const dist::Ranks &ranks, const std::string &name, const everyloss::Entry &entry)
{
    const Tensors inputs = batchOf(entry), whole = leaves(inputs, torch::kFloat64);
    const torch::Tensor expected = entry.loss(whole, *dist::localRanks(torch::kCPU));
    expected.backward();

    const auto [begin, end] = shareOf(ranks);
    const Tensors own = leaves(inputs, torch::kFloat64, begin, end);
    const torch::Tensor loss = entry.loss(own, ranks);
    loss.backward();
    torch::Tensor mean = loss.detach() / double(ranks.world());
    ranks.allReduceSum(mean);
    check(torch::allclose(mean, expected.detach(), 1e-11, 1e-12), name + ": the mean loss differs");
    for (std::size_t i = 0; i < own.size(); ++i) {
        const torch::Tensor right = ranks.world() * gradientOf(whole[i]).narrow(0, begin, end - begin);
        check(torch::allclose(gradientOf(own[i]), right, 1e-11, 1e-12 * std::max(1.0, right.abs().max().item<double>())),
              name + ": the gradient of input " + std::to_string(i) + " differs");
    }
}

const rankprocesses::Body oneBatch("oneBatch", [](const rankprocesses::Ranks &ranks, const std::string &) {
    for (const auto &[name, entry] : everyloss::all()) checkOneBatch(*ranks, name, entry);
});

void checkGradients(const dist::Ranks &ranks, const std::string &name, const everyloss::Entry &entry)
{
    const auto [begin, end] = shareOf(ranks);
    const Tensors own = leaves(batchOf(entry), torch::kFloat64, begin, end);
    Tensors smooth;
    for (const std::size_t i : entry.smooth) smooth.push_back(own[i]);
    if (smooth.empty()) return;
    const double error = gradcheck::worstError(ranks, smooth, [&] { return entry.loss(own, ranks); });
    check(error < 1e-6, name + ": gradient off by " + std::to_string(error));
}

/// Of every second loss, from number `argument` on: a run of all of them would come near the time-out on a busy machine.
const rankprocesses::Body gradients("gradients", [](const rankprocesses::Ranks &ranks, const std::string &argument) {
    int number = std::stoi(argument);
    for (const auto &[name, entry] : everyloss::all())
        if (number++ % 2 == 0) checkGradients(*ranks, name, entry);
});

} // namespace

class EveryLoss : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    // Small tensors: a second thread would only wait.
    void initTestCase() { torch::set_num_threads(1); }

    void twoRanksAreOneBatch() { onRanks("oneBatch", 2); }
    void threeRanksAreOneBatch() { onRanks("oneBatch", 3); }
    void gradientsOnTwoRanks_data()
    {
        QTest::addColumn<QString>("part");
        for (const char *part : {"0", "1"}) QTest::newRow(part) << part;
    }
    void gradientsOnTwoRanks()
    {
        QFETCH(QString, part);
        onRanks("gradients", 2, part.toStdString());
    }
    void gradientsOnOneRank_data() { names(); }
    void gradientsOnOneRank()
    {
        try {
            checkGradients(*m_alone, name(), entry());
        } catch (const std::exception &exception) {
            QFAIL(exception.what());
        }
    }

    void zeroRowsAreFinite_data() { names(); }
    void zeroRowsAreFinite() { isFinite(batchOf(entry(), 0)); }

    void largeInputsAreFinite_data() { names(); }
    void largeInputsAreFinite() { isFinite(batchOf(entry(), 1e4)); }

    void halfPrecisionIsWidened_data() { names(); }
    void halfPrecisionIsWidened()
    {
        Tensors inputs = batchOf(entry());
        for (auto &input : inputs) input = input.to(torch::kBFloat16);
        const torch::Tensor loss = entry().loss(leaves(inputs, torch::kBFloat16), *m_alone);
        QCOMPARE(loss.scalar_type(), torch::kFloat32);
        const double exact = entry().loss(leaves(inputs, torch::kFloat64), *m_alone).item<double>();
        QVERIFY(std::abs(loss.item<double>() - exact) < 2e-3 * std::max(1.0, std::abs(exact)));
    }

private:
    static void names()
    {
        QTest::addColumn<QString>("name");
        for (const auto &[name, entry] : everyloss::all()) QTest::newRow(name.c_str()) << QString::fromStdString(name);
    }
    static std::string name() { return QTest::currentDataTag(); }
    static everyloss::Entry entry() { return everyloss::all().at(name()); }
    void isFinite(const Tensors &inputs)
    {
        const Tensors own = leaves(inputs, torch::kFloat32);
        const torch::Tensor loss = entry().loss(own, *m_alone);
        loss.backward();
        QVERIFY(std::isfinite(loss.item<double>()));
        for (const auto &leaf : own) QVERIFY(gradientOf(leaf).isfinite().all().item<bool>());
    }
    static void onRanks(const char *body, int world, const std::string &argument = {})
    {
        const QByteArray fault = rankprocesses::run(body, world, argument);
        QVERIFY2(fault.isEmpty(), fault);
    }
    const std::shared_ptr<dist::Ranks> m_alone = dist::localRanks(torch::kCPU);
};

RANK_TEST_MAIN(EveryLoss)
#include "tst_everyloss.moc"
