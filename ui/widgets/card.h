// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFrame>

class QHBoxLayout;
class QLabel;
class QVBoxLayout;

namespace parallax::ui {

class ElidedLabel;

/// A framed panel: 32-px head with title, subtitle and room at the right, below it the body.
class Card : public QFrame
{
    Q_OBJECT
public:
    explicit Card(const QString &title = QString(), const QString &subtitle = QString(), QWidget *parent = nullptr);
    void setTitle(const QString &title);
    void setSubtitle(const QString &subtitle);
    QString title() const;
    /// "", "accent", "drop", "error", "warn": the frame's colour.
    void setTone(const QString &tone);
    /// At the right end of the head.
    void addHeadWidget(QWidget *widget);
    /// Where the card's content goes: padding 12 at the sides and below.
    QVBoxLayout *body() const { return m_body; }
    /// No padding: for charts and tables that fill the card up to its frame.
    void setFlush();

private:
    QWidget *m_head;
    QLabel *m_title;
    ElidedLabel *m_subtitle;
    QHBoxLayout *m_headRight;
    QVBoxLayout *m_body;
};

} // namespace parallax::ui
