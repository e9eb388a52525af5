// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/experiment/fieldeditor.h"

#include <QStringList>

class QMenu;

namespace parallax::experiment {

/// A folder: typed, chosen in a dialog, dropped, or taken from a menu with the built-in data set and those used before.
class PathEditor : public FieldEditor
{
    Q_OBJECT
public:
    PathEditor(Draft *draft, const config::Field &field, QWidget *parent);
    void refresh() override;
    QWidget *input() const override;

    static QStringList recent();
    static void remember(const QString &path);

protected:
    bool eventFilter(QObject *watched, QEvent *event) override;

private:
    void fillMenu();
    void browse();
    void take(const QString &path);
    QString shown(const QString &value) const;

    AffixEdit *m_edit;
    QMenu *m_menu;
};

} // namespace parallax::experiment
