// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAbstractButton>
#include <QButtonGroup>
#include <QWidget>

#include <vector>

class QLabel;
class QPushButton;

namespace parallax::experiment {

class Draft;

/// "Optimiser   ● 2": a section's name, how many of its settings were changed, a sign when one of them is wrong.
class SectionButton : public QAbstractButton
{
    Q_OBJECT
public:
    SectionButton(const QString &name, const QString &group, QWidget *parent);
    QString group() const { return m_group; }
    void setCounts(int changed, int wrong);
    QSize sizeHint() const override;

protected:
    void paintEvent(QPaintEvent *event) override;

private:
    QString m_group;
    int m_changed = 0, m_wrong = 0;
};

/// The sections of the form at the left, and how much was changed in all.
class SectionList : public QWidget
{
    Q_OBJECT
public:
    explicit SectionList(Draft *draft, QWidget *parent = nullptr);
    void setCurrent(const QString &group);
    SectionButton *button(const QString &group) const;

Q_SIGNALS:
    void sectionChosen(const QString &group);

protected:
    void paintEvent(QPaintEvent *event) override;

private:
    void refresh();
    Draft *m_draft;
    std::vector<SectionButton *> m_buttons;
    QButtonGroup m_group;
    QLabel *m_changes;
    QPushButton *m_reset;
};

} // namespace parallax::experiment
