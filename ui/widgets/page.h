// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/widgets/theme.h"

#include <QWidget>

#include <vector>

class QHBoxLayout;
class QLabel;
class QPushButton;

namespace parallax::ui {

/// The top of a page: title, a muted line beside it, controls at the left and right. 56 px, hairline below.
class PageHeader : public QWidget
{
    Q_OBJECT
public:
    explicit PageHeader(const QString &title, QWidget *parent = nullptr);
    void setNote(const QString &note);
    void addLeft(QWidget *widget);
    void addRight(QWidget *widget);

protected:
    void paintEvent(QPaintEvent *event) override;

private:
    QLabel *m_note;
    QHBoxLayout *m_left, *m_right;
};

/// A horizontal strip of controls on panel colour with a hairline below.
class Strip : public QWidget
{
    Q_OBJECT
public:
    explicit Strip(int height, QWidget *parent = nullptr);
    QHBoxLayout *row() const { return m_row; }

protected:
    void paintEvent(QPaintEvent *event) override;

private:
    QHBoxLayout *m_row;
};

struct KeyFigure {
    QString caption, value, note;
    Token ink = Token::Text;
    bool operator==(const KeyFigure &) const = default;
};

/// Cells side by side: caption above, a large figure, a muted note. Painted, with tabular digits.
class KeyFigures : public QWidget
{
    Q_OBJECT
public:
    explicit KeyFigures(QWidget *parent = nullptr);
    void setFigures(std::vector<KeyFigure> figures);
    const std::vector<KeyFigure> &figures() const { return m_figures; }
    QSize sizeHint() const override;

protected:
    void paintEvent(QPaintEvent *event) override;

private:
    std::vector<KeyFigure> m_figures;
};

/// What a page says while it has nothing to show: icon, sentence, what to do.
class EmptyState : public QWidget
{
    Q_OBJECT
public:
    EmptyState(const QString &iconName, const QString &title, const QString &text, QWidget *parent = nullptr);
    void setTexts(const QString &title, const QString &text);
    /// Shows a button; `clicked` is connected by the caller.
    QPushButton *setAction(const QString &text, bool primary = false);

protected:
    void paintEvent(QPaintEvent *event) override;

private:
    QString m_icon;
    QLabel *m_title, *m_text;
    QPushButton *m_action = nullptr;
};

} // namespace parallax::ui
