// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/losses/co2.h"
#include "core/engine/losses/dcl.h"
#include "core/engine/losses/detcon.h"
#include "core/engine/losses/hypersphere.h"
#include "core/engine/losses/infonce.h"
#include "core/engine/losses/macl.h"
#include "core/engine/losses/ntxent.h"
#include "tests/engine/losses/naive.h"

#include <QTest>

using namespace parallax;
using namespace naive;

namespace {

/// −positive + log Σ over the others of exp, both over the temperature; weight on the positive.
double decoupled(const Rows &a, const Rows &b, double temperature, const Row &weight)
{
    double loss = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        double others = 0;
        for (std::size_t j = 0; j < a.size(); ++j)
            if (j != i) others += std::exp(cosine(a[i], a[j]) / temperature) + std::exp(cosine(a[i], b[j]) / temperature);
        loss += std::log(others) - weight[i] * cosine(a[i], b[i]) / temperature;
    }
    return loss / double(a.size());
}

Row fisherWeights(const Rows &a, const Rows &b, double sigma)
{
    Row cosines;
    for (std::size_t i = 0; i < a.size(); ++i) cosines.push_back(cosine(a[i], b[i]));
    Row weights = softmax(cosines, sigma);
    for (double &weight : weights) weight = 2 - double(a.size()) * weight;
    return weights;
}

double uniformity(const Rows &x, double t)
{
    double all = 0;
    for (std::size_t i = 0; i < x.size(); ++i)
        for (std::size_t j = 0; j < i; ++j) all += std::exp(-t * (2 - 2 * cosine(x[i], x[j])));
    return std::log(all / (double(x.size()) * double(x.size() - 1) / 2));
}

/// Of vectors [n][m], the loss of one view: regions `own` against those of the other view.
double regions(const std::vector<Rows> &prediction, const std::vector<Rows> &same, const std::vector<Rows> &other,
               const Rows &own, const Rows &others, double temperature)
{
    double loss = 0;
    const std::size_t n = prediction.size(), m = own[0].size();
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t k = 0; k < m; ++k) {
            double total = 0, positives = 0, area = 0, logits = 0;
            for (std::size_t j = 0; j < n; ++j)
                for (std::size_t l = 0; l < m; ++l) {
                    total += std::exp(cosine(prediction[i][k], other[j][l]) / temperature);
                    if (j != i || own[i][k] != own[i][l])
                        total += std::exp(cosine(prediction[i][k], same[j][l]) / temperature);
                    if (j != i) continue;
                    area += own[i][k] == own[i][l];
                    if (own[i][k] != others[i][l]) continue;
                    ++positives;
                    logits += cosine(prediction[i][k], other[i][l]) / temperature;
                }
            if (positives > 0) loss -= (logits / positives - std::log(total)) / area;
        }
    return loss / double(n * m);
}

std::vector<Rows> nested(const torch::Tensor &x)
{
    std::vector<Rows> all;
    for (std::int64_t i = 0; i < x.size(0); ++i) all.push_back(rows(x[i]));
    return all;
}

} // namespace

