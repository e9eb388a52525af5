// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

namespace parallax::ui {

/// The idea of self-supervised learning in one picture: one image, two views, one network, two points that meet.
class Illustration : public QWidget
{
    Q_OBJECT
public:
    explicit Illustration(QWidget *parent = nullptr);
    QSize sizeHint() const override { return {900, 206}; }

protected:
    void paintEvent(QPaintEvent *event) override;
};

} // namespace parallax::ui
