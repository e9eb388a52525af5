// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/config/schema.h"
#include "ui/experiment/deviceeditor.h"

#include <QImage>
#include <QMap>
#include <QObject>
#include <QTemporaryDir>
#include <QTimer>

#include <optional>
#include <vector>

namespace parallax::session {
class Job;
}

namespace parallax::experiment {

class Draft;

/// An image of the data and its views: views[e][v] is view v of epoch e.
struct PreviewImage {
    QString name;
    QImage original;
    std::vector<std::vector<QImage>> views;
};

/// Asks the worker what would become of the draft: does it fit data and devices (`plan`), what would the network see
/// (`preview`), which GPUs are there (`devices`). Asked again 400 ms after the last change; answers to older questions are
/// dropped, their processes ended.
class Planner : public QObject
{
    Q_OBJECT
public:
    explicit Planner(Draft *draft, QObject *parent = nullptr);
    ~Planner() override;
    /// While nobody looks nothing is asked.
    void setActive(bool active);
    /// Ask now, whether or not something changed.
    void checkNow();

    bool isChecking() const { return m_planJob != nullptr || m_delay.isActive(); }
    /// Of the present draft, or of the one before while checking.
    const std::optional<config::Json> &plan() const { return m_plan; }
    const std::optional<Error> &error() const { return m_error; }
    bool isPreviewing() const { return m_previewJob != nullptr; }
    const std::vector<PreviewImage> &images() const { return m_images; }
    const std::optional<Error> &previewError() const { return m_previewError; }
    const std::vector<Device> &devices() const { return m_devices; }
    int cores() const { return m_cores; } ///< 0: not known yet

    /// What follows from the plan, or from another field's choice, for single fields, by key: "64 per rank".
    QMap<QString, QString> derived() const;
    /// What the plan warns of that is the matter of a single field, by key.
    QMap<QString, QString> concerns() const;

Q_SIGNALS:
    void planChanged();
    void previewChanged();
    void devicesChanged();

private:
    void askDevices();
    void ask();
    void askPlan(const QString &file);
    void askPreview(const QString &file);
    void takePreview(const config::Json &answer, const QString &folder);
    /// What the views depend on.
    config::Json previewKey() const;

    Draft *m_draft;
    QTemporaryDir m_folder;
    QTimer m_delay;
    bool m_active = false, m_stale = true;
    quint64 m_token = 0;
    session::Job *m_planJob = nullptr, *m_previewJob = nullptr;
    std::optional<config::Json> m_plan;
    std::optional<Error> m_error, m_previewError;
    config::Json m_previewed;
    std::vector<PreviewImage> m_images;
    std::vector<Device> m_devices;
    int m_cores = 0;
};

/// A whole number of a worker's answer; 0 when it is not there.
std::int64_t planNumber(const config::Json &plan, const char *key);

} // namespace parallax::experiment
