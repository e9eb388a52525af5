// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/experiment/viewscard.h"

#include "core/base/text.h"
#include "ui/experiment/thumbstrip.h"
#include "ui/widgets/controls.h"
#include "ui/widgets/icons.h"

#include <QPainter>
#include <QVBoxLayout>

#include <algorithm>

namespace parallax::experiment {
namespace {

using ui::TextRole;
using ui::Token;

constexpr std::size_t shownRows = 3;
constexpr int captionHeight = 18, gap = 4, usualColumns = 5, largestSide = 100;

} // namespace

ViewsGrid::ViewsGrid(QWidget *parent) : QWidget(parent)
{
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    fitHeight();
}

void ViewsGrid::show(const std::vector<PreviewImage> &images, std::size_t first, bool stale, const QString &message)
{
    m_images.clear();
    for (std::size_t i = 0; i < std::min(shownRows, images.size()); ++i)
        m_images.push_back(images[(first + i) % images.size()]);
    m_stale = stale;
    m_message = message;
    setAccessibleDescription(message);
    fitHeight();
    update();
}

int ViewsGrid::columns() const
{
    int count = 1;
    if (m_images.empty()) return usualColumns;
    for (const auto &epoch : m_images.front().views) count += int(epoch.size());
    return count;
}

double ViewsGrid::side() const
{
    return std::clamp<double>(double(width() - (columns() - 1) * gap) / columns(), 16, largestSide);
}

void ViewsGrid::fitHeight() { setFixedHeight(captionHeight + int(shownRows * side()) + int(shownRows - 1) * gap + 1); }

void ViewsGrid::resizeEvent(QResizeEvent *event)
{
    QWidget::resizeEvent(event);
    fitHeight();
}

void ViewsGrid::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const double size = side();
    painter.setFont(ui::textFont(TextRole::Caption));
    painter.setPen(ui::color(Token::TextMuted));
    if (m_images.empty()) {
        painter.setPen(Qt::NoPen);
        painter.setBrush(ui::color(Token::Sunken));
        for (std::size_t row = 0; row < shownRows; ++row)
            for (int column = 0; column < columns(); ++column)
                painter.drawRoundedRect(
                    QRectF(column * (size + gap), captionHeight + double(row) * (size + gap), size, size), 3, 3);
        painter.setPen(ui::color(Token::TextSecondary));
        painter.setFont(ui::textFont(TextRole::Table));
        painter.drawText(rect().adjusted(16, captionHeight, -16, 0), Qt::AlignCenter | Qt::TextWordWrap, m_message);
        return;
    }
    painter.drawText(QRectF(0, 0, size, captionHeight), Qt::AlignLeft | Qt::AlignTop, tr("Image"));
    double x = size + gap;
    const auto &epochs = m_images.front().views;
    for (std::size_t epoch = 0; epoch < epochs.size(); ++epoch) {
        const double wide = double(epochs[epoch].size()) * (size + gap);
        painter.drawText(QRectF(x, 0, wide, captionHeight), Qt::AlignLeft | Qt::AlignTop,
                         epochs[epoch].size() == 2 ? tr("Epoch %L1, both views").arg(epoch + 1)
                                                   : tr("Epoch %L1").arg(epoch + 1));
        x += wide;
    }
    painter.setOpacity(m_stale ? 0.45 : 1);
    for (std::size_t row = 0; row < m_images.size(); ++row) {
        const double y = captionHeight + double(row) * (size + gap);
        const QRectF original(0, y, size, size);
        paintPicture(&painter, original, m_images[row].original, 3);
        painter.setPen(QPen(ui::color(Token::LineStrong), 2));
        painter.setBrush(Qt::NoBrush);
        painter.drawRoundedRect(original.adjusted(1, 1, -1, -1), 3, 3);
        double left = size + gap;
        for (const auto &epoch : m_images[row].views)
            for (const QImage &view : epoch) {
                paintPicture(&painter, QRectF(left, y, size, size), view, 3);
                left += size + gap;
            }
    }
}

ViewsCard::ViewsCard(Planner *planner, QWidget *parent)
    : Card(tr("Views"), tr("what the network will see"), parent), m_planner(planner), m_grid(new ViewsGrid(this)),
      m_other(ui::makeButton(tr("Other images"), QStringLiteral("shuffle"), ui::ButtonKind::Quiet, true, this))
{
    addHeadWidget(m_other);
    body()->addWidget(m_grid);
    connect(m_other, &QPushButton::clicked, this, [this] {
        m_first += shownRows;
        refresh();
    });
    connect(planner, &Planner::previewChanged, this, &ViewsCard::refresh);
    refresh();
}

void ViewsCard::refresh()
{
    const auto &images = m_planner->images();
    QString message = tr("Choose a folder of images to see them here.");
    if (m_planner->isPreviewing())
        message = tr("Making views …");
    else if (m_planner->previewError())
        message = QString::fromStdString(text::printable(m_planner->previewError()->message()));
    m_grid->show(images, m_first, m_planner->isPreviewing(), images.empty() ? message : QString());
    m_other->setEnabled(images.size() > shownRows);
}

} // namespace parallax::experiment
