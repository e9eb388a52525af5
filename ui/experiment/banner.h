// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFrame>

class QLabel;
class QScrollArea;

namespace parallax::experiment {

/// A message in place, above the form: every line of it, closed by the person or by the next success.
class Banner : public QFrame
{
    Q_OBJECT
public:
    explicit Banner(QWidget *parent = nullptr);
    void showError(const QString &title, const QString &text);
    QString text() const;

protected:
    void paintEvent(QPaintEvent *event) override;
    void resizeEvent(QResizeEvent *event) override;

private:
    void fitHeight();
    QLabel *m_title, *m_text;
    QScrollArea *m_scroll;
};

} // namespace parallax::experiment
