// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QStyledItemDelegate>
#include <QTableView>

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
    void paintState(QPainter *painter, const QRectF &area, const session::RunSummary &run, const QString &text) const;
    void paintName(QPainter *painter, const QRectF &area, const session::RunSummary &run, const QString &text) const;
    void paintSparkline(QPainter *painter, const QRectF &area, const session::RunSummary &run) const;
};

/// The table itself: rows light up as a whole, no grid, the header sorts.
class RunTable : public QTableView
{
    Q_OBJECT
public:
    explicit RunTable(QWidget *parent = nullptr);
    int hoveredRow() const { return m_hovered; }

Q_SIGNALS:
    void opened(const QModelIndex &index); ///< double-click or Return
    void previewToggled();                 ///< Space

protected:
    void mouseMoveEvent(QMouseEvent *event) override;
    void leaveEvent(QEvent *event) override;
    void keyPressEvent(QKeyEvent *event) override;

private:
    void setHovered(int row);
    int m_hovered = -1;
};

} // namespace parallax::ui
