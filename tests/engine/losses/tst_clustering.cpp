// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/losses/capi.h"
#include "core/engine/losses/dino.h"
#include "core/engine/losses/ibot.h"
#include "core/engine/losses/msn.h"
#include "core/engine/losses/sinkhorn.h"
#include "core/engine/losses/swav.h"
#include "tests/engine/losses/naive.h"

#include <QTest>

#include <functional>

using namespace parallax;
using namespace naive;

namespace {

/// Sinkhorn-Knopp on positive numbers.
Rows balanced(Rows q, int iterations, double floor = 0)
{
    for (int i = 0; i < iterations; ++i) {
        for (std::size_t k = 0; k < q[0].size(); ++k) {
            double total = floor;
            for (const Row &r : q) total += r[k];
            for (Row &r : q) r[k] /= total;
        }
        for (Row &r : q) {
            const double total = sum(r) + floor;
            for (double &value : r) value /= total;
        }
    }
    return q;
}

Rows exponentials(Rows x, double scale)
{
    for (Row &r : x)
        for (double &value : r) value = std::exp(value / scale);
    return x;
}

bool near(const torch::Tensor &got, const Rows &expected)
{
    const Row flat = row(got);
    for (std::size_t i = 0; i < flat.size(); ++i)
        if (!naive::near(flat[i], expected[i / expected[0].size()][i % expected[0].size()])) return false;
    return true;
}
using naive::near;

Row minus(Row a, const Row &b)
{
    for (std::size_t i = 0; i < a.size(); ++i) a[i] -= b[i];
    return a;
}

Row columnMeans(const Rows &x)
{
    Row means(x[0].size(), 0);
    for (const Row &r : x)
        for (std::size_t k = 0; k < r.size(); ++k) means[k] += r[k] / double(x.size());
    return means;
}

/// Masked Siamese networks with a regulariser of the mean anchor.
double masked(const torch::Tensor &anchors, const torch::Tensor &targets, const torch::Tensor &prototypes,
              const losses::MsnOptions &options, const std::function<double(const Row &)> &regulariser)
{
    const auto probabilities = [&](const torch::Tensor &x) {
        Rows all;
        for (const Row &r : rows(x)) {
            Row cosines;
            for (const Row &prototype : rows(prototypes)) cosines.push_back(cosine(r, prototype));
            all.push_back(softmax(cosines, options.temperature));
        }
        return all;
    };
    Rows target = probabilities(targets);
    for (Row &r : target) {
        for (double &p : r) p = std::pow(p, 1 / options.sharpening);
        const double total = sum(r);
        for (double &p : r) p /= total;
    }
    target = balanced(target, options.iterations);
    const Rows anchor = probabilities(anchors);
    double loss = 0;
    for (std::size_t i = 0; i < anchor.size(); ++i)
        loss += crossEntropy(target[i % target.size()], anchor[i]) / double(anchor.size());
    return loss + options.regularisation * regulariser(columnMeans(anchor));
}

} // namespace

