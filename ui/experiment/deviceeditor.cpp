// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/experiment/deviceeditor.h"

#include "ui/experiment/draft.h"
#include "ui/widgets/format.h"
#include "ui/widgets/icons.h"

#include <QGridLayout>
#include <QPainter>

#include <algorithm>

namespace parallax::experiment {
namespace {

using ui::Token;

double number(const config::Json &json, const char *key)
{
    const auto it = json.find(key);
    return it != json.end() && it->is_number() ? it->get<double>() : 0;
}

QString string(const config::Json &json, const char *key)
{
    const auto it = json.find(key);
    return it != json.end() && it->is_string() ? QString::fromStdString(it->get<std::string>()) : QString();
}

} // namespace

std::vector<Device> readDevices(const config::Json &answer)
{
    std::vector<Device> devices;
    const auto list = answer.is_object() ? answer.find("devices") : answer.end();
    if (list == answer.end() || !list->is_array()) return devices;
    for (const auto &entry : *list)
        if (entry.is_object())
            devices.push_back(
                {string(entry, "name"), string(entry, "label"), number(entry, "total_mb"), number(entry, "free_mb")});
    return devices;
}

DeviceTile::DeviceTile(int number, Device device, QWidget *parent)
    : QAbstractButton(parent), m_number(number), m_device(std::move(device))
{
    setCheckable(true);
    setFocusPolicy(Qt::StrongFocus);
    setFixedHeight(ui::Theme::instance().scaled(40));
    setAccessibleName(tr("GPU %L1").arg(number));
    setToolTip(tr("%1\n%2 of %3 free")
                   .arg(m_device.label, ui::formatMegabytes(m_device.freeMb), ui::formatMegabytes(m_device.totalMb)));
}

void DeviceTile::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const bool on = isChecked();
    painter.setPen(QPen(ui::color(hasFocus() ? Token::AccentLine : on ? Token::SelectionLine : Token::ControlLine), 1));
    painter.setBrush(ui::color(on ? Token::Selection : underMouse() ? Token::Hover : Token::Control));
    painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), 6, 6);
    QRectF line(10, 5, width() - 20, 18);
    if (on) {
        ui::drawIcon(&painter, QRectF(line.left() - 2, line.top(), 14, line.height()), QStringLiteral("check"), 14,
                     ui::color(Token::AccentText));
        line.setLeft(line.left() + 17);
    }
    painter.setFont(ui::textFont(ui::TextRole::State));
    painter.setPen(ui::color(on ? Token::AccentText : Token::TextSecondary));
    painter.drawText(line, Qt::AlignVCenter | Qt::AlignLeft, tr("GPU %L1").arg(m_number));
    painter.setFont(ui::textFont(ui::TextRole::Table));
    painter.setPen(ui::color(Token::TextSecondary));
    if (m_device.totalMb > 0)
        painter.drawText(line, Qt::AlignVCenter | Qt::AlignRight, tr("%1 free").arg(ui::formatMegabytes(m_device.freeMb)));
    const QRectF bar(10, height() - 12, width() - 20, 4);
    painter.setPen(Qt::NoPen);
    painter.setBrush(ui::color(on ? Token::Panel : Token::LineStrong));
    painter.drawRoundedRect(bar, 2, 2);
    const double used = m_device.totalMb > 0 ? std::clamp(1 - m_device.freeMb / m_device.totalMb, 0.0, 1.0) : 0;
    if (used <= 0) return;
    painter.setBrush(ui::color(Token::AccentLine));
    painter.drawRoundedRect(QRectF(bar.left(), bar.top(), std::max(4.0, bar.width() * used), bar.height()), 2, 2);
}

DeviceEditor::DeviceEditor(Draft *draft, const config::Field &field, QWidget *parent)
    : FieldEditor(draft, field, parent), m_grid(new QGridLayout(this))
{
    m_grid->setContentsMargins(0, 0, 0, 0);
    m_grid->setSpacing(8);
}

void DeviceEditor::setDevices(const std::vector<Device> &devices)
{
    for (DeviceTile *tile : m_tiles) delete tile;
    m_tiles.clear();
    for (std::size_t i = 0; i < devices.size(); ++i) {
        auto *tile = new DeviceTile(int(i), devices[i], this);
        m_grid->addWidget(tile, int(i) / 2, int(i) % 2);
        connect(tile, &QAbstractButton::clicked, this, &DeviceEditor::toggled);
        m_tiles.push_back(tile);
    }
    m_grid->setColumnStretch(0, 1);
    m_grid->setColumnStretch(1, 1);
    refresh();
}

void DeviceEditor::toggled()
{
    auto chosen = config::Json::array();
    for (std::size_t i = 0; i < m_tiles.size(); ++i)
        if (m_tiles[i]->isChecked()) chosen.push_back(i);
    // All is what an empty list means; so is none, which nobody can train on.
    if (chosen.size() == m_tiles.size()) chosen.clear();
    m_draft->setValue(m_field, chosen);
    refresh();
}

void DeviceEditor::refresh()
{
    const auto value = m_draft->value(m_field);
    const bool all = !value.is_array() || value.empty();
    for (std::size_t i = 0; i < m_tiles.size(); ++i)
        m_tiles[i]->setChecked(all || std::find(value.begin(), value.end(), i) != value.end());
}

QWidget *DeviceEditor::input() const { return m_tiles.empty() ? nullptr : m_tiles.front(); }

int DeviceEditor::heightInPixels() const
{
    const int rows = std::max(1, (int(m_tiles.size()) + 1) / 2);
    return rows * 40 + (rows - 1) * 8;
}

} // namespace parallax::experiment
