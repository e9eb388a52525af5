// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QLineEdit>

namespace parallax::experiment {

/// A line edit with a muted word before the text ("Name") and one at its right end (a unit).
class AffixEdit : public QLineEdit
{
    Q_OBJECT
public:
    explicit AffixEdit(const QString &prefix, const QString &suffix, QWidget *parent = nullptr);
    /// Red frame; the text of the error is shown elsewhere.
    void setError(bool on);

protected:
    void paintEvent(QPaintEvent *event) override;
    void changeEvent(QEvent *event) override;

private:
    void makeRoom();
    QString m_prefix, m_suffix;
};

} // namespace parallax::experiment
