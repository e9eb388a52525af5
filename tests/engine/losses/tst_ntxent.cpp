// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/losses/ntxent.h"
#include "tests/support/gradcheck.h"
#include "tests/support/rankprocesses.h"

#include <QTest>

#include <cmath>

using namespace parallax;
using losses::ntxent;
using rankprocesses::check;

namespace {

constexpr auto f64 = torch::kFloat64;

/// Equation 1 of the paper, term by term.
double naive(const torch::Tensor &z0, const torch::Tensor &z1, double temperature)
{
    const torch::Tensor z = torch::cat({z0, z1}).to(f64);
    const std::int64_t n = z0.size(0), rows = 2 * n;
    const auto similarity = [&](std::int64_t i, std::int64_t j) {
        double dot = 0, ii = 0, jj = 0;
        for (std::int64_t d = 0; d < z.size(1); ++d) {
            const double x = z[i][d].item<double>(), y = z[j][d].item<double>();
            dot += x * y;
            ii += x * x;
            jj += y * y;
        }
        return dot / std::sqrt(ii * jj);
    };
    double loss = 0;
    for (std::int64_t i = 0; i < rows; ++i) {
        double others = 0;
        for (std::int64_t k = 0; k < rows; ++k)
            if (k != i) others += std::exp(similarity(i, k) / temperature);
        loss -= std::log(std::exp(similarity(i, (i + n) % rows) / temperature) / others);
    }
    return loss / double(rows);
}

void checkGradients(const rankprocesses::Ranks &ranks)
{
    torch::manual_seed(std::uint64_t(30 + ranks->rank()));
    const std::int64_t n = 3 + ranks->rank(); // unequal shares
    const torch::Tensor z0 = torch::randn({n, 4}, f64).requires_grad_(), z1 = torch::randn({n, 4}, f64).requires_grad_();
    const double error = gradcheck::worstError(*ranks, {z0, z1}, [&] { return ntxent(z0, z1, 0.3, *ranks); });
    check(error < 1e-7, "gradient off by " + std::to_string(error));
}

const rankprocesses::Body gradients("gradients",
                                    [](const rankprocesses::Ranks &ranks, const std::string &) { checkGradients(ranks); });

/// However a batch of 11 is cut: the mean over ranks of loss and gradient is that of one process.
const rankprocesses::Body asOneProcess("asOneProcess", [](const rankprocesses::Ranks &ranks, const std::string &) {
    torch::manual_seed(8);
    const torch::Tensor x0 = torch::randn({11, 6}, f64), x1 = torch::randn({11, 6}, f64);
    const torch::Tensor weight = torch::randn({6, 5}, f64).requires_grad_();
    const torch::Tensor whole = ntxent(x0.matmul(weight), x1.matmul(weight), 0.2, *dist::localRanks(torch::kCPU));
    const torch::Tensor expected = torch::autograd::grad({whole}, {weight})[0];

    const std::int64_t begin = 11 * ranks->rank() / ranks->world(), end = 11 * (ranks->rank() + 1) / ranks->world();
    const torch::Tensor own = ntxent(x0.narrow(0, begin, end - begin).matmul(weight),
                                     x1.narrow(0, begin, end - begin).matmul(weight), 0.2, *ranks);
    torch::Tensor gradient = torch::autograd::grad({own}, {weight})[0], loss = own.detach().clone();
    ranks->allReduceSum(gradient);
    ranks->allReduceSum(loss);
    check(std::abs(loss.item<double>() / ranks->world() - whole.item<double>()) < 1e-12, "mean loss");
    check(torch::allclose(gradient / ranks->world(), expected, 1e-11, 1e-13), "mean gradient");
});

} // namespace

class NtXent : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void equationOfThePaper()
    {
        torch::manual_seed(2);
        for (const double temperature : {0.07, 0.5, 2.0}) {
            const torch::Tensor z0 = torch::randn({5, 3}, f64) * 4, z1 = torch::randn({5, 3}, f64) * 0.1;
            const double got = ntxent(z0, z1, temperature, *m_alone).item<double>();
            QVERIFY(std::abs(got - naive(z0, z1, temperature)) < 1e-12 * std::max(1.0, got));
        }
    }

    void gradientsOnOneRank() { checkGradients(m_alone); }
    void gradientsOnTwoRanks() { onRanks("gradients", 2); }
    void twoRanksAreOneBatch() { onRanks("asOneProcess", 2); }
    void threeRanksAreOneBatch() { onRanks("asOneProcess", 3); }

    void aConstantNetworkIsAtChance()
    {
        const torch::Tensor same = torch::ones({6, 4});
        QVERIFY(std::abs(ntxent(same, same, 0.1, *m_alone).item<double>() - std::log(11.0)) < 1e-5);
    }

    void aZeroRowIsFinite()
    {
        const torch::Tensor z = torch::zeros({3, 4}).requires_grad_();
        const torch::Tensor loss = ntxent(z, z, 0.1, *m_alone);
        loss.backward();
        QVERIFY(std::isfinite(loss.item<double>()) && z.grad().isfinite().all().item<bool>());
    }

    void halfPrecisionIsWidened()
    {
        torch::manual_seed(4);
        const torch::Tensor z0 = torch::randn({8, 16}).to(torch::kBFloat16), z1 = torch::randn({8, 16}).to(torch::kBFloat16);
        const torch::Tensor loss = ntxent(z0, z1, 0.05, *m_alone);
        QCOMPARE(loss.scalar_type(), torch::kFloat32);
        QVERIFY(std::abs(loss.item<double>() - naive(z0, z1, 0.05)) < 1e-4);
    }

    void shapesMustMatch()
    {
        QVERIFY_EXCEPTION_THROWN(ntxent(torch::zeros({3, 4}), torch::zeros({2, 4}), 1, *m_alone), c10::Error);
        QVERIFY_EXCEPTION_THROWN(ntxent(torch::zeros({3}), torch::zeros({3}), 1, *m_alone), c10::Error);
    }

private:
    static void onRanks(const char *body, int world)
    {
        const QByteArray fault = rankprocesses::run(body, world);
        QVERIFY2(fault.isEmpty(), fault);
    }
    const std::shared_ptr<dist::Ranks> m_alone = dist::localRanks(torch::kCPU);
};

RANK_TEST_MAIN(NtXent)
#include "tst_ntxent.moc"
