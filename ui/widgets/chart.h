// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "ui/widgets/linestyle.h"
#include "ui/widgets/theme.h"

#include <QTimer>
#include <QWidget>

#include <functional>
#include <optional>
#include <vector>

class QCPGraph;
class QCustomPlot;

namespace parallax::ui {

class ChartCursor;
class ChartOverlay;

/// One line of a chart. x never goes back; y may hold NaN: a gap, marked on the base line.
struct ChartSeries {
    QString name;
    int color = 0;                    ///< categorical palette
    std::optional<Token> ink;         ///< instead of a categorical colour: device totals, reserved memory
    std::vector<double> x, y;         ///< raw, undecimated
    std::vector<double> pastX, pastY; ///< what a resume replaced: shown faintly, never joined to the rest
    std::vector<double> low, high; ///< band around y, as long as x, or empty: a spread, from low to high; smoothed as y is
    bool smooth = true;            ///< takes part in smoothing; then the raw trace shows behind, where there is no band
    bool fill = false;             ///< light area below
    LineStyle style = LineStyle::Solid;
    double opacity = 1; ///< of all that is drawn of it: below 1, others stand out
    bool dots = false;  ///< every value is a point that can be clicked
    double width = 1.75;
};

struct ReferenceLine {
    double y = 0;
    QString label;
    bool below = false; ///< label under the line
};

struct ChartEvent {
    enum class Kind { Checkpoint, Evaluation, Resume, Warning, Failure };
    double x = 0;
    Kind kind = Kind::Checkpoint;
    QString label;
};

enum class XScale { Number, Elapsed, Clock }; ///< plain; seconds since the start; seconds since 1970

/// A line chart of the design on QCustomPlot: no box, horizontal grid, smoothed line over a faint raw trace, events on the
/// base line, a cursor that other charts share. Smoothing runs over the full series, then lines are cut down to pixels;
/// redraws are queued and at most 30 a second.
class Chart : public QWidget
{
    Q_OBJECT
public:
    explicit Chart(QWidget *parent = nullptr);

    void setSeries(std::vector<ChartSeries> series);
    const std::vector<ChartSeries> &series() const { return m_series; }
    /// Fades a line or brings it back, without touching its values: to light up one of many.
    void setOpacity(std::size_t series, double opacity);
    void setReferences(std::vector<ReferenceLine> lines);
    void setEvents(std::vector<ChartEvent> events);
    /// Weight of the debiased exponential average, 0 (off) to below 1.
    void setSmoothing(double weight);
    void setXScale(XScale scale);
    void setLogY(bool on);
    /// The y axis starts at 0 unless it is logarithmic.
    void setFromZero(bool on);
    /// y values are counts or shares: "3,912", "0.8706"; for the values in the head.
    void setDecimals(int decimals) { m_decimals = decimals; }
    QString valueText(double value) const;
    /// A disc with a halo at the end of each line.
    void setLive(bool live);
    /// The x range shows everything so far, also as more comes; off after a zoom, on again by fit().
    bool following() const { return m_following; }
    void setFollowing(bool on);
    void fit() { setFollowing(true); }
    /// Small charts have fewer labels and narrower margins, and take no mouse.
    void setCompact(bool compact);

    /// Where the common cursor stands; nothing: no cursor.
    void setCursor(std::optional<double> x);
    /// The value of series i at the cursor, else its last one; as drawn (smoothed). NaN: none.
    double shownValue(std::size_t i) const;
    void setXRange(double from, double to);
    QPair<double, double> xRange() const;
    QPair<double, double> yRange() const;

    /// What is drawn of series i after smoothing and decimation; for tests and exports.
    struct Drawn {
        std::vector<double> x, y;
    };
    Drawn drawn(std::size_t i) const;
    /// The lines' raw values as CSV (RFC 4180) in C form: series, x (headed `xName`), value; all of them or those in view.
    std::string csv(const std::string &xName, bool visibleOnly) const;
    /// Writes what is drawn, with title and names above it, as PNG (twice the size), SVG or PDF, by the file's ending. Labels
    /// are as the default QLocale has them.
    Status savePicture(const QString &file, const QString &title);
    /// Works through what is queued now: before a grab.
    void flush();

    QSize sizeHint() const override { return {320, 200}; }
    QSize minimumSizeHint() const override { return {120, 80}; }

Q_SIGNALS:
    void cursorMoved(std::optional<double> x);
    void valuesChanged();                      ///< shownValue of some series is another
    void rangeChanged(double from, double to); ///< by the person: wheel or drag
    void fitted();                             ///< by the person: double-click
    void pointClicked(std::size_t series, double x, double y, const QPoint &at);

protected:
    bool eventFilter(QObject *watched, QEvent *event) override;
    void resizeEvent(QResizeEvent *event) override;
    void showEvent(QShowEvent *event) override;

private:
    struct Line {
        QCPGraph *raw = nullptr, *past = nullptr, *main = nullptr, *low = nullptr, *high = nullptr;
        std::vector<double> smoothed;                  ///< as long as the series
        std::vector<double> smoothedLow, smoothedHigh; ///< as long as its band
    };

    void schedule();
    void rebuild();
    void matchLines();
    void styleAll();
    void smoothAll();
    std::optional<std::pair<double, double>> dataRange() const;
    void fitRange();
    void fitValues();
    void drawLines();
    void drawMarks();
    void updateCursor();
    void takeCursor(std::optional<double> x);
    void pan(const QPoint &to);
    void zoom(double factor, int pixel);
    void setRangeByPerson(double from, double to);
    void clicked(const QPoint &at);
    QColor inkOf(const ChartSeries &series) const;
    std::optional<std::size_t> indexAt(std::size_t series, double x) const;

    QCustomPlot *m_plot;
    ChartOverlay *m_overlay;
    ChartCursor *m_cursorItem;
    QTimer m_redraw;
    std::vector<ChartSeries> m_series;
    std::vector<Line> m_lines;
    std::vector<ReferenceLine> m_references;
    std::vector<ChartEvent> m_events;
    std::optional<double> m_cursor;
    std::optional<QPoint> m_pressed; ///< where a drag or click began
    double m_pressedFrom = 0, m_pressedTo = 0;
    XScale m_xScale = XScale::Number;
    double m_smoothing = 0;
    int m_decimals = -1;
    bool m_logY = false, m_fromZero = false, m_live = false, m_following = true, m_compact = false, m_owner = false;
    bool m_smoothIsStale = false, m_dragged = false;
};

/// Links charts: one cursor and one x range for all, the x value in the dark label of the one under the mouse.
class ChartGroup : public QObject
{
    Q_OBJECT
public:
    using QObject::QObject;
    void add(Chart *chart);
    void fit();
    void setFollowing(bool on);
    bool following() const;

Q_SIGNALS:
    void followingChanged(bool following);

private:
    std::vector<Chart *> m_charts;
};

} // namespace parallax::ui
