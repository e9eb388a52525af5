// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFrame>
#include <QTimer>

class QLabel;

namespace parallax::ui {

/// A line above the status bar that tells what became of a command; errors stay until closed.
class Toast : public QFrame
{
    Q_OBJECT
public:
    explicit Toast(QWidget *parent);
    void tell(const QString &message);
    void warn(const QString &message);
    QString text() const;

protected:
    bool eventFilter(QObject *watched, QEvent *event) override;

private:
    void popUp(const QString &message, bool error);
    void place();
    QLabel *m_icon, *m_text;
    QTimer m_hide;
};

} // namespace parallax::ui
