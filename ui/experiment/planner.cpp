// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/experiment/planner.h"

#include "core/base/atomicfile.h"
#include "core/base/text.h"
#include "core/session/job.h"
#include "ui/experiment/draft.h"
#include "ui/widgets/background.h"
#include "ui/widgets/format.h"

#include <QDir>
#include <QFileInfo>
#include <QImageReader>

#include <algorithm>
#include <cmath>

namespace parallax::experiment {
namespace {

using config::Json;
using session::Job;

constexpr int delayMs = 400, previewImages = 12, previewEpochs = 2;

void drop(Job *&job)
{
    if (!job) return;
    job->disconnect();
    job->deleteLater();
    job = nullptr;
}

QImage readPicture(const QString &folder, const Json &name)
{
    if (!name.is_string()) return {};
    const QString file = QString::fromStdString(name.get<std::string>());
    QImageReader reader(QFileInfo(file).isAbsolute() ? file : QDir(folder).filePath(file));
    reader.setDecideFormatFromContent(true);
    return reader.read();
}

std::vector<PreviewImage> readPictures(const Json &answer, const QString &folder)
{
    std::vector<PreviewImage> images;
    const auto list = answer.find("images");
    if (list == answer.end() || !list->is_array()) return images;
    for (const Json &entry : *list) {
        if (!entry.is_object()) continue;
        PreviewImage image;
        image.name = QString::fromStdString(entry.value("name", std::string()));
        image.original = readPicture(folder, entry.value("original", Json()));
        for (const Json &epoch : entry.value("views", Json::array())) {
            image.views.emplace_back();
            for (const Json &view : epoch) image.views.back().push_back(readPicture(folder, view));
        }
        images.push_back(std::move(image));
    }
    QDir(folder).removeRecursively();
    return images;
}

} // namespace

std::int64_t planNumber(const Json &plan, const char *key)
{
    const auto it = plan.find(key);
    return it != plan.end() && it->is_number() ? std::int64_t(it->get<double>()) : 0;
}

Planner::Planner(Draft *draft, QObject *parent) : QObject(parent), m_draft(draft)
{
    m_delay.setSingleShot(true);
    m_delay.setInterval(delayMs);
    connect(&m_delay, &QTimer::timeout, this, &Planner::ask);
    connect(draft, &Draft::configChanged, this, [this] {
        m_stale = true;
        if (!m_active) return;
        m_delay.start();
        Q_EMIT planChanged(); // what is shown is of yesterday
    });
}

Planner::~Planner()
{
    // Each waits for its process to be gone: none may still write into the folder that is removed next.
    qDeleteAll(findChildren<Job *>(Qt::FindDirectChildrenOnly));
}

void Planner::setActive(bool active)
{
    if (active == m_active) return;
    m_active = active;
    if (!active) return m_delay.stop();
    if (m_cores == 0) askDevices();
    if (m_stale) ask();
}

void Planner::checkNow()
{
    m_previewed = Json();
    ask();
}

void Planner::askDevices()
{
    auto *job = new Job(Job::Program::Worker, {QStringLiteral("devices")}, this);
    connect(job, &Job::succeeded, this, [this, job](const Json &answer) {
        m_devices = readDevices(answer);
        m_cores = int(planNumber(answer, "cpu_cores"));
        job->deleteLater();
        Q_EMIT devicesChanged();
    });
    // The plan says what is wrong with devices; that none can be shown is no error of its own.
    connect(job, &Job::failed, job, &QObject::deleteLater);
}

void Planner::ask()
{
    m_delay.stop();
    m_stale = false;
    const auto token = ++m_token;
    drop(m_planJob);
    if (m_draft->firstProblem()) { // the form says it; the worker would only say it again
        drop(m_previewJob);
        m_plan.reset();
        m_error.reset();
        Q_EMIT planChanged();
        return;
    }
    const QString file = m_folder.filePath(QStringLiteral("config-%1.json").arg(token));
    if (const Status written = writeFileAtomic(file.toStdString(), m_draft->config().dump(2)); !written) {
        m_plan.reset();
        m_error = written.error();
        Q_EMIT planChanged();
        return;
    }
    askPlan(file);
    if (previewKey() != m_previewed) askPreview(file);
    Q_EMIT planChanged();
}

void Planner::askPlan(const QString &file)
{
    m_planJob = new Job(Job::Program::Worker, {QStringLiteral("plan"), QStringLiteral("--config"), file}, this);
    connect(m_planJob, &Job::succeeded, this, [this](const Json &answer) {
        drop(m_planJob);
        m_plan = answer;
        m_error.reset();
        m_draft->clearRemoteProblems();
        Q_EMIT planChanged();
    });
    connect(m_planJob, &Job::failed, this, [this](const Error &error) {
        drop(m_planJob);
        m_plan.reset();
        m_error = error;
        m_draft->clearRemoteProblems();
        m_draft->setRemoteProblem(QString::fromStdString(error.where), QString::fromStdString(error.what));
        Q_EMIT planChanged();
    });
}

config::Json Planner::previewKey() const
{
    Json key;
    for (const char *group : {"data", "augment", "method"})
        if (const auto it = m_draft->config().find(group); it != m_draft->config().end()) key[group] = *it;
    if (const Json *seed = config::lookup(m_draft->config(), "train.seed")) key["seed"] = *seed;
    return key;
}

void Planner::askPreview(const QString &file)
{
    drop(m_previewJob);
    m_previewed = previewKey();
    const auto token = m_token;
    const QString folder = m_folder.filePath(QStringLiteral("preview-%1").arg(token));
    m_previewJob = new Job(Job::Program::Worker,
                           {QStringLiteral("preview"), QStringLiteral("--config"), file, QStringLiteral("--images"),
                            QString::number(previewImages), QStringLiteral("--epochs"), QString::number(previewEpochs),
                            QStringLiteral("--out"), folder},
                           this);
    connect(m_previewJob, &Job::succeeded, this, [this, folder](const Json &answer) { takePreview(answer, folder); });
    connect(m_previewJob, &Job::failed, this, [this](const Error &error) {
        drop(m_previewJob);
        m_images.clear();
        m_previewError = error;
        Q_EMIT previewChanged();
    });
    Q_EMIT previewChanged();
}

void Planner::takePreview(const Json &answer, const QString &folder)
{
    const Job *of = m_previewJob; // reading belongs to the question: a newer one drops its pictures
    ui::inBackground(
        this, [answer, folder] { return readPictures(answer, folder); },
        [this, of](std::vector<PreviewImage> images) {
            if (of != m_previewJob) return;
            drop(m_previewJob);
            m_images = std::move(images);
            m_previewError.reset();
            Q_EMIT previewChanged();
        });
}

QMap<QString, QString> Planner::derived() const
{
    QMap<QString, QString> notes;
    for (const config::Field *field : m_draft->fields()) { // the chosen one's own words
        const Json value = m_draft->value(*field);
        for (const auto &choice : field->choices) {
            if (value != choice.value) continue;
            if (!choice.help.empty()) notes[QString::fromStdString(field->key)] = QString::fromStdString(choice.help);
            for (const auto &[key, note] : choice.notes) notes[QString::fromStdString(key)] = QString::fromStdString(note);
        }
    }
    if (!m_plan) return notes;
    const Json &plan = *m_plan;
    const auto images = planNumber(plan, "images"), steps = planNumber(plan, "steps");
    const auto classes = plan.find("classes");
    const auto count = classes != plan.end() && classes->is_array() ? classes->size() : 0;
    if (images > 0)
        notes[QStringLiteral("data.source")] = plan.value("labelled", false)
            ? tr("%1 images, %2 classes").arg(ui::formatCount(double(images)), ui::formatCount(double(count)))
            : tr("%1 images, no labels").arg(ui::formatCount(double(images)));
    if (steps > 0) notes[QStringLiteral("train.epochs")] = tr("%1 steps").arg(ui::formatCount(double(steps)));
    if (const auto batch = plan.find("batch_per_rank"); batch != plan.end() && batch->is_array() && !batch->empty()) {
        const auto [low, high] = std::minmax_element(batch->begin(), batch->end());
        const QString share = *low == *high
            ? tr("%1 per rank").arg(ui::formatCount(low->get<double>()))
            : tr("%1 to %2 per rank").arg(ui::formatCount(low->get<double>()), ui::formatCount(high->get<double>()));
        const auto parts = planNumber(plan, "accumulate");
        notes[QStringLiteral("train.batch_size")] =
            parts > 1 ? tr("%1 times %2").arg(ui::formatCount(double(parts)), share) : share;
        notes[QStringLiteral("distributed.ranks")] =
            batch->size() == 1 ? tr("%L1 process").arg(1) : tr("%L1 processes").arg(batch->size());
    }
    if (const auto rate = plan.find("lr_scaled"); rate != plan.end() && rate->is_number())
        notes[QStringLiteral("optim.base_lr")] = tr("%1 after scaling").arg(QLocale().toString(rate->get<double>(), 'g', 4));
    if (const auto weights = planNumber(plan, "parameters"); weights > 0)
        notes[QStringLiteral("backbone.name")] = tr("%1 M weights").arg(ui::formatFixed(double(weights) / 1e6, 1));
    return notes;
}

QMap<QString, QString> Planner::concerns() const
{
    QMap<QString, QString> concerns;
    const Json none = Json::object(), found = m_plan ? m_plan->value("concerns", none) : none;
    if (!found.is_object()) return concerns;
    for (const auto &[key, text] : found.items())
        if (text.is_string())
            concerns[QString::fromStdString(key)] = QString::fromStdString(text::printable(text.get<std::string>()));
    return concerns;
}

} // namespace parallax::experiment
