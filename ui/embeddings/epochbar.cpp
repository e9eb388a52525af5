// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/embeddings/epochbar.h"

#include "ui/widgets/controls.h"
#include "ui/widgets/format.h"

#include <QGridLayout>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolButton>

#include <algorithm>
#include <cmath>

namespace parallax::embeddings {
namespace {

using ui::TextRole;
using ui::Token;

constexpr double left = 44, right = 16, top = 12, axis = 24; // axis: room below for the epochs

} // namespace

EpochTrack::EpochTrack(QWidget *parent) : QWidget(parent)
{
    setMouseTracking(true);
    setFocusPolicy(Qt::StrongFocus);
    setMinimumSize(160, 72);
    setAccessibleName(tr("Stored epochs"));
}

void EpochTrack::set(std::vector<int> stored, int current, std::vector<EpochScore> scores)
{
    m_stored = std::move(stored);
    m_current = current;
    m_scores = std::move(scores);
    update();
}

double EpochTrack::lastEpoch() const
{
    double last = 1;
    if (!m_stored.empty()) last = std::max(last, double(m_stored.back()));
    if (!m_scores.empty()) last = std::max(last, m_scores.back().epoch);
    return last;
}

double EpochTrack::xOf(double epoch) const { return left + (width() - left - right) * epoch / lastEpoch(); }

QPointF EpochTrack::ringAt(int epoch) const { return {xOf(epoch), height() - axis}; }

int EpochTrack::nearest(double x) const
{
    int best = -1;
    for (const int epoch : m_stored)
        if (best < 0 || std::abs(xOf(epoch) - x) < std::abs(xOf(best) - x)) best = epoch;
    return best;
}

void EpochTrack::step(int by)
{
    const auto it = std::find(m_stored.begin(), m_stored.end(), m_current);
    if (it == m_stored.end()) return;
    const auto to = (it - m_stored.begin()) + by;
    if (to >= 0 && to < std::ptrdiff_t(m_stored.size())) Q_EMIT epochChosen(m_stored[std::size_t(to)]);
}

void EpochTrack::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    paintCurve(painter);
    paintRings(painter);
}

void EpochTrack::paintCurve(QPainter &painter) const
{
    if (m_scores.size() < 2) return;
    const auto [low, high] =
        std::minmax_element(m_scores.begin(), m_scores.end(), [](const auto &a, const auto &b) { return a.knn < b.knn; });
    const double bottom = height() - axis - 10, span = std::max(high->knn - low->knn, 1e-9);
    const auto y = [&](double knn) { return bottom - (bottom - top) * (knn - low->knn) / span; };
    QPolygonF line;
    for (const EpochScore &score : m_scores) line << QPointF(xOf(score.epoch), y(score.knn));
    painter.setPen(QPen(ui::color(Token::TextMuted), 1.25, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
    painter.drawPolyline(line);
    painter.setFont(ui::textFont(TextRole::Caption));
    for (const double knn : {low->knn, high->knn})
        ui::drawTabular(&painter, QRectF(0, y(knn) - 8, left - 10, 16), ui::formatFixed(knn, 2), Qt::AlignRight);
}

void EpochTrack::paintRings(QPainter &painter) const
{
    const double line = height() - axis;
    painter.setPen(QPen(ui::color(Token::ChartAxis), 1));
    painter.drawLine(QPointF(left, line), QPointF(width() - right, line));
    painter.setFont(ui::textFont(TextRole::Caption));
    double lastLabel = -1e9;
    for (const int epoch : m_stored) {
        const double x = xOf(epoch);
        const bool current = epoch == m_current;
        if (current) {
            painter.setPen(QPen(ui::color(Token::AccentLine), 1.5));
            painter.drawLine(QPointF(x, top - 6), QPointF(x, line));
        }
        painter.setPen(QPen(ui::color(current                  ? Token::Panel
                                          : epoch == m_hovered ? Token::AccentLine
                                                               : Token::TextMuted),
                            1.5));
        painter.setBrush(ui::color(current ? Token::AccentLine : Token::Panel));
        painter.drawEllipse(QPointF(x, line), current ? 6 : 3.5, current ? 6 : 3.5);
        if (x - lastLabel < 34) continue;
        lastLabel = x;
        painter.setPen(ui::color(Token::TextMuted));
        ui::drawTabular(&painter, QRectF(x - 20, line + 7, 40, 16), ui::formatCount(epoch), Qt::AlignHCenter);
    }
    if (hasFocus()) {
        painter.setPen(QPen(ui::color(Token::SelectionLine), 1));
        painter.setBrush(Qt::NoBrush);
        painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), 4, 4);
    }
}

