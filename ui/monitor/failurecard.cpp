// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/monitor/failurecard.h"

#include "core/session/qtconvert.h"
#include "ui/runs/runactions.h"
#include "ui/widgets/controls.h"
#include "ui/widgets/format.h"
#include "ui/widgets/icons.h"

#include <QClipboard>
#include <QGridLayout>
#include <QGuiApplication>
#include <QLabel>
#include <QPainter>
#include <QPlainTextEdit>
#include <QPushButton>

namespace parallax::ui {

using session::RunSummary;
using session::toQString;

namespace {
constexpr int wordLines = 5; ///< of the error's own words

/// The cause in one sentence; where and what to do stand below it.
QString titleOf(const runs::Failure &failure)
{
    if (failure.signal != 0 || failure.what.empty()) {
        runs::Failure cause = failure;
        cause.what = cause.where = cause.hint = {};
        return toQString(cause.summary());
    }
    const QString what = toQString(failure.what);
    return failure.rank >= 0 ? QStringLiteral("Rank %L1: %2").arg(failure.rank).arg(what) : what;
}
} // namespace

FailureCard::FailureCard(RunActions *actions, QWidget *parent) : Card(QString(), QString(), parent), m_actions(actions)
{
    setFlush();
    auto *row = new QHBoxLayout;
    row->setContentsMargins(4, 0, 0, 0);
    row->setSpacing(0);
    row->addWidget(makeReason(), 1);
    row->addWidget(makeLine(Qt::Vertical));
    row->addWidget(makeRemedies());
    body()->addLayout(row);
    hide();
}

QWidget *FailureCard::makeReason()
{
    auto *box = new QWidget;
    auto *grid = new QGridLayout(box);
    grid->setContentsMargins(20, 14, 20, 14);
    grid->setHorizontalSpacing(12);
    grid->setVerticalSpacing(8);
    m_icon = new IconLabel({}, Token::Error, 18);
    m_title = makeLabel(QString(), TextRole::RunTitle);
    m_title->setWordWrap(true);
    m_text = makeLabel(QString(), TextRole::Body, "secondary");
    m_text->setWordWrap(true);
    m_words = new QPlainTextEdit;
    m_words->setReadOnly(true);
    m_words->setProperty("role", QStringLiteral("code"));
    m_words->setFont(textFont(TextRole::Mono));
    m_words->setLineWrapMode(QPlainTextEdit::NoWrap);
    m_words->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_words->setAccessibleName(tr("Last lines of the rank"));
    grid->addWidget(m_icon, 0, 0, Qt::AlignTop);
    grid->addWidget(m_title, 0, 1);
    grid->addWidget(m_text, 1, 1);
    grid->addWidget(m_words, 2, 1);
    grid->setRowStretch(3, 1);
    grid->setColumnStretch(1, 1);
    return box;
}

QWidget *FailureCard::makeRemedies()
{
    auto *box = new QWidget;
    box->setFixedWidth(Theme::instance().scaled(416));
    auto *column = new QVBoxLayout(box);
    column->setContentsMargins(20, 14, 16, 12);
    column->setSpacing(8);
    column->addWidget(makeLabel(tr("What you can do"), TextRole::Section));
    m_remedies = new QGridLayout;
    m_remedies->setHorizontalSpacing(12);
    m_remedies->setVerticalSpacing(6);
    m_remedies->setColumnStretch(1, 1);
    column->addLayout(m_remedies);
    column->addStretch(1);
    auto *row = new QHBoxLayout;
    auto *copy = makeButton(tr("Copy report"), QStringLiteral("copy"), ButtonKind::Quiet, true);
    auto *folder = makeButton(tr("Show folder"), QStringLiteral("folder"), ButtonKind::Quiet, true);
    connect(copy, &QPushButton::clicked, this, [this] { QGuiApplication::clipboard()->setText(report()); });
    connect(folder, &QPushButton::clicked, this, [this] { m_actions->reveal(m_run); });
    row->addWidget(copy);
    row->addWidget(folder);
    row->addStretch(1);
    column->addLayout(row);
    return box;
}

void FailureCard::show(const RunSummary &run)
{
    const bool failed = run.record.state == runs::State::Failed;
    setVisible(failed || run.record.state == runs::State::Interrupted);
    if (isHidden() || (run.folder == m_run.folder && run.record == m_run.record)) return;
    m_run = run;
    const StateLook look = stateLook(run.record.state);
    setTone(failed ? QStringLiteral("error") : QString());
    m_icon->set(look.icon, look.color);
    const auto &failure = run.record.failure;
    QString title = failure ? titleOf(*failure) : toQString(run.record.state_reason);
    if (title.isEmpty()) title = failed ? tr("The run failed") : tr("The run was interrupted");
    title[0] = title[0].toUpper();
    m_title->setText(title);
    QStringList text;
    if (failure && failure->signal != 0 && !failure->what.empty()) text << toQString(failure->what);
    if (failure && !failure->where.empty()) text << tr("Where: %1").arg(toQString(failure->where));
    if (!failed) text << tr("Everything up to the last checkpoint is kept.");
    if (failure && failure->rank >= 0 && failure->log.empty()) text << tr("It wrote nothing into its log.");
    m_text->setText(text.join(QLatin1Char('\n')));
    m_text->setVisible(!text.isEmpty());
    QStringList words;
    if (failure)
        for (const std::string &line : failure->log) words << toQString(line);
    m_words->setPlainText(words.mid(std::max<qsizetype>(0, words.size() - wordLines)).join(QLatin1Char('\n')));
    m_words->setVisible(!words.isEmpty());
    const int lines = int(std::min<qsizetype>(words.size(), wordLines));
    m_words->setFixedHeight(lines * QFontMetrics(m_words->font()).lineSpacing() + 18);
    setRemedies();
}

void FailureCard::setRemedies()
{
    while (QLayoutItem *item = m_remedies->takeAt(0)) {
        if (item->widget()) item->widget()->deleteLater();
        delete item;
    }
    m_remedyCount = 0;
    const auto &failure = m_run.record.failure;
    if (failure && !failure->hint.empty()) addRemedy(toQString(failure->hint), {}, {}, {});
    const auto checkpoints = runs::RunFolder(session::toPath(m_run.folder)).listCheckpoints();
    if (!checkpoints.empty())
        addRemedy(tr("Go on from the checkpoint of step %1").arg(formatCount(double(checkpoints.back().step))), tr("Resume"),
                  QStringLiteral("resume"), [this] { m_actions->resume(m_run); });
    else
        addRemedy(tr("There is no checkpoint yet: it starts from step 0"), tr("Resume"), QStringLiteral("resume"),
                  [this] { m_actions->resume(m_run); });
    addRemedy(tr("Change its settings and start it again"), tr("Clone"), QStringLiteral("clone"),
              [this] { Q_EMIT cloneRequested(m_run.folder); });
}

void FailureCard::addRemedy(const QString &text, const QString &button, const QString &iconName, std::function<void()> act)
{
    const int row = m_remedyCount++;
    m_remedies->addWidget(makeLabel(formatCount(row + 1), TextRole::State, "muted"), row, 0,
                          button.isEmpty() ? Qt::AlignTop : Qt::AlignVCenter);
    auto *label = makeLabel(text, TextRole::Table);
    label->setWordWrap(true);
    m_remedies->addWidget(label, row, 1, 1, button.isEmpty() ? 2 : 1);
    if (button.isEmpty()) return;
    auto *push = makeButton(button, iconName, ButtonKind::Plain, true);
    push->setMinimumWidth(Theme::instance().scaled(96));
    connect(push, &QPushButton::clicked, this, [act = std::move(act)] { act(); });
    m_remedies->addWidget(push, row, 2);
}

QString FailureCard::report() const
{
    QStringList lines{m_title->text()};
    if (m_run.record.failure) {
        const runs::Failure &failure = *m_run.record.failure;
        lines << toQString(Error{failure.what, failure.where, failure.hint}.message());
        for (const std::string &line : failure.log) lines << toQString(line);
    }
    lines << m_run.folder << RunActions::commandLine(m_run.record) << toQString(m_run.record.versions.dump());
    return lines.join(QLatin1Char('\n'));
}

void FailureCard::paintEvent(QPaintEvent *event)
{
    Card::paintEvent(event);
    // A bar at the left edge, inside the rounded frame.
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setClipRect(QRectF(0, 0, 4, height()));
    painter.setPen(Qt::NoPen);
    painter.setBrush(color(stateLook(m_run.record.state).color));
    painter.drawRoundedRect(QRectF(rect()), 8, 8);
}

} // namespace parallax::ui
