// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/experiment/checkcard.h"

#include "core/base/paths.h"
#include "core/base/text.h"
#include "ui/experiment/draft.h"
#include "ui/experiment/planner.h"
#include "ui/widgets/controls.h"
#include "ui/widgets/format.h"
#include "ui/widgets/icons.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QVBoxLayout>

#include <algorithm>
#include <map>

namespace parallax::experiment {
namespace {

using config::Json;
using ui::TextRole;
using ui::Token;

struct Look {
    QString icon;
    Token color;
    const char *tone;
};

Look look(CheckCard::Level level)
{
    switch (level) {
    case CheckCard::Level::Warning: return {QStringLiteral("alert"), Token::Warn, "warn"};
    case CheckCard::Level::Error: return {QStringLiteral("alert"), Token::Error, "error"};
    case CheckCard::Level::Ok: break;
    }
    return {QStringLiteral("check"), Token::Ok, ""};
}

/// Icon, label, value; a value without a label takes the whole width and wraps.
class CheckLine : public QWidget
{
public:
    CheckLine(const CheckCard::Line &line, QWidget *parent) : QWidget(parent), m_look(look(line.level))
    {
        auto *row = new QHBoxLayout(this);
        row->setContentsMargins(20, 4, 0, 4);
        row->setSpacing(8);
        if (!line.label.isEmpty())
            row->addWidget(ui::makeLabel(line.label, TextRole::Table, "secondary", this), 0, Qt::AlignTop);
        auto *value = ui::makeLabel(line.value, TextRole::Table, m_look.tone, this);
        value->setWordWrap(true);
        value->setTextInteractionFlags(Qt::TextSelectableByMouse);
        value->setAlignment(line.label.isEmpty() ? Qt::AlignLeft : Qt::AlignRight);
        row->addWidget(value, 1);
    }

protected:
    void paintEvent(QPaintEvent *) override
    {
        QPainter painter(this);
        ui::drawIcon(&painter, QRectF(0, 4, 14, 16), m_look.icon, 14, ui::color(m_look.color));
    }

private:
    Look m_look;
};

QString shown(const std::string &text) { return QString::fromStdString(text::printable(text)); }

/// "cuda:0, cuda:1", "2 × cpu".
QString deviceText(const Json &devices)
{
    std::map<std::string, int> counts;
    std::vector<std::string> order;
    for (const Json &device : devices)
        if (device.is_string() && counts[device.get<std::string>()]++ == 0) order.push_back(device.get<std::string>());
    QStringList parts;
    for (const auto &name : order)
        parts << (counts[name] == 1 ? shown(name) : QStringLiteral("%L1 × %2").arg(counts[name]).arg(shown(name)));
    return parts.join(QStringLiteral(", "));
}

} // namespace

CheckCard::CheckCard(Draft *draft, Planner *planner, const QString &runsFolder, QWidget *parent)
    : Card(tr("Check"), QString(), parent), m_draft(draft), m_planner(planner), m_runsFolder(runsFolder),
      m_verdict(new ui::Pill(this)), m_column(new QVBoxLayout)
{
    addHeadWidget(m_verdict);
    m_column->setSpacing(0);
    body()->addLayout(m_column);
    connect(planner, &Planner::planChanged, this, &CheckCard::refresh);
    connect(draft, &Draft::changed, this, &CheckCard::refresh);
    refresh();
}

QString CheckCard::verdict() const { return m_verdict->text(); }

std::vector<CheckCard::Line> CheckCard::planLines() const
{
    const Json &plan = *m_planner->plan();
    std::vector<Line> lines;
    const auto add = [&](const QString &label, const QString &value) { lines.push_back({Level::Ok, label, value}); };
    const auto count = [&](const char *key) { return ui::formatCount(double(planNumber(plan, key))); };
    const auto held = planNumber(plan, "val_images");
    add(tr("Images"), held > 0 ? tr("%1, and %2 to evaluate").arg(count("images"), count("val_images")) : count("images"));
    add(tr("Steps"), tr("%1 per epoch, %2 in all").arg(count("steps_per_epoch"), count("steps")));
    if (const auto rate = plan.find("lr_scaled"); rate != plan.end() && rate->is_number())
        add(tr("Learning rate"), tr("%1 after scaling").arg(QLocale().toString(rate->get<double>(), 'g', 4)));
    if (const auto devices = plan.find("devices"); devices != plan.end() && devices->is_array()) {
        const auto threads = planNumber(plan, "threads_per_rank");
        const QString names = deviceText(*devices);
        add(tr("Devices"),
            threads == 0       ? names
                : threads == 1 ? tr("%1, 1 thread each").arg(names)
                               : tr("%1, %L2 threads each").arg(names).arg(threads));
    }
    if (const auto weights = planNumber(plan, "parameters"); weights > 0)
        add(tr("Network"),
            tr("%1 M weights, %2 features").arg(ui::formatFixed(double(weights) / 1e6, 1), count("features")));
    add(tr("Disk"), tr("%1 free").arg(ui::formatBytes(double(paths::freeSpace(m_runsFolder.toStdString())))));
    if (const auto remark = plan.find("remark");
        remark != plan.end() && remark->is_string() && !remark->get<std::string>().empty())
        add(QString(), shown(remark->get<std::string>()));
    if (const auto warnings = plan.find("warnings"); warnings != plan.end() && warnings->is_array())
        for (const Json &warning : *warnings)
            if (warning.is_string()) lines.push_back({Level::Warning, {}, shown(warning.get<std::string>())});
    return lines;
}

void CheckCard::refresh()
{
    std::vector<Line> lines;
    if (const auto problem = m_draft->firstProblem())
        lines.push_back({Level::Error, {}, tr("%1: %2").arg(problem->label, problem->text)});
    else if (m_planner->error())
        lines.push_back({Level::Error, {}, shown(m_planner->error()->message())});
    else if (m_planner->plan())
        lines = planLines();
    setSubtitle(m_planner->isChecking() ? tr("checking …") : QString());
    fill(std::move(lines));
}

void CheckCard::fill(std::vector<Line> lines)
{
    const auto of = [&](Level level) {
        return int(std::count_if(lines.begin(), lines.end(), [&](const Line &l) { return l.level == level; }));
    };
    const int errors = of(Level::Error), warnings = of(Level::Warning);
    if (errors > 0)
        m_verdict->set(QStringLiteral("alert"), tr("Cannot start"), Token::Error, Token::Panel);
    else if (warnings > 0)
        m_verdict->set(QStringLiteral("alert"),
                       warnings == 1 ? tr("Ready, 1 warning") : tr("Ready, %L1 warnings").arg(warnings), Token::Warn,
                       Token::Panel);
    else if (!lines.empty())
        m_verdict->set(QStringLiteral("check"), tr("Ready"), Token::Ok, Token::Panel);
    m_verdict->setVisible(!lines.empty());
    if (lines == m_lines) return;
    m_lines = std::move(lines);
    while (QLayoutItem *item = m_column->takeAt(0)) {
        delete item->widget();
        delete item;
    }
    for (const Line &line : m_lines) m_column->addWidget(new CheckLine(line, this));
}

} // namespace parallax::experiment