void EpochTrack::mousePressEvent(QMouseEvent *event)
{
    const int epoch = nearest(event->position().x());
    if (event->button() == Qt::LeftButton && epoch >= 0 && epoch != m_current) Q_EMIT epochChosen(epoch);
}

void EpochTrack::mouseMoveEvent(QMouseEvent *event)
{
    m_hovered = nearest(event->position().x());
    setToolTip(m_hovered < 0 ? QString() : tr("Epoch %L1").arg(m_hovered));
    update();
}

void EpochTrack::leaveEvent(QEvent *)
{
    m_hovered = -1;
    update();
}

void EpochTrack::keyPressEvent(QKeyEvent *event)
{
    if (event->key() == Qt::Key_Left)
        step(-1);
    else if (event->key() == Qt::Key_Right)
        step(1);
    else
        QWidget::keyPressEvent(event);
}

EpochBar::EpochBar(QWidget *parent)
    : QWidget(parent), m_track(new EpochTrack(this)), m_caption(ui::makeLabel(QString(), TextRole::Table)),
      m_knn(ui::makeLabel(QString(), TextRole::Table, "secondary")),
      m_previous(ui::makeIconButton(QStringLiteral("left"), tr("Earlier stored epoch"), this)),
      m_next(ui::makeIconButton(QStringLiteral("right"), tr("Later stored epoch"), this))
{
    setFixedHeight(ui::Theme::instance().scaled(92));
    auto *row = new QHBoxLayout(this);
    row->setContentsMargins(16, 1, 16, 0);
    row->setSpacing(16);
    auto *side = new QGridLayout;
    side->setHorizontalSpacing(8);
    side->setVerticalSpacing(6);
    side->setRowStretch(0, 1);
    side->setRowStretch(3, 1);
    side->addWidget(m_previous, 1, 0);
    side->addWidget(m_next, 1, 1);
    side->addWidget(m_caption, 2, 0, 1, 3);
    side->setColumnStretch(2, 1);
    side->setColumnMinimumWidth(2, 40);
    row->addLayout(side);
    row->addWidget(m_track, 1);
    row->addWidget(m_knn);
    m_caption->setTextFormat(Qt::RichText);
    m_knn->setTextFormat(Qt::RichText);
    connect(m_track, &EpochTrack::epochChosen, this, &EpochBar::epochChosen);
    connect(m_previous, &QToolButton::clicked, m_track, [this] { m_track->step(-1); });
    connect(m_next, &QToolButton::clicked, m_track, [this] { m_track->step(1); });
}

void EpochBar::set(const std::vector<int> &stored, int current, const std::vector<EpochScore> &scores)
{
    m_track->set(stored, current, scores);
    const bool known = current >= 0 && !stored.empty();
    m_previous->setEnabled(known && current != stored.front());
    m_next->setEnabled(known && current != stored.back());
    m_caption->setText(known ? tr("<b>Epoch %L1</b> · %2").arg(current).arg(tr("%Ln stored", nullptr, int(stored.size())))
                             : QString());
    double knn = NAN;
    for (const EpochScore &score : scores)
        if (std::abs(score.epoch - current) < 0.5) knn = score.knn;
    m_knn->setText(std::isfinite(knn) ? tr("kNN <b>%1</b>").arg(ui::formatFixed(knn, 4)) : QString());
}

QString EpochBar::caption() const { return m_caption->text(); }

void EpochBar::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    painter.fillRect(rect(), ui::color(Token::Panel));
    painter.fillRect(QRect(0, 0, width(), 1), ui::color(Token::Line));
}

} // namespace parallax::embeddings
