// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/metrics/series.h"
#include "ui/widgets/chart.h"
#include "ui/widgets/chartcard.h"
#include "ui/widgets/format.h"

#include <QImage>
#include <QLocale>
#include <QPainter>
#include <QSignalSpy>
#include <QTest>
#include <QWheelEvent>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <set>

#include <qcustomplot.h>

using namespace parallax;
using namespace parallax::ui;

namespace {

const double notANumber = std::numeric_limits<double>::quiet_NaN();

ChartSeries noisy(std::size_t n, unsigned seed = 1)
{
    std::mt19937 random(seed);
    std::normal_distribution<double> normal;
    ChartSeries series;
    for (std::size_t i = 0; i < n; ++i) {
        series.x.push_back(double(i));
        series.y.push_back(std::exp(-double(i) / double(n) * 3) + 0.1 * normal(random));
    }
    return series;
}

QCustomPlot *plotOf(Chart *chart) { return chart->findChild<QCustomPlot *>(); }

} // namespace

class TestChart : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase() { Theme::instance().setMode(Theme::Mode::Light, false); }
    void cleanup() { QLocale::setDefault(QLocale::c()); }

    void smoothsBeforeItDecimates()
    {
        Chart chart;
        chart.resize(400, 200);
        chart.setSmoothing(0.9);
        const ChartSeries series = noisy(50'000);
        const std::vector<double> smooth = metrics::smooth(series.y, 0.9);
        chart.setSeries({series});
        chart.flush();
        const Chart::Drawn drawn = chart.drawn(0);
        QVERIFY(!drawn.x.empty());
        QVERIFY2(drawn.x.size() <= 4 * 400 + 2, qPrintable(QString::number(drawn.x.size())));
        for (std::size_t i = 0; i < drawn.x.size(); ++i) {
            if (i > 0) QVERIFY(drawn.x[i] >= drawn.x[i - 1]);
            QCOMPARE(drawn.y[i], smooth[std::size_t(drawn.x[i])]);
        }
        QCOMPARE(chart.shownValue(0), smooth.back());
    }

    void missingValuesAreGaps()
    {
        Chart chart;
        chart.resize(400, 200);
        ChartSeries series = noisy(100);
        series.y[50] = notANumber;
        chart.setSeries({series});
        chart.flush();
        const Chart::Drawn drawn = chart.drawn(0);
        const auto gaps = std::count_if(drawn.y.begin(), drawn.y.end(), [](double v) { return std::isnan(v); });
        QVERIFY(gaps >= 1);
        series.y.assign(series.y.size(), notANumber);
        chart.setSeries({series});
        chart.flush(); // no finite value at all: an empty chart, no crash
        QVERIFY(std::isnan(chart.shownValue(0)));
        QVERIFY(std::isfinite(chart.yRange().first) && chart.yRange().first < chart.yRange().second);
    }

    void aConstantOrASinglePointHasARange()
    {
        Chart chart;
        chart.resize(300, 200);
        ChartSeries series;
        series.x = {7};
        series.y = {3};
        chart.setSeries({series});
        chart.flush();
        QVERIFY(chart.xRange().first < chart.xRange().second);
        QVERIFY(chart.yRange().first < 3 && chart.yRange().second > 3);
        chart.setLogY(true);
        chart.flush();
        QVERIFY(chart.yRange().first > 0 && chart.yRange().first < 3 && chart.yRange().second > 3);
        chart.setSeries({});
        chart.flush();
        QVERIFY(chart.yRange().first > 0);
    }

    void zeroAndLogAxes()
    {
        Chart chart;
        chart.resize(300, 200);
        chart.setFromZero(true);
        ChartSeries series;
        series.x = {0, 1, 2};
        series.y = {100, 110, 105};
        chart.setSeries({series});
        chart.flush();
        QCOMPARE(chart.yRange().first, 0.0);
        series.y = {0.001, 0, 100}; // a logarithm has no zero
        chart.setLogY(true);
        chart.setSeries({series});
        chart.flush();
        QVERIFY(chart.yRange().first > 0 && chart.yRange().first <= 0.001);
    }

    void nearReferencesAreShownFarOnesNot()
    {
        Chart chart;
        chart.resize(300, 200);
        ChartSeries series;
        series.x = {0, 1, 2};
        series.y = {1, 2, 3};
        chart.setSeries({series});
        chart.setReferences({{3.5, "near", false}, {400, "far", false}});
        chart.flush();
        QVERIFY(chart.yRange().second >= 3.5);
        QVERIFY(chart.yRange().second < 10);
    }

    void redrawsAreGathered()
    {
        Chart chart;
        chart.resize(300, 200);
        chart.show();
        QVERIFY(QTest::qWaitForWindowExposed(&chart));
        chart.flush();
        QSignalSpy values(&chart, &Chart::valuesChanged);
        QSignalSpy replots(plotOf(&chart), &QCustomPlot::afterReplot);
        for (unsigned i = 0; i < 100; ++i) chart.setSeries({noisy(50, i)});
        QVERIFY(values.wait());
        QTRY_COMPARE(replots.count(), 1);
        QCOMPARE(values.count(), 1);
    }

    void wheelZoomsDoubleClickFits()
    {
        Chart chart;
        chart.resize(400, 200);
        chart.setSeries({noisy(1000)});
        chart.show();
        chart.flush();
        const auto all = chart.xRange();
        QSignalSpy changed(&chart, &Chart::rangeChanged), fitted(&chart, &Chart::fitted);
        QWidget *plot = plotOf(&chart);
        const auto wheel = [&](int delta) {
            QWheelEvent event(QPointF(200, 100), plot->mapToGlobal(QPointF(200, 100)), {}, QPoint(0, delta), Qt::NoButton,
                              Qt::NoModifier, Qt::NoScrollPhase, false);
            QApplication::sendEvent(plot, &event);
        };
        wheel(240);
        QCOMPARE(changed.count(), 1);
        QVERIFY(!chart.following());
        QVERIFY(chart.xRange().second - chart.xRange().first < 0.8 * (all.second - all.first));
        chart.setSeries({noisy(2000)}); // more data: a zoom stays
        const auto zoomed = chart.xRange();
        chart.flush();
        QCOMPARE(chart.xRange(), zoomed);
        QTest::mouseDClick(plot, Qt::LeftButton, {}, QPoint(200, 100));
        QCOMPARE(fitted.count(), 1);
        chart.flush();
        QVERIFY(chart.following());
        QVERIFY(chart.xRange().second >= 1999);
        wheel(240);
        for (int i = 0; i < 20; ++i) wheel(-240);
        QVERIFY(chart.following()); // out beyond everything is everything
    }

    void dragPans()
    {
        Chart chart;
        chart.resize(400, 200);
        chart.setSeries({noisy(1000)});
        chart.show();
        chart.setXRange(400, 600);
        chart.flush();
        QWidget *plot = plotOf(&chart);
        QTest::mousePress(plot, Qt::LeftButton, {}, QPoint(200, 100));
        QTest::mouseMove(plot, QPoint(260, 100));
        QMouseEvent move(QEvent::MouseMove, QPointF(300, 100), plot->mapToGlobal(QPointF(300, 100)), Qt::NoButton,
                         Qt::LeftButton, {});
        QApplication::sendEvent(plot, &move);
        QTest::mouseRelease(plot, Qt::LeftButton, {}, QPoint(300, 100));
        QVERIFY(chart.xRange().first < 380);
        QVERIFY(std::abs(chart.xRange().second - chart.xRange().first - 200) < 1e-6);
    }

    void cursorAndRangeAreShared()
    {
        QWidget window;
        window.resize(800, 200);
        Chart a(&window), b(&window);
        a.resize(400, 200);
        b.setGeometry(400, 0, 400, 200);
        ChartGroup group;
        group.add(&a);
        group.add(&b);
        ChartSeries left = noisy(101), right = left;
        for (double &y : right.y) y += 10;
        a.setSeries({left});
        b.setSeries({right});
        window.show();
        a.flush();
        b.flush();
        QMouseEvent move(QEvent::MouseMove, QPointF(200, 100), a.mapToGlobal(QPointF(200, 100)), Qt::NoButton, Qt::NoButton,
                         {});
        QApplication::sendEvent(plotOf(&a), &move);
        const double va = a.shownValue(0), vb = b.shownValue(0);
        QVERIFY(std::abs(vb - va - 10) < 1e-9);
        QVERIFY(va != left.y.back());
        QEvent leave(QEvent::Leave);
        QApplication::sendEvent(plotOf(&a), &leave);
        QCOMPARE(a.shownValue(0), left.y.back());
        QCOMPARE(b.shownValue(0), right.y.back());
        QWheelEvent wheel(QPointF(200, 100), a.mapToGlobal(QPointF(200, 100)), {}, QPoint(0, 240), Qt::NoButton,
                          Qt::NoModifier, Qt::NoScrollPhase, false);
        QApplication::sendEvent(plotOf(&a), &wheel);
        QCOMPARE(b.xRange(), a.xRange());
        QVERIFY(!group.following());
        group.fit();
        QVERIFY(group.following());
    }

    void aPointCanBeClicked()
    {
        Chart chart;
        chart.resize(400, 200);
        ChartSeries series;
        series.x = {0, 50, 100};
        series.y = {1, 2, 3};
        series.smooth = false;
        series.dots = true;
        chart.setSeries({series});
        chart.show();
        chart.flush();
        QSignalSpy clicked(&chart, &Chart::pointClicked);
        QCustomPlot *plot = plotOf(&chart);
        const QPoint at(int(plot->xAxis->coordToPixel(50)), int(plot->yAxis->coordToPixel(2)));
        QTest::mouseClick(plot, Qt::LeftButton, {}, at + QPoint(0, 40));
        QCOMPARE(clicked.count(), 0);
        QTest::mouseClick(plot, Qt::LeftButton, {}, at + QPoint(3, 2));
        QCOMPARE(clicked.count(), 1);
        QCOMPARE(clicked[0][1].toDouble(), 50.0);
        QCOMPARE(clicked[0][2].toDouble(), 2.0);
    }

    void replacedPartsStayApart()
    {
        Chart chart;
        chart.resize(400, 200);
        ChartSeries series;
        series.x = {0, 10, 20, 30, 40};
        series.y = {5, 4, 3, 2, 1};
        series.pastX = {30, 40};
        series.pastY = {9, 9};
        chart.setSeries({series});
        chart.flush();
        const Chart::Drawn drawn = chart.drawn(0);
        QVERIFY(std::is_sorted(drawn.x.begin(), drawn.x.end()));
        QVERIFY(std::find(drawn.y.begin(), drawn.y.end(), 9) == drawn.y.end());
    }

    void linesAreToldApartBeyondThePalette()
    {
        std::set<std::pair<int, int>> looks; // colour and style
        for (int series = 0; series < 50; ++series) looks.emplace(series % 10, int(lineStyle(series)));
        QCOMPARE(looks.size(), std::size_t(50));
        for (int style = 0; style < 5; ++style) {
            const QPen thin = linePen(Qt::black, 1, LineStyle(style)), wide = linePen(Qt::black, 4, LineStyle(style));
            QCOMPARE(thin.dashPattern().size(), wide.dashPattern().size());
            if (style > 0) QCOMPARE(thin.dashPattern()[1], 4 * wide.dashPattern()[1]); // Qt counts in pen widths
        }
    }

    void aBandIsDrawnAroundItsLine()
    {
        Chart chart;
        chart.resize(400, 200);
        ChartSeries series;
        for (int i = 0; i <= 100; ++i) {
            series.x.push_back(i);
            series.y.push_back(5);
            series.low.push_back(3);
            series.high.push_back(8);
        }
        chart.show();
        chart.setSeries({series});
        chart.flush();
        QVERIFY(chart.yRange().first < 3 && chart.yRange().second > 8);
        QCustomPlot *plot = plotOf(&chart);
        const auto inkAt = [&](double y) {
            const QPointF at(plot->xAxis->coordToPixel(50), plot->yAxis->coordToPixel(y));
            return plot->grab().toImage().pixelColor(at.toPoint());
        };
        const QColor panel = color(Token::Panel), inside = inkAt(6.7);
        QVERIFY2(inside != panel, qPrintable(inside.name()));
        QCOMPARE(inkAt(4.3), inside);
        QCOMPARE(inkAt(8.3), panel);
        chart.setOpacity(0, 0.25);
        chart.flush();
        const QColor faded = inkAt(6.7);
        QVERIFY2(faded != panel && faded.red() > inside.red(), qPrintable(faded.name()));
        const QPointF place(plot->xAxis->coordToPixel(50), plot->yAxis->coordToPixel(6.7));
        chart.setSeries({}); // the band goes with its line
        chart.flush();
        QCOMPARE(plot->grab().toImage().pixelColor(place.toPoint()), panel);
    }
};

QTEST_MAIN(TestChart)
#include "tst_chart.moc"
