// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QElapsedTimer>
#include <QStyledItemDelegate>
#include <QTableView>
#include <QTimer>

#include <vector>

namespace parallax::session {
struct RunSummary;
}

namespace parallax::ui {

/// Paints a cell of the table of runs: state, name, text, number or sparkline, by its column.
class RunDelegate : public QStyledItemDelegate
{
    Q_OBJECT
public:
    using QStyledItemDelegate::QStyledItemDelegate;
    void paint(QPainter *painter, const QStyleOptionViewItem &option, const QModelIndex &index) const override;
    QSize sizeHint(const QStyleOptionViewItem &option, const QModelIndex &index) const override;

private:
    void paintState(QPainter *painter, const QRectF &area, const session::RunSummary &run, const QString &text,
                    double turned) const;
    void paintName(QPainter *painter, const QRectF &area, const session::RunSummary &run, const QString &text) const;
    void paintSparkline(QPainter *painter, const QRectF &area, const session::RunSummary &run) const;
};

/// The table itself: rows light up as a whole, no grid, the header sorts. The icons of running runs turn, all by one timer
/// that runs only while such a row can be seen.
class RunTable : public QTableView
{
    Q_OBJECT
public:
    explicit RunTable(QWidget *parent = nullptr);
    int hoveredRow() const { return m_hovered; }
    double turned() const; ///< degrees, of a running run's icon at this moment
    bool isTurning() const { return m_turning.isActive(); }

Q_SIGNALS:
    void opened(const QModelIndex &index); ///< double-click or Return
    void previewToggled();                 ///< Space

protected:
    void mouseMoveEvent(QMouseEvent *event) override;
    void leaveEvent(QEvent *event) override;
    void keyPressEvent(QKeyEvent *event) override;
    void paintEvent(QPaintEvent *event) override;

private:
    void setHovered(int row);
    void turn();
    std::vector<QModelIndex> runningStates() const; ///< cells on the screen

    int m_hovered = -1;
    QTimer m_turning;
    QElapsedTimer m_clock;
};

} // namespace parallax::ui
