// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/eval/quality.h"

#include <QTest>

#include <cmath>

using namespace parallax;
using eval::FeatureQuality;
using eval::featureQuality;

namespace {

constexpr auto f64 = torch::kFloat64;

bool near(double a, double b, double tolerance = 1e-10) { return std::abs(a - b) <= tolerance * std::max(1.0, std::abs(b)); }

std::vector<double> unitRow(const torch::Tensor &x, std::int64_t row)
{
    std::vector<double> values;
    double length = 0;
    for (std::int64_t d = 0; d < x.size(1); ++d) {
        values.push_back(x[row][d].item<double>());
        length += values.back() * values.back();
    }
    for (double &value : values) value /= std::sqrt(length);
    return values;
}

} // namespace

class Quality : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void formulasTermByTerm()
    {
        torch::manual_seed(3);
        for (const auto &[n, d] : {std::pair{7, 4}, std::pair{5, 9}}) {
            const torch::Tensor x = torch::randn({n, d}, f64) + 0.5, y = x + 0.3 * torch::randn({n, d}, f64);
            const FeatureQuality got = featureQuality(x, y);
            double alignment = 0, kernel = 0, cosine = 0, spread = 0;
            for (int i = 0; i < n; ++i) {
                const auto a = unitRow(x, i), b = unitRow(y, i);
                for (int k = 0; k < d; ++k) alignment += (a[k] - b[k]) * (a[k] - b[k]) / n;
                for (int j = 0; j < n; ++j) {
                    if (i == j) continue;
                    const auto c = unitRow(x, j);
                    double squared = 0, dot = 0;
                    for (int k = 0; k < d; ++k) {
                        squared += (a[k] - c[k]) * (a[k] - c[k]);
                        dot += a[k] * c[k];
                    }
                    kernel += std::exp(-2 * squared) / (n * (n - 1));
                    cosine += dot / (n * (n - 1));
                }
            }
            for (int k = 0; k < d; ++k) {
                double mean = 0, square = 0;
                for (int i = 0; i < n; ++i) mean += unitRow(x, i)[k] / n;
                for (int i = 0; i < n; ++i) square += std::pow(unitRow(x, i)[k] - mean, 2) / n;
                spread += std::sqrt(square) / d;
            }
            QVERIFY(near(got.alignment, alignment));
            QVERIFY(near(got.uniformity, std::log(kernel)));
            QVERIFY(near(got.meanCosine, cosine));
            QVERIFY(near(got.spread, spread * std::sqrt(d)));
            QCOMPARE(got.images, std::int64_t(n));
        }
    }

    void rankCountsDirections()
    {
        const torch::Tensor identity = torch::eye(6, f64);
        QVERIFY(near(featureQuality(identity, identity).rankme, 6));
        const torch::Tensor line = torch::arange(1, 7, f64).unsqueeze(1) * torch::ones({1, 4}, f64);
        QVERIFY(near(featureQuality(line, line).rankme, 1, 1e-6));
        // Singular values 3 and 1: exp of the entropy of 3/4 and 1/4.
        const torch::Tensor two = torch::diag(torch::tensor({3.0, 1.0, 0.0}, f64));
        QVERIFY(near(featureQuality(two, two).rankme, std::exp(-0.75 * std::log(0.75) - 0.25 * std::log(0.25))));
    }

    void aCollapseIsNamed()
    {
        torch::manual_seed(5);
        const torch::Tensor even = torch::randn({50, 16});
        QVERIFY(eval::alarms(featureQuality(even, even)).empty());
        QVERIFY(near(featureQuality(even, even).spread, 1, 0.05));
        const torch::Tensor point = torch::ones({50, 16}) + 1e-4 * even;
        const auto collapsed = eval::alarms(featureQuality(point, point));
        QCOMPARE(collapsed.size(), std::size_t(1));
        QVERIFY2(collapsed[0].find("collapsed") != std::string::npos, collapsed[0].c_str());
        const torch::Tensor line = torch::randn({50, 1}) * torch::randn({1, 16});
        QVERIFY(eval::alarms(featureQuality(line, line)).at(0).find("line") != std::string::npos);
    }

    void oddInputIsFinite()
    {
        const torch::Tensor zero = torch::zeros({4, 3});
        const FeatureQuality dead = featureQuality(zero, zero);
        QCOMPARE(dead.spread, 0.0);
        QVERIFY(std::isnan(dead.rankme) && dead.uniformity == 0.0);
        QVERIFY(!eval::alarms(dead).empty());
        const torch::Tensor broken = torch::full({4, 3}, std::nan(""));
        QVERIFY(std::isnan(featureQuality(broken, broken).spread));
        QVERIFY(eval::alarms(featureQuality(broken, broken)).at(0).find("NaN") != std::string::npos);
        const FeatureQuality single = featureQuality(torch::ones({1, 3}), torch::ones({1, 3}));
        QVERIFY(std::isnan(single.uniformity) && eval::alarms(single).empty());
        QCOMPARE(featureQuality(torch::zeros({0, 3}), torch::zeros({0, 3})).images, std::int64_t(0));
        QVERIFY_EXCEPTION_THROWN(featureQuality(torch::zeros({2, 3}), torch::zeros({3, 3})), c10::Error);
    }
};

QTEST_GUILESS_MAIN(Quality)
#include "tst_quality.moc"
