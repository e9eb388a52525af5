// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAbstractButton>
#include <QButtonGroup>
#include <QWidget>

class QVBoxLayout;

namespace parallax::ui {

/// One place on the rail: icon over label, 68 × 56.
class RailButton : public QAbstractButton
{
    Q_OBJECT
public:
    RailButton(const QString &iconName, const QString &label, QWidget *parent = nullptr);
    /// A dot: something runs there.
    void setActive(bool active);
    QSize sizeHint() const override;

protected:
    void paintEvent(QPaintEvent *event) override;
    void enterEvent(QEnterEvent *event) override;
    void leaveEvent(QEvent *event) override;

private:
    QString m_icon;
    bool m_active = false;
};

/// The rail at the left: one of its screens is in front. Arrow keys move along it.
class RailBar : public QWidget
{
    Q_OBJECT
public:
    explicit RailBar(QWidget *parent = nullptr);
    RailButton *add(const QString &iconName, const QString &label);
    void setCurrent(int index);
    int current() const { return m_group.checkedId(); }
    RailButton *button(int index) const;

Q_SIGNALS:
    void chosen(int index);

protected:
    void paintEvent(QPaintEvent *event) override;
    void keyPressEvent(QKeyEvent *event) override;

private:
    QButtonGroup m_group;
    QVBoxLayout *m_layout;
};

} // namespace parallax::ui
