// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/metrics/series.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <random>

using namespace parallax::metrics;

namespace {

constexpr double missing = std::numeric_limits<double>::quiet_NaN();

struct Extent {
    double low = INFINITY, high = -INFINITY;
    void add(double y)
    {
        low = std::min(low, y);
        high = std::max(high, y);
    }
    bool operator==(const Extent &) const = default;
};

/// Smallest and largest value a pixel column, straight from its definition.
std::vector<Extent> extents(const std::vector<double> &x, const std::vector<double> &y, double from, double to, int pixels)
{
    std::vector<Extent> columns;
    columns.resize(std::size_t(pixels));
    for (std::size_t i = 0; i < x.size(); ++i) {
        if (x[i] < from || x[i] > to || std::isnan(y[i])) continue;
        const int column = std::min(pixels - 1, int((x[i] - from) * (pixels / (to - from))));
        columns[std::size_t(column)].add(y[i]);
    }
    return columns;
}

} // namespace

class Decimate : public QObject
{
    Q_OBJECT

private:
    std::vector<double> m_x, m_y; ///< a million points

private Q_SLOTS:
    void initTestCase()
    {
        std::mt19937 random(3);
        std::normal_distribution<> noise;
        for (int i = 0; i < 1'000'000; ++i) {
            m_x.push_back(i);
            m_y.push_back(std::sin(i * 1e-5) + 0.1 * noise(random));
        }
        m_y[123'456] = 50; // a single peak must never be lost
    }

    void everyColumnKeepsItsExtent_data()
    {
        QTest::addColumn<double>("from");
        QTest::addColumn<double>("to");
        QTest::addColumn<int>("pixels");
        QTest::newRow("all") << 0.0 << 999'999.0 << 1000;
        QTest::newRow("a part") << 100'000.0 << 350'000.0 << 800;
        QTest::newRow("few points") << 10.0 << 500.0 << 800;
        QTest::newRow("one pixel") << 0.0 << 999'999.0 << 1;
    }
    void everyColumnKeepsItsExtent()
    {
        QFETCH(double, from);
        QFETCH(double, to);
        QFETCH(int, pixels);
        const Polyline line = decimate(m_x, m_y, from, to, pixels);
        QCOMPARE(line.x.size(), line.y.size());
        QVERIFY(line.x.size() <= std::size_t(4 * pixels + 2));
        QVERIFY(std::ranges::is_sorted(line.x));
        QVERIFY(extents(line.x, line.y, from, to, pixels) == extents(m_x, m_y, from, to, pixels));
    }

    void linesLeaveThePlot()
    {
        const Polyline line = decimate(m_x, m_y, 100.5, 200.5, 10);
        QCOMPARE(line.x.front(), 100.0);
        QCOMPARE(line.x.back(), 201.0);
        QCOMPARE(decimate(m_x, m_y, -50, 10, 10).x.front(), 0.0);
        const Polyline between = decimate(m_x, m_y, 7.2, 7.8, 10); // no point inside: the line through it is still there
        QCOMPARE(between.x, (std::vector<double>{7, 8}));
    }

    void gapsStay()
    {
        std::vector<double> y(m_y.begin(), m_y.begin() + 10'000), x(m_x.begin(), m_x.begin() + 10'000);
        std::fill(y.begin() + 3'000, y.begin() + 4'000, missing);
        y[7'777] = INFINITY;
        const Polyline line = decimate(x, y, 0, 9'999, 100);
        bool inGap = false, atSingle = false;
        for (std::size_t i = 0; i < line.x.size(); ++i) {
            if (line.x[i] >= 3'000 && line.x[i] < 4'000) QVERIFY(std::isnan(line.y[i]));
            inGap = inGap || (line.x[i] >= 3'000 && line.x[i] < 4'000);
            atSingle = atSingle || (line.x[i] == 7'777 && std::isnan(line.y[i]));
        }
        QVERIFY(inGap && atSingle);
        QVERIFY(line.x.size() <= 5 * 100 + 2);
    }

    void oddQuestionsHaveAnswers()
    {
        QVERIFY(decimate({}, {}, 0, 1, 100).x.empty());
        QVERIFY(decimate(m_x, m_y, 5, 4, 100).x.empty());
        QVERIFY(decimate(m_x, m_y, missing, 4, 100).x.size() < 10);
        QCOMPARE(decimate(m_x, m_y, 7, 7, 100).x, (std::vector<double>{6, 7, 8}));
        const Polyline all = decimate(m_x, m_y, -INFINITY, INFINITY, 100);
        QCOMPARE(all.x.front(), 0.0);
        QCOMPARE(all.x.back(), 999'999.0);
        QVERIFY(all.x.size() > 100);
        const std::vector<double> sameX(1000, 5.0), someY(m_y.begin(), m_y.begin() + 1000);
        QVERIFY(decimate(sameX, someY, 5, 5, 10).x.size() <= 5);
        QVERIFY(decimate(m_x, m_y, 0, 100, -3).x.size() <= 6);
    }
};

QTEST_GUILESS_MAIN(Decimate)
#include "tst_decimate.moc"