class Contrastive : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init() { torch::manual_seed(5); }

    void dclAndDclw()
    {
        for (const auto &[n, d] : shapes()) {
            const torch::Tensor z0 = random({n, d}), z1 = random({n, d}) * 3;
            const Rows a = rows(z0), b = rows(z1);
            const Row ones(a.size(), 1.0), weights = fisherWeights(a, b, 0.4);
            const double plain = 0.5 * (decoupled(a, b, 0.2, ones) + decoupled(b, a, 0.2, ones));
            const double weighted = 0.5 * (decoupled(a, b, 0.2, weights) + decoupled(b, a, 0.2, weights));
            QVERIFY(near(losses::dcl(z0, z1, 0.2, alone()), plain));
            QVERIFY(near(losses::dclw(z0, z1, 0.2, 0.4, alone()), weighted));
        }
        QVERIFY_EXCEPTION_THROWN(losses::dcl(random({1, 3}), random({1, 3}), 0.1, alone()), c10::Error);
    }

    void againstABank()
    {
        for (const auto &[n, d] : shapes()) {
            const torch::Tensor query = random({n, d}).requires_grad_(), key = random({n, d}).requires_grad_();
            const torch::Tensor bank = torch::nn::functional::normalize(random({6, d}));
            const Rows a = rows(query), b = rows(key), keys = rows(bank);
            double expected = 0;
            for (std::size_t i = 0; i < a.size(); ++i) {
                const double positive = std::exp(cosine(a[i], b[i]) / 0.3);
                double total = positive;
                for (const Row &other : keys) total += std::exp(cosine(a[i], other) / 0.3);
                expected -= std::log(positive / total) / double(a.size());
            }
            const torch::Tensor loss = losses::ntxentAgainstBank(query, key, bank, 0.3, alone());
            QVERIFY(near(loss, expected));
            loss.backward();
            QVERIFY(query.grad().abs().sum().item<double>() > 0);
            QVERIFY(!key.grad().defined());
        }
    }

    void infoNce()
    {
        for (const auto &[n, d] : shapes()) {
            const torch::Tensor query = random({n, d}).requires_grad_(), key = random({n, d}).requires_grad_();
            const Rows a = rows(query), b = rows(key);
            double expected = 0;
            for (std::size_t i = 0; i < a.size(); ++i) {
                double total = 0;
                for (const Row &other : b) total += std::exp(cosine(a[i], other) / 0.2);
                expected -= std::log(std::exp(cosine(a[i], b[i]) / 0.2) / total) / double(a.size());
            }
            const torch::Tensor loss = losses::infoNce(query, key, 0.2, alone());
            QVERIFY(near(loss, expected));
            loss.backward();
            QVERIFY(!key.grad().defined());
        }
        QVERIFY_EXCEPTION_THROWN(losses::infoNce(random({2, 3}), random({3, 3}), 1, alone()), c10::Error);
    }

    void directClrIsNtXentOfTheFirstValues()
    {
        const torch::Tensor z0 = random({4, 6}).requires_grad_(), z1 = random({4, 6});
        const torch::Tensor loss = losses::directClr(z0, z1, 2, 0.5, alone());
        QVERIFY(near(loss, losses::ntxent(z0.slice(1, 0, 2), z1.slice(1, 0, 2), 0.5, alone()).item<double>()));
        loss.backward();
        QCOMPARE(z0.grad().slice(1, 2).abs().max().item<double>(), 0.0);
        QVERIFY_EXCEPTION_THROWN(losses::directClr(z0, z1, 7, 0.5, alone()), c10::Error);
    }

    void macl()
    {
        for (const auto &[n, d] : shapes()) {
            const torch::Tensor z0 = random({n, d}), z1 = random({n, d});
            const Rows z = rows(torch::cat({z0, z1}));
            const std::size_t half = std::size_t(n);
            double alignment = 0, expected = 0;
            for (std::size_t i = 0; i < half; ++i) alignment += cosine(z[i], z[i + half]) / double(n);
            const double temperature = 0.2 * (1 + 0.5 * (alignment - 0.1));
            for (std::size_t i = 0; i < z.size(); ++i) {
                double total = 0;
                for (std::size_t j = 0; j < z.size(); ++j)
                    if (j != i) total += std::exp(cosine(z[i], z[j]) / temperature);
                const double p = std::exp(cosine(z[i], z[(i + half) % z.size()]) / temperature) / total;
                expected -= std::log(p) / (1 - p + 1e-8) / double(z.size());
            }
            QVERIFY(near(losses::macl(z0, z1, {0.2, 0.5, 0.1}, alone()), expected));
        }
    }

    void co2()
    {
        for (const auto &[n, d] : shapes()) {
            const torch::Tensor z0 = random({n, d}).requires_grad_(), z1 = random({n, d}).requires_grad_();
            const Rows a = rows(z0), b = rows(z1);
            double expected = 0;
            for (std::size_t i = 0; i < a.size(); ++i) {
                Row p, q;
                for (std::size_t j = 0; j < a.size(); ++j) {
                    p.push_back(cosine(a[i], b[j]));
                    q.push_back(cosine(b[i], a[j]));
                }
                p = softmax(p, 0.3);
                q = softmax(q, 0.3);
                expected += crossEntropy(p, q) - crossEntropy(p, p) + crossEntropy(q, p) - crossEntropy(q, q);
            }
            const torch::Tensor loss = losses::co2(z0, z1, 0.3, 4, alone());
            QVERIFY(near(loss, 4 * 0.5 * expected / double(n)));
            loss.backward();
            QVERIFY(z0.grad().abs().max().item<double>() > 0 && z1.grad().abs().max().item<double>() > 0);
        }
    }

    void hypersphere()
    {
        for (const auto &[n, d] : shapes()) {
            const torch::Tensor z0 = random({n, d}), z1 = random({n, d});
            const Rows a = rows(z0), b = rows(z1);
            double alignment = 0;
            for (std::size_t i = 0; i < a.size(); ++i)
                alignment += std::pow(2 - 2 * cosine(a[i], b[i]), 1.5 / 2) / double(a.size());
            const double expected = alignment + 0.7 * 0.5 * (uniformity(a, 2) + uniformity(b, 2));
            QVERIFY(near(losses::hypersphere(z0, z1, {1.5, 2, 0.7}, alone()), expected));
        }
    }

    void aSharpUniformityDoesNotUnderflow()
    {
        const torch::Tensor z = torch::eye(4);
        QVERIFY(near(losses::hypersphere(z, z, {2, 100, 1}, alone()), -200));
    }

    void detCon()
    {
        for (const auto &[n, d] : shapes()) {
            const torch::Tensor p0 = random({n, 4, d}), p1 = random({n, 4, d}), t0 = random({n, 4, d}),
                                t1 = random({n, 4, d});
            const torch::Tensor m0 = torch::randint(0, 3, {n, 4}), m1 = torch::randint(0, 3, {n, 4});
            const double expected = regions(nested(p0), nested(t0), nested(t1), rows(m0), rows(m1), 0.3) +
                regions(nested(p1), nested(t1), nested(t0), rows(m1), rows(m0), 0.3);
            const double got = losses::detCon({p0, p1}, {t0, t1}, {m0, m1}, 0.3, alone()).item<double>();
            // The shares 1/k are rounded to float32.
            QVERIFY(std::abs(got - expected) < 1e-6 * std::max(1.0, expected));
        }
    }
};

QTEST_GUILESS_MAIN(Contrastive)
#include "tst_contrastive.moc"
