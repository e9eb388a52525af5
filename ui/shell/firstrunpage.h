// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/widgets/screen.h"

class QLabel;

namespace parallax::session {
class Job;
}

namespace parallax::ui {

/// What stands in the place of the table of runs while the workspace is empty: what this is for, and three ways in.
/// The whole page takes a dropped folder of images.
class FirstRunPage : public QWidget
{
    Q_OBJECT
public:
    explicit FirstRunPage(const QString &runsFolder, QWidget *parent = nullptr);

Q_SIGNALS:
    void demoRequested();
    void imagesChosen(const QString &folder);
    void runsFolderChosen(const QString &folder);

protected:
    void showEvent(QShowEvent *event) override;
    void dragEnterEvent(QDragEnterEvent *event) override;
    void dropEvent(QDropEvent *event) override;

private:
    QWidget *makeCards();
    QWidget *makeMachine();
    void askMachine();
    QString m_runsFolder;
    QLabel *m_machine;
    session::Job *m_devices = nullptr;
};

} // namespace parallax::ui