class Clustering : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init() { torch::manual_seed(7); }

    void sinkhorn()
    {
        for (const auto &[n, k] : shapes())
            for (const int iterations : {1, 3, 10}) {
                const torch::Tensor x = random({n, k});
                QVERIFY(
                    near(losses::sinkhorn(x / 0.3, iterations, alone()), balanced(exponentials(rows(x), 0.3), iterations)));
            }
        const torch::Tensor x = random({4, 3}), unscaled = losses::sinkhorn(x, 0, alone());
        QVERIFY(torch::allclose(unscaled, x.exp() * 4 / x.exp().sum(), 1e-12));
    }

    void largeLogitsAreBalancedToo()
    {
        const torch::Tensor logits = (random({6, 4}) * 2000).to(torch::kFloat32);
        const torch::Tensor q = losses::sinkhorn(logits, 3, alone());
        QVERIFY(q.isfinite().all().item<bool>());
        QVERIFY(torch::allclose(q.sum(1), torch::ones({6}), 1e-5));
        const torch::Tensor shifted = losses::sinkhorn(logits + 500, 3, alone());
        QVERIFY(torch::allclose(q, shifted, 1e-2, 1e-3));
    }

    void swav()
    {
        for (const auto &[n, k] : shapes()) {
            const std::vector<torch::Tensor> high{random({n, k}), random({n, k})}, low{random({n, k})};
            const std::vector<torch::Tensor> queues{random({4, k}), random({4, k})};
            const torch::Tensor crops[] = {high[0], high[1], low[0]};
            for (const bool queued : {false, true}) {
                double expected = 0;
                for (std::size_t i = 0; i < 2; ++i) {
                    const torch::Tensor scores = queued ? torch::cat({high[i], queues[i]}) : high[i];
                    const Rows q = balanced(exponentials(rows(scores), 0.4), 3);
                    for (std::size_t v = 0; v < 3; ++v)
                        for (std::size_t r = 0; r < std::size_t(n) && v != i; ++r)
                            expected += crossEntropy(q[r], softmax(row(crops[v][std::int64_t(r)]), 0.2)) / double(2 * 2 * n);
                }
                const auto used = queued ? queues : std::vector<torch::Tensor>();
                QVERIFY(near(losses::swav(high, low, used, {0.2, 3, 0.4}, alone()), expected));
            }
        }
        QVERIFY_EXCEPTION_THROWN(losses::swav({random({2, 3})}, {}, {}, {}, alone()), c10::Error);
    }

    void dino()
    {
        for (const auto &[n, k] : shapes()) {
            losses::Dino dino((losses::DinoOptions(k)));
            dino->to(torch::kFloat64);
            Row center(std::size_t(k), 0);
            for (int step = 0; step < 2; ++step) {
                const std::vector<torch::Tensor> teacher{random({n, k}), random({n, k})};
                const std::vector<torch::Tensor> student{random({n, k}), random({n, k}), random({n, k})};
                double expected = 0;
                for (std::size_t t = 0; t < 2; ++t)
                    for (std::size_t s = 0; s < 3; ++s)
                        for (std::int64_t i = 0; i < n && s != t; ++i)
                            expected += crossEntropy(softmax(minus(row(teacher[t][i]), center), 0.3),
                                                     softmax(row(student[s][i]), 0.1)) /
                                double(4 * n);
                QVERIFY(near(dino->forward(teacher, student, 0.3, alone()), expected));
                const Row means = columnMeans(rows(torch::cat(teacher)));
                for (std::size_t c = 0; c < center.size(); ++c) center[c] = 0.9 * center[c] + 0.1 * means[c];
                QVERIFY(near(dino->center, Rows{center}));
            }
        }
    }

    void theTeacherWarmsUp()
    {
        QVERIFY(std::abs(losses::dinoTeacherTemperature(0.04, 0.07, 4, 0) - 0.04) < 1e-8);
        QVERIFY(std::abs(losses::dinoTeacherTemperature(0.04, 0.07, 4, 1) - 0.05) < 1e-8);
        QVERIFY(std::abs(losses::dinoTeacherTemperature(0.04, 0.07, 4, 3) - 0.07) < 1e-8);
        QVERIFY(std::abs(losses::dinoTeacherTemperature(0.04, 0.07, 4, 9) - 0.07) < 1e-8);
        QVERIFY(std::abs(losses::dinoTeacherTemperature(0.04, 0.07, 0, 0) - 0.07) < 1e-8);
    }

    void ibot()
    {
        for (const auto &[n, k] : shapes()) {
            losses::IbotPatch patch((losses::IbotOptions(k))), all((losses::IbotOptions(k)));
            patch->to(torch::kFloat64);
            all->to(torch::kFloat64);
            const torch::Tensor teacher = random({n, 6, k}), student = random({n, 6, k});
            torch::Tensor mask = torch::rand({n, 2, 3}) < 0.5;
            mask[0].fill_(false);
            const torch::Tensor flat = mask.flatten(1);
            double hidden = 0, both = 0;
            for (std::int64_t i = 0; i < n; ++i) {
                double sums[2] = {0, 0}, counts[2] = {0, 0};
                for (std::int64_t p = 0; p < 6; ++p) {
                    const int side = flat[i][p].item<bool>() ? 0 : 1;
                    sums[side] += crossEntropy(softmax(row(teacher[i][p]), 0.3), softmax(row(student[i][p]), 0.1));
                    ++counts[side];
                }
                hidden += sums[0] / std::max(1.0, counts[0]) / double(n);
                both += 0.7 * sums[1] / std::max(1.0, counts[1]) / double(n);
            }
            const torch::Tensor masked = teacher.index({flat});
            const double got = patch->forward(masked, student.index({flat}), mask, 0.3, alone()).item<double>();
            QVERIFY(std::abs(got - hidden) < 1e-6 * std::max(1.0, hidden)); // weights 1/k in float32
            QVERIFY(near(all->forwardAll(teacher, student, mask, 0.7, 0.3, alone()), hidden + both));
            if (masked.size(0) > 0) QVERIFY(torch::allclose(patch->center.view(-1), 0.1 * masked.mean(0), 1e-10));
            QVERIFY(torch::allclose(all->center.view(-1), 0.1 * teacher.mean({0, 1}), 1e-10));
        }
    }

    void withoutMaskedTokensTheCentreStays()
    {
        losses::IbotPatch patch((losses::IbotOptions(4)));
        const torch::Tensor none = torch::zeros({0, 4}).requires_grad_();
        const torch::Tensor loss = patch->forward(none, none, torch::zeros({2, 3, 3}, torch::kBool), 0.1, alone());
        QCOMPARE(loss.item<double>(), 0.0);
        QVERIFY(patch->center.isfinite().all().item<bool>());
    }

    void msnAndPmsn()
    {
        for (const auto &[n, d] : shapes())
            for (const int iterations : {0, 3}) {
                const torch::Tensor anchors = random({2 * n, d}), targets = random({n, d}), prototypes = random({5, d});
                const losses::MsnOptions options{0.3, 0.5, iterations, 2};
                const double msn = masked(anchors, targets, prototypes, options,
                                          [](const Row &mean) { return std::log(5.0) - crossEntropy(mean, mean); });
                QVERIFY(near(losses::msn(anchors, targets, prototypes, options, alone()), msn));
                const Row prior = {0.4, 0.3, 0.1, 0.1, 0.1};
                const double pmsn = masked(anchors, targets, prototypes, options, [&](const Row &mean) {
                    return crossEntropy(prior, mean) - crossEntropy(prior, prior);
                });
                QVERIFY(
                    near(losses::pmsn(anchors, targets, prototypes, torch::tensor(prior, torch::kFloat64), options, alone()),
                         pmsn));
            }
        QVERIFY(torch::allclose(losses::powerLaw(2, 1, torch::kCPU), torch::tensor({2.0 / 3, 1.0 / 3}, torch::kFloat32)));
    }

    void smallTemperaturesDoNotUnderflow()
    {
        const torch::Tensor anchors = torch::randn({8, 8}).requires_grad_(), targets = torch::randn({8, 8});
        const torch::Tensor prototypes = torch::randn({64, 8}).requires_grad_();
        for (const double temperature : {0.01, 0.005, 0.001}) {
            const losses::MsnOptions options{temperature, 0.25, 3, 1};
            const torch::Tensor loss = losses::msn(anchors, targets, prototypes, options, alone()) +
                losses::pmsn(anchors, targets, prototypes, losses::powerLaw(64, 0.25, torch::kCPU), options, alone());
            loss.backward();
            QVERIFY(std::isfinite(loss.item<double>()));
            QVERIFY(anchors.grad().isfinite().all().item<bool>() && prototypes.grad().isfinite().all().item<bool>());
        }
    }

    void capi()
    {
        for (const auto &[n, k] : shapes()) {
            const torch::Tensor teacher = random({n, 3, k}), student = random({n, 2, k});
            const torch::Tensor index = torch::tensor({2, 0}).expand({n, 2});
            double expected = 0;
            for (std::int64_t p = 0; p < 2; ++p) {
                Rows logits = rows(teacher.select(1, index[0][p].item<std::int64_t>()));
                for (std::size_t c = 0; c < logits[0].size(); ++c) {
                    double most = logits[0][c];
                    for (const Row &r : logits) most = std::max(most, r[c]);
                    for (Row &r : logits) r[c] -= most;
                }
                const Rows q = balanced(exponentials(logits, 0.3), 3, 1e-8);
                for (std::int64_t i = 0; i < n; ++i)
                    expected += crossEntropy(q[std::size_t(i)], softmax(row(student[i][p]), 0.2)) / double(2 * n);
            }
            QVERIFY(near(losses::capi(teacher, student, index, {0.3, 0.2, 3}, alone()), expected));
        }
    }
};

QTEST_GUILESS_MAIN(Clustering)
#include "tst_clustering.moc"
