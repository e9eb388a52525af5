// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/experiment/fieldrow.h"

#include "ui/experiment/draft.h"
#include "ui/experiment/fieldeditor.h"
#include "ui/experiment/localtext.h"
#include "ui/widgets/controls.h"
#include "ui/widgets/format.h"

#include <QHBoxLayout>
#include <QPainter>
#include <QRegularExpression>
#include <QTextLayout>
#include <QToolButton>

#include <algorithm>

namespace parallax::experiment {
namespace {

using ui::TextRole;
using ui::Token;

constexpr int gap = 12, rowHeight = 38;

/// The label of a choice, the local text of anything else: for "was …".
QString shortText(const config::Field &field, const config::Json &value)
{
    if (value.is_string())
        for (const auto &choice : field.choices)
            if (choice.value == value.get<std::string>()) return QString::fromStdString(choice.label);
    if (value.is_boolean()) return value.get<bool>() ? FieldRow::tr("on") : FieldRow::tr("off");
    const QString text = localText(field, value);
    return text.isEmpty() ? FieldRow::tr("empty") : text;
}

/// "0: all": what a value of 0 stands for, when the field's help says so.
QString meaningOfZero(const config::Field &field)
{
    static const QRegularExpression zero(QStringLiteral("(?:^|[.;:] )(0: [^.;]+)"));
    return zero.match(QString::fromStdString(field.help)).captured(1);
}

} // namespace

/// Two lines at most; what is cut is in the tooltip.
class NoteLabel : public QWidget
{
public:
    explicit NoteLabel(QWidget *parent) : QWidget(parent)
    {
        setFont(ui::textFont(TextRole::Table));
        setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Ignored);
    }
    QString text() const { return m_text; }
    void set(const QString &text, Token ink)
    {
        m_text = text;
        m_ink = ink;
        setToolTip(text);
        setAccessibleName(text);
        update();
    }

protected:
    void paintEvent(QPaintEvent *) override
    {
        QPainter painter(this);
        painter.setPen(ui::color(m_ink));
        QTextLayout layout(m_text, font());
        layout.beginLayout();
        QTextLine first = layout.createLine();
        if (first.isValid()) first.setLineWidth(width());
        const int rest = first.isValid() ? first.textStart() + first.textLength() : 0;
        layout.endLayout();
        const int line = fontMetrics().height();
        const bool two = rest < m_text.size();
        const int top = (height() - (two ? 2 : 1) * line) / 2;
        painter.drawText(QRect(0, top, width(), line), Qt::AlignLeft | Qt::AlignVCenter, m_text.left(rest).trimmed());
        if (two)
            painter.drawText(QRect(0, top + line, width(), line), Qt::AlignLeft | Qt::AlignVCenter,
                             fontMetrics().elidedText(m_text.mid(rest), Qt::ElideRight, width()));
    }

private:
    QString m_text;
    Token m_ink = Token::TextMuted;
};

FieldRow::FieldRow(Draft *draft, const config::Field &field, QWidget *parent)
    : QWidget(parent), m_draft(draft), m_field(field), m_editor(FieldEditor::make(draft, field, this)),
      m_label(new ui::ElidedLabel(TextRole::Body, Qt::ElideRight, this)),
      m_reset(ui::makeIconButton(QStringLiteral("undo"), tr("Back to the former value"), this)), m_note(new NoteLabel(this))
{
    const auto &theme = ui::Theme::instance();
    const QString label = QString::fromStdString(field.label), key = QString::fromStdString(field.key);
    const QString help = QString::fromStdString(field.help);
    m_haystack = (label + QLatin1Char(' ') + key + QLatin1Char(' ') + help).toLower();
    m_label->setFullText(label);
    m_label->setProperty("tone", QStringLiteral("secondary"));
    m_label->setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
    m_label->setFixedWidth(theme.scaled(labelColumn) - 8);
    m_label->setFixedHeight(theme.scaled(32));
    m_reset->setFixedSize(24, 24);
    m_editor->setFixedWidth(theme.scaled(controlColumn));
    const QString tip = QStringLiteral("<p><b>%1</b></p><p>%2</p><p style='color:gray'>%3</p>")
                            .arg(label.toHtmlEscaped(), help.toHtmlEscaped(), key.toHtmlEscaped());
    m_label->setToolTip(tip);
    m_editor->setToolTip(tip);
    setObjectName(key);

    auto *row = new QHBoxLayout(this);
    row->setContentsMargins(leftMargin + dotColumn, 3, 16, 3);
    row->setSpacing(0);
    row->addWidget(m_label, 0, Qt::AlignTop);
    row->addSpacing(8);
    row->addWidget(m_editor, 0, Qt::AlignTop);
    row->addSpacing(gap - 4);
    row->addWidget(m_reset);
    row->addSpacing(4);
    row->addWidget(m_note, 1);
    connect(m_reset, &QToolButton::clicked, this, [this] { m_draft->reset(m_field); });
    refresh();
}

void FieldRow::setDerived(const QString &text)
{
    if (text == m_derived) return;
    m_derived = text;
    showNote();
}

void FieldRow::setConcern(const QString &text)
{
    if (text == m_concern) return;
    m_concern = text;
    showNote();
}

void FieldRow::refresh()
{
    m_changed = m_draft->isChanged(m_field);
    m_editor->refresh();
    if (QWidget *input = m_editor->input()) {
        input->setAccessibleName(QString::fromStdString(m_field.label));
        input->setAccessibleDescription(QString::fromStdString(m_field.help));
    }
    m_reset->setVisible(m_changed);
    m_reset->setToolTip(tr("Back to %1").arg(shortText(m_field, m_draft->original(m_field))));
    const int height = m_editor->heightInPixels();
    m_editor->setFixedHeight(ui::Theme::instance().scaled(height));
    setFixedHeight(ui::Theme::instance().scaled(rowHeight - 32 + height));
    showNote();
    update();
}

void FieldRow::showNote()
{
    const QString problem = m_draft->problem(m_field);
    QString text = problem;
    if (text.isEmpty()) text = m_concern;
    if (text.isEmpty()) text = m_derived;
    if (text.isEmpty() && m_changed) text = tr("was %1").arg(shortText(m_field, m_draft->original(m_field)));
    if (text.isEmpty() && m_draft->value(m_field) == 0) text = meaningOfZero(m_field);
    if (text.isEmpty()) text = rangeText(m_field);
    Token ink = m_concern.isEmpty() ? Token::TextMuted : Token::Warn;
    if (!problem.isEmpty()) ink = Token::Error;
    m_note->set(text, ink);
}

QString FieldRow::note() const { return m_note->text(); }

bool FieldRow::matches(const QStringList &words) const
{
    return std::all_of(words.begin(), words.end(), [this](const QString &word) { return m_haystack.contains(word); });
}

void FieldRow::paintEvent(QPaintEvent *)
{
    if (!m_changed) return;
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(Qt::NoPen);
    painter.setBrush(ui::color(Token::AccentLine));
    painter.drawEllipse(QPointF(leftMargin + 3, ui::Theme::instance().scaled(rowHeight) / 2.0), 3, 3);
}

} // namespace parallax::experiment
