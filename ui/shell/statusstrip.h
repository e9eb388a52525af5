// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/session/runfollower.h"
#include "core/session/workspace.h"

#include <QTimer>
#include <QWidget>

#include <memory>
#include <vector>

namespace parallax::ui {

/// The bottom line: memory of the active run's ranks at the left; run, epoch, end and free disk at the right.
class StatusStrip : public QWidget
{
    Q_OBJECT
public:
    explicit StatusStrip(session::Workspace *workspace, QWidget *parent = nullptr);
    /// The run that trains now; empty: none.
    QString activeRun() const { return m_follower ? m_follower->folder() : QString(); }

Q_SIGNALS:
    void runClicked(const QString &folder);

protected:
    void paintEvent(QPaintEvent *event) override;
    void mouseReleaseEvent(QMouseEvent *event) override;

private:
    struct Memory {
        QString device;
        double usedMb, totalMb; ///< total NaN: unknown
    };
    void runsChanged();
    void measureDisk();
    std::vector<Memory> memory() const;
    double paintMemory(QPainter *painter, const Memory &memory, double x) const;
    double paintRight(QPainter *painter, const QString &iconName, const QString &text, double right) const;
    QString runText(const session::RunSummary &run) const;

    session::Workspace *m_workspace;
    std::unique_ptr<session::RunFollower> m_follower;
    QTimer m_diskTimer;
    double m_free = 0;
};

} // namespace parallax::ui
