// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/experiment/commandcard.h"

#include "ui/experiment/draft.h"
#include "ui/widgets/controls.h"

#include <QClipboard>
#include <QFontMetrics>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QPlainTextEdit>
#include <QRegularExpression>
#include <QSyntaxHighlighter>
#include <QVBoxLayout>

namespace parallax::experiment {
namespace {

enum Tab { Command, Config, Changes };

/// Keys of settings in the accent's text colour.
class KeyHighlighter : public QSyntaxHighlighter
{
public:
    using QSyntaxHighlighter::QSyntaxHighlighter;

protected:
    void highlightBlock(const QString &text) override
    {
        static const QRegularExpression key(
            QStringLiteral("(?<=--set )'?[a-z_]+\\.[a-z_0-9]+|\"[a-z_0-9]+\"(?=:)|^[a-z_]+\\.[a-z_0-9]+"));
        for (auto it = key.globalMatch(text); it.hasNext();) {
            const auto match = it.next();
            setFormat(int(match.capturedStart()), int(match.capturedLength()), ui::color(ui::Token::AccentText));
        }
    }
};

QString quoted(const QString &word)
{
    static const QRegularExpression plain(QStringLiteral("^[A-Za-z0-9_@%+=:,./-]+$"));
    if (plain.match(word).hasMatch()) return word;
    return QLatin1Char('\'') + QString(word).replace(QLatin1Char('\''), QStringLiteral("'\\''")) + QLatin1Char('\'');
}

} // namespace

QString shellCommand(const QStringList &words)
{
    QString text;
    for (const QString &word : words) {
        if (!text.isEmpty()) text += word == QLatin1String("--set") ? QStringLiteral(" \\\n  ") : QStringLiteral(" ");
        text += quoted(word);
    }
    return text;
}

CommandCard::CommandCard(Draft *draft, std::function<QStringList()> extra, QWidget *parent)
    : Card(QString(), QString(), parent), m_draft(draft), m_extra(std::move(extra)), m_tabs(new ui::SegmentedControl(this)),
      m_copy(ui::makeButton(tr("Copy"), QStringLiteral("copy"), ui::ButtonKind::Quiet, true, this)),
      m_text(new QPlainTextEdit(this))
{
    auto *head = new QHBoxLayout;
    for (const QString &name : {tr("Command"), tr("Config"), tr("Changes")}) m_tabs->addSegment(name);
    head->addWidget(m_tabs);
    head->addStretch(1);
    head->addWidget(m_copy);
    body()->setContentsMargins(12, 8, 12, 12);
    body()->addLayout(head);
    m_text->setReadOnly(true);
    m_text->setProperty("role", QStringLiteral("code"));
    m_text->setFont(ui::textFont(ui::TextRole::Mono));
    m_text->setLineWrapMode(QPlainTextEdit::WidgetWidth);
    m_text->setWordWrapMode(QTextOption::WrapAtWordBoundaryOrAnywhere);
    m_text->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Ignored);
    m_text->setMinimumHeight(QFontMetrics(m_text->font()).lineSpacing() * 6);
    m_text->setAccessibleName(tr("The same run as text"));
    m_text->document()->setDocumentMargin(8);
    auto *highlighter = new KeyHighlighter(m_text->document());
    body()->addWidget(m_text, 1);
    connect(m_tabs, &ui::SegmentedControl::currentChanged, this, &CommandCard::refresh);
    connect(m_copy, &QPushButton::clicked, this, [this] { QGuiApplication::clipboard()->setText(text()); });
    connect(draft, &Draft::configChanged, this, &CommandCard::refresh);
    connect(&ui::Theme::instance(), &ui::Theme::changed, highlighter, &QSyntaxHighlighter::rehighlight);
    refresh();
}

QString CommandCard::text() const { return m_text->toPlainText(); }

void CommandCard::refresh()
{
    QString text;
    switch (m_tabs->current()) {
    case Config: text = QString::fromStdString(m_draft->config().dump(2)); break;
    case Changes:
        for (const auto &[key, was, is] : m_draft->changes()) text += tr("%1: %2 → %3\n").arg(key, was, is);
        if (text.isEmpty()) text = tr("Nothing was changed.");
        break;
    default:
        text = shellCommand(QStringList{QStringLiteral("parallax"), QStringLiteral("train")} + m_draft->arguments() +
                            m_extra());
    }
    if (text != m_text->toPlainText()) m_text->setPlainText(text);
}

} // namespace parallax::experiment
