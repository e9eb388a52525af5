// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/experiment/newrunscreen.h"

#include "core/base/text.h"
#include "core/session/runname.h"
#include "core/session/settings.h"
#include "ui/experiment/affixedit.h"
#include "ui/experiment/banner.h"
#include "ui/experiment/checkcard.h"
#include "ui/experiment/commandcard.h"
#include "ui/experiment/draft.h"
#include "ui/experiment/formview.h"
#include "ui/experiment/planner.h"
#include "ui/experiment/sectionlist.h"
#include "ui/experiment/viewscard.h"
#include "ui/runs/runchoices.h"
#include "ui/widgets/background.h"
#include "ui/widgets/choicebox.h"
#include "ui/widgets/controls.h"
#include "ui/widgets/format.h"
#include "ui/widgets/page.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QMenu>
#include <QPainter>
#include <QScrollArea>
#include <QShortcut>
#include <QStackedWidget>
#include <QVBoxLayout>

#include <cmath>

namespace parallax::experiment {
namespace {

constexpr int rightColumnWidth = 416, narrowBelow = 1280 - 80; // without the rail

/// Colours of a strip: the footer is a panel with a hairline above.
class Footer : public QWidget
{
public:
    using QWidget::QWidget;

protected:
    void paintEvent(QPaintEvent *) override
    {
        QPainter painter(this);
        painter.fillRect(rect(), ui::color(ui::Token::Panel));
        painter.fillRect(QRect(0, 0, width(), 1), ui::color(ui::Token::Line));
    }
};

} // namespace

NewRunScreen::NewRunScreen(session::Workspace *workspace, QWidget *parent)
    : Screen(tr("New run"), QStringLiteral("newrun"), parent), m_workspace(workspace), m_pages(new QStackedWidget(this))
{
    setAcceptDrops(true);
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(makeHeader());
    column->addWidget(m_pages, 1);
    m_schemaPage = new ui::EmptyState(QStringLiteral("newrun"), QString(), QString(), this);
    m_retry = m_schemaPage->setAction(tr("Try again"));
    connect(m_retry, &QPushButton::clicked, this, &NewRunScreen::loadSchema);
    m_pages->addWidget(m_schemaPage);
    auto *start = new QShortcut(QKeySequence(Qt::CTRL | Qt::Key_Return), this);
    auto *startOnKeypad = new QShortcut(QKeySequence(Qt::CTRL | Qt::Key_Enter), this);
    for (auto *shortcut : {start, startOnKeypad}) {
        shortcut->setContext(Qt::WidgetWithChildrenShortcut);
        connect(shortcut, &QShortcut::activated, this, &NewRunScreen::start);
    }
    connect(m_workspace, &session::Workspace::changed, this, &NewRunScreen::fillClones);
    loadSchema();
}

NewRunScreen::~NewRunScreen()
{
    delete m_pages; // the form and the planner read the draft until their last moment: they go first
    delete m_planner;
}

void NewRunScreen::loadSchema()
{
    m_schemaPage->setTexts(tr("Asking the worker for its settings"), tr("The first time this takes a few seconds."));
    m_retry->hide();
    m_pages->setCurrentWidget(m_schemaPage);
    ui::inBackground(
        this, [] { return session::loadSchema(); },
        [this](Result<config::Schema> schema) {
            if (schema) return takeSchema(std::move(*schema));
            m_schemaPage->setTexts(tr("The worker did not answer"),
                                   QString::fromStdString(text::printable(schema.error().message())));
            m_retry->show();
        });
}

void NewRunScreen::takeSchema(config::Schema schema)
{
    m_draft = std::make_unique<Draft>(std::move(schema));
    m_planner = new Planner(m_draft.get(), this);
    QWidget *page = makePage();
    m_pages->addWidget(page);
    m_pages->setCurrentWidget(page);
    connect(m_draft.get(), &Draft::changed, this, &NewRunScreen::updateStart);
    connect(m_draft.get(), &Draft::configChanged, this, [this] {
        showDerived();
        updateStart();
    });
    connect(m_planner, &Planner::planChanged, this, [this] {
        showDerived();
        updateStart();
    });
    connect(m_planner, &Planner::devicesChanged, this, [this] { m_form->setDevices(m_planner->devices()); });
    for (QWidget *widget : std::initializer_list<QWidget *>{m_presets, m_search, m_mode, m_column}) widget->setEnabled(true);
    fillPresets();
    fillClones();
    layoutColumns();
    m_planner->setActive(isVisible());
    for (const auto &action : std::exchange(m_waiting, {})) action();
    showDerived();
    updateStart();
}

QWidget *NewRunScreen::makeHeader()
{
    auto *header = new ui::PageHeader(title(), this);
    m_presets = new ui::ChoiceBox(tr("Preset"), header);
    m_clone = ui::makeButton(tr("Clone a run…"), QStringLiteral("clone"), ui::ButtonKind::Plain, false, header);
    m_cloneMenu = new QMenu(m_clone);
    connect(m_clone, &QPushButton::clicked, this,
            [this] { m_cloneMenu->popup(m_clone->mapToGlobal(QPoint(0, m_clone->height() + 2))); });
    m_column = new ui::SegmentedControl(header);
    m_column->addSegment(tr("Settings"));
    m_column->addSegment(tr("Views and check"));
    m_search = new ui::SearchField(tr("Search settings"), false, header);
    m_search->setFixedWidth(ui::Theme::instance().scaled(200));
    m_mode = new ui::SegmentedControl(header);
    m_mode->addSegment(tr("Basic"), tr("What most runs need"));
    m_mode->addSegment(tr("Advanced"), tr("Every setting"));
    header->addLeft(m_presets);
    header->addLeft(m_clone);
    header->addRight(m_column);
    header->addRight(m_search);
    header->addRight(m_mode);
    for (QWidget *widget : std::initializer_list<QWidget *>{m_presets, m_clone, m_search, m_mode, m_column})
        widget->setEnabled(false);
    m_column->hide();
    connect(m_presets, &QComboBox::activated, this,
            [this](int index) { loadPreset(m_presets->itemData(index).toString()); });
    connect(m_search, &QLineEdit::textChanged, this, [this](const QString &text) {
        if (m_form) m_form->setSearch(text);
    });
    connect(m_mode, &ui::SegmentedControl::currentChanged, this, [this](int index) {
        if (m_form) m_form->setAdvanced(index == 1);
    });
    connect(m_column, &ui::SegmentedControl::currentChanged, this, &NewRunScreen::layoutColumns);
    return header;
}

QWidget *NewRunScreen::makePage()
{
    auto *page = new QWidget(this);
    auto *column = new QVBoxLayout(page);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    m_banner = new Banner(page);
    column->addWidget(m_banner);
    auto *middle = new QHBoxLayout;
    middle->setSpacing(0);
    m_left = new QWidget(page);
    auto *left = new QHBoxLayout(m_left);
    left->setContentsMargins(0, 0, 0, 0);
    left->setSpacing(0);
    m_sections = new SectionList(m_draft.get(), m_left);
    m_form = new FormView(m_draft.get(), m_left);
    left->addWidget(m_sections);
    left->addWidget(m_form, 1);
    middle->addWidget(m_left, 1);
    middle->addWidget(makeRightColumn());
    column->addLayout(middle, 1);
    column->addWidget(makeFooter());
    m_form->setAdvanced(m_mode->current() == 1);
    connect(m_sections, &SectionList::sectionChosen, m_form,
            [this](const QString &group) { m_form->showSection(group.toStdString()); });
    connect(m_form, &FormView::sectionReached, m_sections, &SectionList::setCurrent);
    connect(m_planner, &Planner::previewChanged, m_form, [this] {
        std::vector<QImage> images;
        for (const auto &image : m_planner->images()) images.push_back(image.original);
        const QSize size = images.empty() ? QSize() : images.front().size();
        m_form->setThumbs(
            images, size.isEmpty() ? QString() : tr("%L1 × %L2, the first of them").arg(size.width()).arg(size.height()));
    });
    return page;
}

QWidget *NewRunScreen::makeRightColumn()
{
    m_right = new QScrollArea(this);
    m_right->setWidgetResizable(true);
    m_right->setFrameShape(QFrame::NoFrame);
    m_right->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    auto *content = new QWidget(m_right);
    content->setProperty("role", QStringLiteral("canvas"));
    auto *column = new QVBoxLayout(content);
    column->setContentsMargins(8, 8, 8, 8);
    column->setSpacing(8);
    m_views = new ViewsCard(m_planner, content);
    m_checks = new CheckCard(m_draft.get(), m_planner, m_workspace->folder(), content);
    m_command = new CommandCard(
        m_draft.get(),
        [this] {
            const QString name = m_name ? m_name->text().trimmed() : QString();
            return name.isEmpty() ? QStringList() : QStringList{QStringLiteral("--name"), name};
        },
        content);
    column->addWidget(m_views);
    column->addWidget(m_checks);
    column->addWidget(m_command, 1);
    m_right->setWidget(content);
    return m_right;
}

QWidget *NewRunScreen::makeFooter()
{
    auto *footer = new Footer(this);
    footer->setFixedHeight(ui::Theme::instance().scaled(56));
    auto *row = new QHBoxLayout(footer);
    row->setContentsMargins(24, 1, 16, 0);
    row->setSpacing(8);
    m_name = new AffixEdit(tr("Name"), QString(), footer);
    m_name->setAccessibleName(tr("Name"));
    m_name->setMaxLength(120);
    m_name->setFixedWidth(ui::Theme::instance().scaled(288));
    connect(m_name, &QLineEdit::textChanged, m_command, &CommandCard::refresh);
    row->addWidget(m_name);
    m_state = ui::makeLabel(QString(), ui::TextRole::Table, "muted", footer);
    row->addWidget(m_state, 1);
    m_state->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    auto *check = ui::makeButton(tr("Check"), QStringLiteral("finished"), ui::ButtonKind::Quiet, false, footer);
    check->setToolTip(tr("Look again at data and devices"));
    connect(check, &QPushButton::clicked, m_planner, &Planner::checkNow);
    m_start = ui::makeButton(tr("Start") + QStringLiteral("   Ctrl ⏎"), QStringLiteral("play"), ui::ButtonKind::Primary,
                             false, footer);
    m_start->setObjectName(QStringLiteral("start"));
    connect(m_start, &QPushButton::clicked, this, &NewRunScreen::start);
    row->addWidget(check);
    row->addWidget(m_start);
    return footer;
}

void NewRunScreen::activate()
{
    if (m_form) m_form->setFocus();
}

void NewRunScreen::showEvent(QShowEvent *event)
{
    Screen::showEvent(event);
    if (m_planner) m_planner->setActive(true);
}

void NewRunScreen::hideEvent(QHideEvent *event)
{
    Screen::hideEvent(event);
    if (m_planner) m_planner->setActive(false);
}

void NewRunScreen::resizeEvent(QResizeEvent *event)
{
    Screen::resizeEvent(event);
    layoutColumns();
}

void NewRunScreen::layoutColumns()
{
    const bool narrow = width() < ui::Theme::instance().scaled(narrowBelow);
    m_column->setVisible(narrow);
    m_clone->setText(narrow ? tr("Clone…") : tr("Clone a run…"));
    m_search->setFixedWidth(ui::Theme::instance().scaled(narrow ? 152 : 200));
    m_presets->setMaximumWidth(ui::Theme::instance().scaled(narrow ? 190 : 340));
    if (!m_right) return;
    const bool second = narrow && m_column->current() == 1;
    m_left->setVisible(!second);
    m_right->setVisible(!narrow || second);
    const int wide = ui::Theme::instance().scaled(rightColumnWidth);
    m_right->setMinimumWidth(narrow ? 0 : wide);
    m_right->setMaximumWidth(narrow ? QWIDGETSIZE_MAX : wide);
    // Alone on the page the cards do not grow beyond what reads well.
    const int side = narrow ? std::max(8, (width() - ui::Theme::instance().scaled(640)) / 2) : 8;
    m_right->widget()->layout()->setContentsMargins(side, 8, side, 8);
}

void NewRunScreen::fillPresets()
{
    m_presets->clear();
    m_presets->addItem(tr("None"), QString());
    for (const auto &preset : session::presets()) m_presets->addItem(preset.label, preset.name);
}

void NewRunScreen::fillClones()
{
    if (!m_draft) return;
    QMenu *menu = m_cloneMenu;
    menu->clear();
    constexpr std::size_t most = 20;
    for (const ui::RunChoice &run : ui::runChoices(m_workspace->runs(), most))
        menu->addAction(ui::menuText(run.text), this, [this, folder = run.folder] { cloneRun(folder); });
    m_clone->setEnabled(!menu->isEmpty());
    m_clone->setToolTip(menu->isEmpty() ? tr("There is no run to clone yet") : QString());
}

void NewRunScreen::showDerived()
{
    m_form->setDerived(m_planner->derived());
    m_form->setConcerns(m_planner->concerns());
    m_name->setPlaceholderText(session::defaultRunName(m_draft->config()));
}

} // namespace parallax::experiment
