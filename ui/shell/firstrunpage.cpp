// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/firstrunpage.h"

#include "core/base/paths.h"
#include "core/session/job.h"
#include "core/session/qtconvert.h"
#include "ui/shell/illustration.h"
#include "ui/widgets/card.h"
#include "ui/widgets/controls.h"
#include "ui/widgets/format.h"
#include "ui/widgets/icons.h"

#include <QDragEnterEvent>
#include <QFileDialog>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QLabel>
#include <QMimeData>
#include <QPushButton>

namespace parallax::ui {

using session::toQString;

namespace {

Card *choice(const QString &iconName, Token ink, const QString &title, const QString &text, QPushButton *button,
             const QString &note = {})
{
    auto *card = new Card;
    card->body()->setContentsMargins(20, 18, 20, 20);
    auto *head = new QHBoxLayout;
    head->setSpacing(10);
    head->addWidget(new IconLabel(iconName, ink, 18));
    head->addWidget(makeLabel(title, TextRole::RunTitle), 1);
    auto *words = makeLabel(text, TextRole::Body, "secondary");
    words->setWordWrap(true);
    words->setAlignment(Qt::AlignTop);
    words->setMinimumHeight(Theme::instance().scaled(66));
    auto *foot = new QHBoxLayout;
    foot->setSpacing(12);
    foot->addWidget(button);
    foot->addWidget(makeLabel(note, TextRole::Table, "muted"), 1);
    card->body()->addLayout(head);
    card->body()->addWidget(words, 1);
    card->body()->addLayout(foot);
    return card;
}

QString droppedFolder(const QMimeData *data)
{
    for (const QUrl &url : data->urls())
        if (url.isLocalFile() && QFileInfo(url.toLocalFile()).isDir()) return url.toLocalFile();
    return {};
}

QString machineText(const nlohmann::ordered_json &devices, double freeBytes)
{
    QStringList parts;
    const auto text = [&](const char *key) {
        const auto found = devices.find(key);
        return found != devices.end() && found->is_string() ? toQString(found->get<std::string>()) : QString();
    };
    int gpus = 0;
    QString label;
    const auto list = devices.find("devices");
    if (list != devices.end() && list->is_array())
        for (const auto &device : *list) {
            if (!device.is_object() || device.value("name", std::string()).rfind("cuda", 0) != 0) continue;
            ++gpus;
            label = toQString(device.value("label", std::string()));
        }
    parts << (gpus > 0 ? QStringLiteral("%L1 × %2").arg(gpus).arg(label) : QStringLiteral("no GPU: trains on the CPU"));
    if (const auto cores = devices.find("cpu_cores"); cores != devices.end() && cores->is_number_integer())
        parts << QStringLiteral("%L1 cores").arg(cores->get<int>());
    if (!text("torch").isEmpty()) parts << QStringLiteral("LibTorch ") + text("torch");
    parts << QStringLiteral("%1 free").arg(formatBytes(freeBytes));
    return parts.join(QStringLiteral("      "));
}

} // namespace

FirstRunPage::FirstRunPage(const QString &runsFolder, QWidget *parent) : QWidget(parent), m_runsFolder(runsFolder)
{
    setAcceptDrops(true);
    setFocusPolicy(Qt::ClickFocus);
    auto *outer = new QHBoxLayout(this);
    auto *middle = new QWidget;
    middle->setMaximumWidth(Theme::instance().scaled(976));
    outer->addStretch(1);
    outer->addWidget(middle, 100);
    outer->addStretch(1);
    auto *column = new QVBoxLayout(middle);
    column->setContentsMargins(16, 24, 16, 16);
    column->setSpacing(0);
    column->addStretch(1);
    auto *picture = new Card;
    picture->setFlush();
    picture->body()->addWidget(new Illustration);
    column->addWidget(picture);
    column->addSpacing(24);
    column->addWidget(makeLabel(tr("See what your images have in common"), TextRole::Hero));
    column->addSpacing(8);
    auto *words =
        makeLabel(tr("Parallax trains a network on images without labels, shows every step while it learns, and lets you "
                     "walk through what it found."),
                  TextRole::Body, "secondary");
    words->setWordWrap(true);
    column->addWidget(words);
    column->addSpacing(24);
    column->addWidget(makeCards());
    column->addSpacing(16);
    column->addWidget(makeMachine());
    column->addStretch(2);
}

QWidget *FirstRunPage::makeCards()
{
    auto *box = new QWidget;
    auto *row = new QHBoxLayout(box);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(16);
    auto *demo = makeButton(tr("Start the demo"), QString(), ButtonKind::Primary);
    auto *images = makeButton(tr("Choose a folder…"), QStringLiteral("folder"));
    auto *earlier = makeButton(tr("Open a runs folder…"), QStringLiteral("folder"));
    demo->setObjectName(QStringLiteral("demo"));
    auto *first =
        choice(QStringLiteral("play"), Token::AccentText, tr("Try the demo"),
               tr("SimCLR on pictures of clothes, two processes on the CPU. The first curve moves within ten seconds."),
               demo, tr("about 3 minutes"));
    first->setTone(QStringLiteral("accent"));
    auto *second = choice(QStringLiteral("image"), Token::TextSecondary, tr("Use your own images"),
                          tr("Drop a folder here. Class subfolders are read as labels. A flat folder needs none."), images);
    second->setTone(QStringLiteral("drop"));
    auto *third = choice(QStringLiteral("runs"), Token::TextSecondary, tr("Open earlier runs"),
                         tr("A folder that holds runs of Parallax, from this or another machine."), earlier);
    for (Card *card : {first, second, third}) row->addWidget(card, 1);
    connect(demo, &QPushButton::clicked, this, &FirstRunPage::demoRequested);
    connect(images, &QPushButton::clicked, this, [this] {
        const QString folder = QFileDialog::getExistingDirectory(this, tr("Folder of images"));
        if (!folder.isEmpty()) Q_EMIT imagesChosen(folder);
    });
    connect(earlier, &QPushButton::clicked, this, [this] {
        const QString folder = QFileDialog::getExistingDirectory(this, tr("Folder of runs"));
        if (!folder.isEmpty()) Q_EMIT runsFolderChosen(folder);
    });
    return box;
}

QWidget *FirstRunPage::makeMachine()
{
    auto *card = new Card;
    card->body()->setContentsMargins(20, 14, 20, 14);
    auto *row = new QHBoxLayout;
    row->setSpacing(24);
    row->addWidget(makeLabel(tr("This machine"), TextRole::CardTitle));
    m_machine = makeLabel(QStringLiteral("…"), TextRole::Table, "secondary");
    m_machine->setWordWrap(true);
    row->addWidget(m_machine, 1);
    card->body()->addLayout(row);
    return card;
}

void FirstRunPage::showEvent(QShowEvent *event)
{
    QWidget::showEvent(event);
    setFocus(Qt::OtherFocusReason);
    if (!m_devices) askMachine();
}

void FirstRunPage::askMachine()
{
    const double space = double(paths::freeSpace(session::toPath(m_runsFolder)));
    m_devices = new session::Job(session::Job::Program::Worker, {QStringLiteral("devices")}, this);
    connect(m_devices, &session::Job::succeeded, this, [this, space](const nlohmann::ordered_json &devices) {
        if (devices.is_object()) m_machine->setText(machineText(devices, space));
    });
    connect(m_devices, &session::Job::failed, this, [this](const Error &error) {
        m_machine->setText(toQString(error.message()));
        setStyleProperty(m_machine, "tone", QStringLiteral("error"));
    });
}

void FirstRunPage::dragEnterEvent(QDragEnterEvent *event)
{
    if (!droppedFolder(event->mimeData()).isEmpty()) event->acceptProposedAction();
}

void FirstRunPage::dropEvent(QDropEvent *event)
{
    const QString folder = droppedFolder(event->mimeData());
    if (folder.isEmpty()) return;
    event->acceptProposedAction();
    Q_EMIT imagesChosen(folder);
}

} // namespace parallax::ui
