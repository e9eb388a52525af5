// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/embeddings/classmodel.h"

#include <QFrame>

class QListView;

namespace parallax::embeddings {

/// Colour, name and count of each class, over the map. A click hides or shows it, a double-click leaves it alone on the map;
/// Space and Return do the same from the keyboard.
class Legend : public QFrame
{
    Q_OBJECT
public:
    explicit Legend(ClassModel *model, QWidget *parent = nullptr);
    QListView *view() const { return m_view; }
    /// As wide and high as its classes ask for, within `room`.
    void fitInto(const QSize &room);

Q_SIGNALS:
    void hoveredChanged(int row); ///< -1: none

protected:
    bool eventFilter(QObject *watched, QEvent *event) override;

private:
    ClassModel *m_model;
    QListView *m_view;
};

} // namespace parallax::embeddings
