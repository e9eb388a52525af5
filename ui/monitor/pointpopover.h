// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFrame>

class QLabel;
class QPushButton;

namespace parallax::ui {

/// What a point of the kNN curve says, and the way from it to the images of that epoch.
class PointPopover : public QFrame
{
    Q_OBJECT
public:
    explicit PointPopover(QWidget *parent);
    /// `change` from the point before, NaN for the first. `stored`: embeddings of that epoch exist.
    void showPoint(int epoch, double value, double change, bool stored, const QPoint &at);

Q_SIGNALS:
    void openRequested(int epoch);

protected:
    bool eventFilter(QObject *watched, QEvent *event) override;

private:
    QLabel *m_title, *m_value, *m_change, *m_none;
    QPushButton *m_open;
    int m_epoch = 0;
};

} // namespace parallax::ui
