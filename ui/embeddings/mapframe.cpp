// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/embeddings/mapframe.h"

#include "ui/embeddings/classmodel.h"
#include "ui/embeddings/legend.h"
#include "ui/embeddings/mapcanvas.h"
#include "ui/widgets/controls.h"
#include "ui/widgets/format.h"

#include <QPainter>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>

namespace parallax::embeddings {
namespace {

using ui::TextRole;
using ui::Token;

constexpr int edge = 16;

/// Keys and what they do, one pair after the other; painted, so that mouse events pass to the canvas.
class KeyHints : public QWidget
{
public:
    KeyHints(QList<QPair<QString, QString>> hints, QWidget *parent) : QWidget(parent), m_hints(std::move(hints))
    {
        setAttribute(Qt::WA_TransparentForMouseEvents);
        setFont(ui::textFont(TextRole::Caption));
        int wide = 0;
        for (const auto &[key, text] : m_hints) wide += keyWidth(key) + 6 + fontMetrics().horizontalAdvance(text) + 14;
        resize(wide, ui::Theme::instance().scaled(20));
    }

protected:
    void paintEvent(QPaintEvent *) override
    {
        QPainter painter(this);
        painter.setRenderHint(QPainter::Antialiasing);
        double x = 0;
        for (const auto &[key, text] : m_hints) {
            const QRectF cap(x + 0.5, 0.5, keyWidth(key) - 1, height() - 1);
            painter.setPen(QPen(ui::color(Token::ControlLine), 1));
            painter.setBrush(ui::color(Token::Panel));
            painter.drawRoundedRect(cap, 4, 4);
            painter.setPen(ui::color(Token::TextSecondary));
            painter.drawText(cap, Qt::AlignCenter, key);
            x += keyWidth(key) + 6;
            painter.setPen(ui::color(Token::TextMuted));
            painter.drawText(QRectF(x, 0, 200, height()), Qt::AlignVCenter | Qt::AlignLeft, text);
            x += fontMetrics().horizontalAdvance(text) + 14;
        }
    }

private:
    int keyWidth(const QString &key) const { return std::max(18, fontMetrics().horizontalAdvance(key) + 10); }
    QList<QPair<QString, QString>> m_hints;
};

} // namespace

MapFrame::MapFrame(Thumbs *thumbs, QWidget *parent)
    : QWidget(parent), m_classes(new ClassModel(this)), m_canvas(new MapCanvas(thumbs, this)),
      m_legend(new Legend(m_classes, this)), m_tools(makeTools()),
      m_remarks(ui::makeLabel(QString(), TextRole::Table, "warn", this)),
      m_keys(new KeyHints(
          {{tr("Wheel"), tr("zoom")}, {tr("Drag"), tr("pan")}, {tr("Click"), tr("neighbours")}, {tr("F"), tr("fit")}}, this))
{
    m_remarks->setWordWrap(true);
    m_remarks->setProperty("role", QStringLiteral("card"));
    m_remarks->setContentsMargins(12, 8, 12, 8);
    m_remarks->hide();
    connect(m_classes, &ClassModel::shownChanged, this, [this] { m_canvas->setVisibleClasses(m_classes->shown()); });
    connect(m_legend, &Legend::hoveredChanged, m_canvas, &MapCanvas::setHighlightedClass);
    setMinimumSize(m_canvas->minimumSize());
}

QWidget *MapFrame::makeTools()
{
    auto *frame = new QFrame(this);
    frame->setProperty("role", QStringLiteral("card"));
    auto *column = new QVBoxLayout(frame);
    column->setContentsMargins(5, 5, 5, 5);
    column->setSpacing(4);
    const auto add = [&](const QString &iconName, const QString &name, auto slot) {
        auto *button = ui::makeIconButton(iconName, name, frame);
        button->setFixedSize(30, 30);
        column->addWidget(button);
        connect(button, &QToolButton::clicked, m_canvas, slot);
    };
    add(QStringLiteral("fit"), tr("Show all points (F)"), [this] { m_canvas->fit(); });
    add(QStringLiteral("plus"), tr("Closer (+)"), [this] { m_canvas->zoomBy(1.5); });
    add(QStringLiteral("minus"), tr("Farther (-)"), [this] { m_canvas->zoomBy(1 / 1.5); });
    return frame;
}

void MapFrame::setData(const std::shared_ptr<const MapData> &data)
{
    m_canvas->setData(data);
    m_classes->setClasses(data ? data->classes : std::vector<ClassInfo>());
    m_legend->setVisible(data && !data->classes.empty());
    m_remarks->setText(data ? data->remarks.join(QLatin1Char('\n')) : QString());
    m_remarks->setVisible(!m_remarks->text().isEmpty());
    place();
}

QString MapFrame::remarks() const { return m_remarks->text(); }

void MapFrame::resizeEvent(QResizeEvent *event)
{
    QWidget::resizeEvent(event);
    place();
}

void MapFrame::place()
{
    m_canvas->setGeometry(rect());
    m_legend->move(edge, edge);
    m_legend->fitInto({std::max(120, width() / 3), std::max(60, height() - 2 * edge - 40)});
    m_tools->adjustSize();
    m_tools->move(width() - edge - m_tools->width(), edge);
    const bool roomy = width() > 700; // in a narrow window the map needs all of it
    m_canvas->setInsets(roomy && m_legend->isVisibleTo(this) ? QMargins(m_legend->width() + edge, 0, m_tools->width(), 20)
                                                             : QMargins(0, 0, 0, 20));
    m_keys->move(edge, height() - edge - m_keys->height());
    m_keys->setVisible(m_keys->width() + 2 * edge < width());
    if (m_remarks->text().isEmpty()) return;
    const int wide = std::min(460, width() - 2 * edge);
    m_remarks->resize(wide, m_remarks->heightForWidth(wide));
    m_remarks->move(width() - edge - wide, height() - edge - m_remarks->height());
}

} // namespace parallax::embeddings
