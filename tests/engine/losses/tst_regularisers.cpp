// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/losses/empssl.h"
#include "core/engine/losses/koleo.h"
#include "core/engine/losses/lejepa.h"
#include "core/engine/losses/mmcr.h"
#include "core/engine/losses/patchkernel.h"
#include "core/engine/losses/tensors.h"
#include "core/engine/losses/visreg.h"
#include "tests/engine/losses/naive.h"

#include <QTest>

using namespace parallax;
using namespace naive;

namespace {

double nuclearNorm(const torch::Tensor &x)
{
    // Of XᵀX the eigenvalues are the squares of the singular values.
    return torch::linalg_eigvalsh(torch::matmul(x.t(), x)).clamp_min(0).sqrt().sum().item<double>();
}

/// Projections of rows [n, d] on direction s.
Row projected(const torch::Tensor &x, const torch::Tensor &directions, std::int64_t s)
{
    const torch::Tensor direction = directions.select(1, s);
    return row(x.mv(direction / direction.norm()));
}

double invariance(const std::vector<torch::Tensor> &all, const torch::Tensor &global)
{
    double loss = 0;
    for (const auto &view : all) loss += mean(row((view - global.mean(0)).square())) / double(all.size());
    return loss;
}

std::vector<torch::Tensor> viewsOf(const torch::Tensor &local, const torch::Tensor &global)
{
    return torch::cat({global, local}).unbind(0);
}

/// The centred alignment of two Gram matrices over the tokens that are not masked.
double alignment(const torch::Tensor &student, const torch::Tensor &teacher, const torch::Tensor &mask)
{
    const torch::Tensor kept = mask.logical_not(), s = student.index({kept}), t = teacher.index({kept});
    const double m = double(s.size(0));
    const torch::Tensor centring = torch::eye(s.size(0), torch::kFloat64) - 1 / m;
    const auto gram = [&](const torch::Tensor &x) { return centring.mm(x.mm(x.t())).mm(centring); };
    const auto hsic = [](const torch::Tensor &a, const torch::Tensor &b) { return (a * b).sum().item<double>(); };
    const torch::Tensor k = gram(s), l = gram(t);
    return hsic(k, l) / std::sqrt(hsic(k, k) * hsic(l, l));
}

} // namespace

