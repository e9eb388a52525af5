// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/session/workspace.h"
#include "ui/embeddings/mapdata.h"
#include "ui/widgets/screen.h"

#include <QElapsedTimer>
#include <QTimer>

#include <atomic>
#include <memory>
#include <vector>

class QLabel;
class QPushButton;
class QStackedWidget;

namespace parallax::session {
class Job;
}
namespace parallax::ui {
class ChoiceBox;
class EmptyState;
} // namespace parallax::ui

namespace parallax::embeddings {

class EpochBar;
class ItemPanel;
class MapFrame;
class Thumbs;

/// The images of a run as its network sees them: a map, the image under the mouse, the nearest neighbours of a chosen one.
/// Reading, projecting and searching run in threads; what was asked for before the latest question is dropped.
class EmbeddingsScreen : public ui::Screen
{
    Q_OBJECT
public:
    explicit EmbeddingsScreen(session::Workspace *workspace, QWidget *parent = nullptr);
    ~EmbeddingsScreen() override;
    void activate() override;
    QString run() const { return m_run; }
    int epoch() const { return m_epoch; }                                 ///< -1: none
    const std::shared_ptr<const MapData> &data() const { return m_data; } ///< null while there is none
    MapFrame *map() const { return m_frame; }
    ItemPanel *panel() const { return m_panel; }

public Q_SLOTS:
    /// epoch -1: the newest that is stored.
    void openRun(const QString &folder, int epoch = -1);
    void choose(std::int64_t item); ///< -1: nothing

protected:
    void resizeEvent(QResizeEvent *event) override;

private:
    QWidget *makeHeader();
    QWidget *makeMap();
    void runsChanged();
    void fillRuns();
    void openEpoch(int epoch);
    void showData(std::shared_ptr<const MapData> data);
    void showNothing(const QString &title, const QString &text, bool mayCompute);
    void computeEmbeddings();
    void computed(const QString &folder);
    void cancelWork();

    session::Workspace *m_workspace;
    QString m_run;
    int m_epoch = -1;
    std::vector<int> m_stored;
    std::shared_ptr<const MapData> m_data;
    std::shared_ptr<std::atomic<bool>> m_cancel; ///< of the load under way
    quint64 m_loadToken = 0, m_searchToken = 0;
    session::Job *m_job = nullptr;
    QString m_jobRun;
    QElapsedTimer m_jobTime;
    QTimer m_jobClock;

    ui::ChoiceBox *m_runs = nullptr;
    QLabel *m_note = nullptr;
    QStackedWidget *m_pages;
    ui::EmptyState *m_empty;
    QPushButton *m_compute;
    Thumbs *m_thumbs;
    MapFrame *m_frame = nullptr;
    EpochBar *m_epochs = nullptr;
    ItemPanel *m_panel = nullptr;
};

} // namespace parallax::embeddings
