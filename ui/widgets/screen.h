// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <QWidget>

namespace parallax::ui {

/// A page of the main window, with its place on the rail.
class Screen : public QWidget
{
    Q_OBJECT
public:
    Screen(QString title, QString iconName, QWidget *parent = nullptr)
        : QWidget(parent), m_title(std::move(title)), m_iconName(std::move(iconName))
    {
    }
    const QString &title() const { return m_title; }       ///< "New run"
    const QString &iconName() const { return m_iconName; } ///< "newrun"
    /// The screen comes to the front: put the focus where the person goes on.
    virtual void activate() { }

private:
    QString m_title, m_iconName;
};

} // namespace parallax::ui