class Regularisers : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init() { torch::manual_seed(9); }

    void koLeo()
    {
        for (const auto &[n, d] : shapes()) {
            const torch::Tensor x = random({n, d});
            const Rows unit = rows(x / x.norm(2, 1, true));
            double expected = 0;
            for (std::size_t i = 0; i < unit.size(); ++i) {
                std::size_t nearest = i == 0 ? 1 : 0;
                for (std::size_t j = 0; j < unit.size(); ++j)
                    if (j != i && dot(unit[i], unit[j]) > dot(unit[i], unit[nearest])) nearest = j;
                double distance = 0;
                for (std::size_t c = 0; c < unit[i].size(); ++c)
                    distance += std::pow(unit[i][c] - unit[nearest][c] + 1e-4, 2);
                expected -= std::log(std::sqrt(distance) + 1e-4) / double(n);
            }
            QVERIFY(near(losses::koLeo(x, alone(), 2, 1e-4), expected));
        }
        QVERIFY_EXCEPTION_THROWN(losses::koLeo(random({1, 3}), alone()), c10::Error);
    }

    void mmcr()
    {
        for (const auto &[n, d] : shapes()) {
            const torch::Tensor online = random({n, 2, d}), momentum = random({n, 2, d});
            const torch::Tensor views = torch::cat({online, momentum}, 1);
            double expected = -nuclearNorm(views.mean(1));
            for (std::int64_t i = 0; i < n; ++i) expected += 0.3 * nuclearNorm(views[i].t()) / double(n);
            // The root of an eigenvalue near 0 keeps half its digits.
            QVERIFY(std::abs(losses::mmcr(online, momentum, 0.3, alone()).item<double>() - expected) < 1e-6);
        }
    }

    void empSsl()
    {
        for (const auto &[n, d] : shapes()) {
            const std::vector<torch::Tensor> views{random({n, d}), random({n, d}), random({n, d})};
            const torch::Tensor middle = (views[0] + views[1] + views[2]) / 3;
            double rate = 0, agreement = 0;
            for (const auto &z : views) {
                const torch::Tensor code = torch::eye(d, torch::kFloat64) + double(d) / (double(n) * 0.2) * z.t().mm(z);
                rate += 0.5 * std::log(torch::linalg_det(code).item<double>()) / 3;
                for (std::int64_t i = 0; i < n; ++i) agreement += cosine(row(z[i]), row(middle[i])) / double(3 * n);
            }
            QVERIFY(near(losses::codingRate(views, 0.2, alone()), rate));
            QVERIFY(near(losses::empSsl(views, 0.2, 7, alone()), -rate - 7 * agreement));
        }
    }

    void spreadRowsHaveTheSmallerEmpSsl()
    {
        const torch::Tensor spread = torch::eye(4), collapsed = torch::ones({4, 4}) / 2;
        const auto loss = [](const torch::Tensor &z) { return losses::empSsl({z, z}, 0.2, 1, alone()).item<double>(); };
        QVERIFY(loss(spread) < loss(collapsed));
    }

    void leJepa()
    {
        for (const auto &[n, d] : shapes()) {
            const torch::Tensor local = random({2, n, d}), global = random({1, n, d}), directions = random({d, 4});
            const auto views = viewsOf(local, global);
            double statistic = 0;
            for (const auto &view : views)
                for (std::int64_t s = 0; s < 4; ++s) {
                    const Row x = projected(view, directions, s);
                    double integral = 0; // of the whole line from −2 to 2, by trapezoids
                    for (int knot = -4; knot <= 4; ++knot) {
                        const double t = 0.5 * knot, normal = std::exp(-t * t / 2);
                        double real = 0, imaginary = 0;
                        for (const double value : x) {
                            real += std::cos(t * value) / double(n);
                            imaginary += std::sin(t * value) / double(n);
                        }
                        const double error = std::pow(real - normal, 2) + imaginary * imaginary;
                        integral += (std::abs(knot) == 4 ? 0.25 : 0.5) * normal * error;
                    }
                    statistic += double(n) * integral / (4.0 * double(views.size()));
                }
            const double expected = 0.3 * statistic + 0.7 * invariance(views, global);
            const double got = losses::leJepa(local, global, directions, {0.3, 5, 2}, alone()).item<double>();
            QVERIFY(std::abs(got - expected) < 1e-5 * std::max(1.0, expected)); // knots in float32
        }
    }

    void visReg()
    {
        for (const auto &[n, d] : shapes()) {
            const torch::Tensor local = random({2, n, d}), global = random({1, n, d}), directions = random({d, 4});
            const auto views = viewsOf(local, global);
            const double count = double(views.size());
            double scale = 0, center = 0, shape = 0;
            for (const auto &view : views) {
                const torch::Tensor deviation = view.std(0, /*unbiased=*/false), middle = view.mean(0);
                scale += mean(row((1 - deviation).square())) / count;
                center += mean(row(middle.square())) / count;
                for (std::int64_t s = 0; s < 4; ++s) {
                    Row x = projected((view - middle) / (deviation + 1e-4), directions, s);
                    std::sort(x.begin(), x.end());
                    for (std::size_t i = 0; i < x.size(); ++i) {
                        // The quantile by bisection of the normal distribution.
                        double low = -10, high = 10;
                        for (int step = 0; step < 100; ++step)
                            (0.5 * std::erfc(-(low + high) / 2 / std::sqrt(2.0)) < double(i + 1) / double(n + 1) ? low
                                                                                                                 : high) =
                                (low + high) / 2;
                        shape += std::pow(x[i] - low, 2) / (count * 4 * double(n));
                    }
                }
            }
            const double expected = 0.4 * (2 * scale + 3 * shape + 0.5 * center) + 0.6 * invariance(views, global);
            const double got = losses::visReg(local, global, directions, {0.4, 2, 3, 0.5}, alone()).item<double>();
            QVERIFY(std::abs(got - expected) < 1e-5 * std::max(1.0, expected)); // quantiles in float32
        }
    }

    void directionsAreUnitVectors()
    {
        const torch::Tensor directions = losses::randomDirections(5, 7, torch::kFloat32, alone());
        QCOMPARE(directions.sizes(), torch::IntArrayRef({5, 7}));
        QVERIFY(torch::allclose(directions.norm(2, 0), torch::ones({7})));
    }

    void patchKernelAlignment()
    {
        const torch::Tensor student = random({3, 6, 4}), teacher = random({3, 6, 2});
        torch::Tensor mask = torch::zeros({3, 6}, torch::kBool);
        mask[0][1] = mask[0][4] = true;
        mask[2].narrow(0, 0, 5).fill_(true); // a single token: it has no kernel
        const double expected =
            (2 - alignment(student[0], teacher[0], mask[0]) - alignment(student[1], teacher[1], mask[1])) / 2;
        QVERIFY(near(losses::patchKernelAlignment(student, teacher, mask, alone()), expected));
        QVERIFY(std::abs(losses::patchKernelAlignment(student, student * 3, {}, alone()).item<double>()) < 1e-12);
    }
};

QTEST_GUILESS_MAIN(Regularisers)
#include "tst_regularisers.moc"
