// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/losses/barlowtwins.h"
#include "core/engine/losses/frossl.h"
#include "core/engine/losses/negativecosine.h"
#include "core/engine/losses/tico.h"
#include "core/engine/losses/vicreg.h"
#include "core/engine/losses/vicregl.h"
#include "core/engine/losses/wmse.h"
#include "tests/engine/losses/naive.h"

#include <QTest>

using namespace parallax;
using namespace naive;

namespace {

/// Columns of [n, d] less their mean.
Rows centred(const torch::Tensor &x)
{
    Rows columns = rows(x.t());
    for (Row &column : columns) {
        const double middle = mean(column);
        for (double &value : column) value -= middle;
    }
    return columns;
}

double barlow(const torch::Tensor &z0, const torch::Tensor &z1, double lambda)
{
    const Rows a = centred(z0), b = centred(z1);
    const double n = double(z0.size(0));
    double loss = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
        for (std::size_t j = 0; j < b.size(); ++j) {
            const double deviations = std::sqrt((dot(a[i], a[i]) / n + 1e-5) * (dot(b[j], b[j]) / n + 1e-5));
            const double c = dot(a[i], b[j]) / n / deviations;
            loss += i == j ? (c - 1) * (c - 1) : lambda * c * c;
        }
    return loss;
}

double variance(const torch::Tensor &z, double eps)
{
    double loss = 0;
    const Rows columns = centred(z);
    for (const Row &column : columns)
        loss += std::max(0.0, 1 - std::sqrt(dot(column, column) / double(z.size(0) - 1) + eps)) / double(columns.size());
    return loss;
}

double covariance(const torch::Tensor &z)
{
    double loss = 0;
    const Rows columns = centred(z);
    for (std::size_t i = 0; i < columns.size(); ++i)
        for (std::size_t j = 0; j < columns.size(); ++j)
            if (i != j) loss += std::pow(dot(columns[i], columns[j]) / double(z.size(0) - 1), 2) / double(columns.size());
    return loss;
}

double squaredError(const torch::Tensor &x, const torch::Tensor &y) { return mean(row((x - y) * (x - y))); }

double vicreg(const torch::Tensor &x, const torch::Tensor &y, const losses::VicRegOptions &options)
{
    return options.invariance * squaredError(x, y) +
        options.variance * 0.5 * (variance(x, options.eps) + variance(y, options.eps)) +
        options.covariance * (covariance(x) + covariance(y));
}

/// For each image the pairs of places that match best, as places of `a` and of `b`.
std::pair<torch::Tensor, torch::Tensor> match(const losses::VicRegLView &a, const losses::VicRegLView &b, std::size_t count,
                                              bool byGrid)
{
    std::vector<torch::Tensor> first, second;
    const torch::Tensor x = a.map.flatten(1, 2), y = b.map.flatten(1, 2);
    const torch::Tensor from = byGrid ? a.grid.flatten(1, 2) : x, to = byGrid ? b.grid.flatten(1, 2) : y;
    for (std::int64_t i = 0; i < x.size(0); ++i) {
        std::vector<std::tuple<double, std::int64_t, std::int64_t>> nearest;
        for (std::int64_t p = 0; p < from.size(1); ++p) {
            std::tuple<double, std::int64_t, std::int64_t> best{1e300, p, 0};
            for (std::int64_t q = 0; q < to.size(1); ++q)
                best = std::min(best, {(from[i][p] - to[i][q]).norm().item<double>(), p, q});
            nearest.push_back(best);
        }
        std::sort(nearest.begin(), nearest.end());
        nearest.resize(std::min(count, nearest.size()));
        for (const auto &[distance, p, q] : nearest) {
            first.push_back(x[i][p]);
            second.push_back(y[i][q]);
        }
    }
    const std::vector<std::int64_t> shape{x.size(0), -1, x.size(2)};
    return {torch::stack(first).view(shape), torch::stack(second).view(shape)};
}

/// VICReg at every place, averaged.
double vicregOfPlaces(const std::pair<torch::Tensor, torch::Tensor> &pair, const losses::VicRegOptions &options)
{
    const double places = double(pair.first.size(1));
    double loss = 0;
    for (std::int64_t p = 0; p < pair.first.size(1); ++p)
        loss += vicreg(pair.first.select(1, p), pair.second.select(1, p), options) / places;
    return loss;
}

double localPart(const losses::VicRegLView &a, const losses::VicRegLView &b, losses::VicRegLOptions options)
{
    options.terms.covariance *= 0.5;
    double loss = 0;
    for (const bool byGrid : {false, true})
        loss += 0.5 * vicregOfPlaces(match(a, b, std::size_t(options.matchesLarge), byGrid), options.terms) +
            0.5 * vicregOfPlaces(match(b, a, std::size_t(options.matchesSmall), byGrid), options.terms);
    return loss;
}

losses::VicRegLView crop(std::int64_t n, std::int64_t h, std::int64_t w)
{
    return {random({n, 3}), random({n, h, w, 3}), random({n, h, w, 2}) * 10};
}

} // namespace

