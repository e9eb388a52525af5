// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/config/schema.h"
#include "core/session/runfollower.h"
#include "core/session/workspace.h"

#include <QTimer>
#include <QWidget>

#include <memory>
#include <optional>

class QLabel;
class QPushButton;

namespace parallax::ui {

class Chart;
class ElidedLabel;
class FactGrid;
class Pill;
class RunActions;
class Swatch;

/// What one sees of the selected run beside the table: loss, kNN, facts, and the settings that differ from the defaults.
class RunPreview : public QWidget
{
    Q_OBJECT
public:
    RunPreview(session::Workspace *workspace, RunActions *actions, QWidget *parent = nullptr);
    /// Empty: nothing selected.
    void setRun(const QString &folder);
    QString run() const { return m_folder; }

Q_SIGNALS:
    void monitorRequested(const QString &folder);
    void embeddingsRequested(const QString &folder);

protected:
    void showEvent(QShowEvent *event) override;
    void paintEvent(QPaintEvent *event) override;

private:
    QWidget *makeHead();
    QWidget *makeCharts();
    void showSummary();
    QWidget *makeBody();
    void showCurves();
    void showChanges();
    void askForSchema();
    void follow();

    session::Workspace *m_workspace;
    RunActions *m_actions;
    QString m_folder;
    QTimer m_followSoon; ///< reading starts once the selection rests
    std::unique_ptr<session::RunFollower> m_follower;
    Swatch *m_swatch;
    ElidedLabel *m_name;
    Pill *m_state;
    QPushButton *m_monitor, *m_embeddings;
    QLabel *m_lossValue, *m_knnValue, *m_reason;
    Chart *m_loss, *m_knn;
    FactGrid *m_facts, *m_changes;
    QLabel *m_changesTitle;
    std::optional<config::Schema> m_schema;
    bool m_schemaAsked = false;
};

} // namespace parallax::ui