class Redundancy : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init() { torch::manual_seed(6); }

    void negativeCosine()
    {
        for (const auto &[n, d] : shapes()) {
            const torch::Tensor x = random({n, d}), y = random({n, d}) * 5, u = random({n, d}), v = random({n, d});
            const auto expected = [](const torch::Tensor &a, const torch::Tensor &b) {
                double all = 0;
                for (std::int64_t i = 0; i < a.size(0); ++i) all -= cosine(row(a[i]), row(b[i])) / double(a.size(0));
                return all;
            };
            QVERIFY(near(losses::negativeCosine(x, y, alone()), expected(x, y)));
            QVERIFY(near(losses::symmetricNegativeCosine(x, y, u, v, alone()), 0.5 * (expected(x, v) + expected(y, u))));
        }
    }

    void theOtherViewGetsNoGradient()
    {
        const torch::Tensor p = random({3, 2}).requires_grad_(), z = random({3, 2}).requires_grad_();
        losses::symmetricNegativeCosine(p, p, z, z, alone()).backward();
        QVERIFY(p.grad().defined() && !z.grad().defined());
    }

    void barlowTwins()
    {
        for (const auto &[n, d] : shapes()) {
            const torch::Tensor z0 = random({n, d}) + 3, z1 = random({n, d}) * 0.1;
            QVERIFY(near(losses::barlowTwins(z0, z1, 0.3, alone()), barlow(z0, z1, 0.3)));
        }
    }

    void aLargeMeanDoesNotHideASmallSpread()
    {
        const torch::Tensor z0 = random({16, 4}), z1 = z0 + 0.1 * random({16, 4});
        const double exact = losses::barlowTwins(z0, z1, 0.01, alone()).item<double>();
        const auto moved = [](const torch::Tensor &z) { return (z + 1024).to(torch::kFloat32); };
        QVERIFY(std::abs(losses::barlowTwins(moved(z0), moved(z1), 0.01, alone()).item<double>() - exact) < 1e-2);
    }

    void vicReg()
    {
        const losses::VicRegOptions options{3, 2, 0.5, 1e-3};
        for (const auto &[n, d] : shapes()) {
            const torch::Tensor x = random({n, d}) * 0.6, y = random({n, d}) + 1;
            QVERIFY(near(losses::vicReg(x, y, options, alone()), vicreg(x, y, options)));
            const torch::Tensor manyX = random({n, 2, 3, d}), manyY = random({n, 2, 3, d});
            QVERIFY(near(losses::vicReg(manyX, manyY, options, alone()),
                         vicregOfPlaces({manyX.flatten(1, 2), manyY.flatten(1, 2)}, options)));
        }
        QVERIFY_EXCEPTION_THROWN(losses::vicReg(random({1, 3}), random({1, 3}), options, alone()), c10::Error);
    }

    void vicRegL()
    {
        const losses::VicRegLOptions options{{3, 2, 0.5, 1e-3}, 0.6, 5, 2};
        const std::vector<losses::VicRegLView> high{crop(4, 3, 2), crop(4, 3, 2)}, low{crop(4, 2, 1)};
        const losses::VicRegLView views[] = {high[0], high[1], low[0]};
        double expected = 0;
        for (std::size_t i = 0; i < 2; ++i)
            for (std::size_t j = 0; j < 3; ++j) {
                if (i == j) continue;
                expected += 0.6 * 3 * squaredError(views[i].embedding, views[j].embedding) / 4;
                expected += 0.4 * localPart(views[i], views[j], options) / 4;
            }
        for (const auto &view : views)
            expected += 0.6 * (2 * variance(view.embedding, 1e-3) + 0.5 * covariance(view.embedding)) / 3;
        QVERIFY(near(losses::vicRegL(high, low, options, alone()), expected));
    }

    void tico()
    {
        for (const auto &[n, d] : shapes()) {
            losses::Tico tico(d, 0.7, 5.0);
            tico->to(torch::kFloat64);
            torch::Tensor c = torch::zeros({d, d}, torch::kFloat64);
            for (const bool update : {true, false, true}) {
                const torch::Tensor z0 = random({n, d}), z1 = random({n, d});
                const torch::Tensor a = z0 / z0.norm(2, 1, true), b = z1 / z1.norm(2, 1, true);
                torch::Tensor second = torch::zeros_like(c);
                for (std::int64_t i = 0; i < n; ++i) second += torch::outer(a[i], a[i]) / double(n);
                const torch::Tensor now = 0.7 * c + 0.3 * second;
                double expected = 1;
                for (std::int64_t i = 0; i < n; ++i)
                    expected += (5 * a[i].dot(now.mv(a[i])) - a[i].dot(b[i])).item<double>() / double(n);
                QVERIFY(near(tico->forward(z0, z1, alone(), update), expected));
                if (update) c = now;
                QVERIFY(torch::allclose(tico->covariance, c, 1e-12, 1e-14));
            }
        }
    }

    void wmse()
    {
        losses::WmseOptions options(3);
        options.views = 3;
        options.size = 8;
        options.iterations = 2;
        losses::Wmse wmse(options);
        wmse->to(torch::kFloat64);
        const torch::Tensor z = random({3 * 16, 3});
        const std::vector<torch::Tensor> orders{torch::randperm(16), torch::randperm(16)};
        double expected = 0;
        for (const auto &order : orders)
            for (const auto &piece : order.split(8)) {
                std::vector<Rows> white;
                for (std::int64_t v = 0; v < 3; ++v) {
                    const torch::Tensor own = z.narrow(0, 16 * v, 16).index_select(0, piece);
                    const torch::Tensor lower = torch::linalg_cholesky(own.t().cov());
                    white.push_back(rows(torch::matmul(own - own.mean(0), torch::inverse(lower).t())));
                }
                for (std::size_t v = 0; v < 3; ++v)
                    for (std::size_t u = 0; u < v; ++u)
                        for (std::size_t i = 0; i < 8; ++i)
                            expected += (2 - 2 * cosine(white[v][i], white[u][i])) / 16 / (2 * 3);
            }
        QVERIFY(near(wmse->forward(z, alone(), orders), expected));
        wmse->eval();
        const torch::Tensor kept = wmse->running_variance.clone();
        wmse->forward(z, alone());
        QVERIFY(wmse->running_variance.equal(kept));
        QVERIFY_EXCEPTION_THROWN(wmse->forward(random({3 * 12, 3}), alone()), c10::Error);
    }

    void froSsl()
    {
        for (const auto &[n, d] : shapes()) {
            std::vector<torch::Tensor> views, unit;
            for (int v = 0; v < 3; ++v) views.push_back(random({n, d}));
            for (const auto &view : views) unit.push_back(view / view.norm(2, 0, true));
            const torch::Tensor middle = (unit[0] + unit[1] + unit[2]) / 3;
            double expected = 0;
            for (const auto &z : unit) {
                const Rows columns = rows(z.t());
                double squares = 0;
                for (const Row &a : columns)
                    for (const Row &b : columns) squares += std::pow(dot(a, b) / double(d), 2);
                expected += std::log(squares) + 0.4 * 3 * double(d) * squaredError(z, middle);
            }
            QVERIFY(near(losses::froSsl(views, 0.4, alone()), expected));
        }
    }
};

QTEST_GUILESS_MAIN(Redundancy)
#include "tst_redundancy.moc"
