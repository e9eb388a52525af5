// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/embeddings/itempanel.h"

#include "ui/embeddings/thumbs.h"
#include "ui/widgets/controls.h"
#include "ui/widgets/format.h"

#include <QHBoxLayout>
#include <QListView>
#include <QPainter>
#include <QVBoxLayout>

namespace parallax::embeddings {
namespace {

using ui::TextRole;
using ui::Token;

constexpr int imageSide = 42, voters = 10;

} // namespace

/// The chosen image, in an accent frame.
class ItemPicture : public QWidget
{
public:
    ItemPicture(Thumbs *thumbs, QWidget *parent) : QWidget(parent), m_thumbs(thumbs)
    {
        setFixedSize(76, 76);
        connect(thumbs, &Thumbs::arrived, this, qOverload<>(&QWidget::update));
    }
    void setItem(std::int64_t item)
    {
        m_item = item;
        update();
    }

protected:
    void paintEvent(QPaintEvent *) override
    {
        QPainter painter(this);
        m_thumbs->paint(&painter, QRectF(rect()).adjusted(2, 2, -2, -2), m_item, 4);
        painter.setRenderHint(QPainter::Antialiasing);
        painter.setPen(QPen(ui::color(Token::AccentLine), 2));
        painter.drawRoundedRect(QRectF(rect()).adjusted(1, 1, -1, -1), 5, 5);
    }

private:
    Thumbs *m_thumbs;
    std::int64_t m_item = -1;
};

/// A chip: the class's colour and name.
class ClassChip : public ui::ElidedLabel
{
public:
    explicit ClassChip(QWidget *parent) : ElidedLabel(TextRole::Chip, Qt::ElideRight, parent)
    {
        setFixedHeight(ui::Theme::instance().scaled(18));
        setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Fixed);
    }
    void set(const ClassInfo &info)
    {
        m_series = info.series;
        setFullText(info.name);
    }
    QSize sizeHint() const override { return {fontMetrics().horizontalAdvance(fullText()) + 28, height()}; }

protected:
    void paintEvent(QPaintEvent *) override
    {
        QPainter painter(this);
        painter.setRenderHint(QPainter::Antialiasing);
        painter.setPen(Qt::NoPen);
        painter.setBrush(ui::color(Token::NeutralSoft));
        painter.drawRoundedRect(QRectF(rect()), 4, 4);
        painter.setBrush(m_series < 0 ? ui::color(Token::AccentLine) : ui::Theme::instance().series(m_series));
        painter.drawRoundedRect(QRectF(6, height() / 2.0 - 4, 8, 8), 3, 3);
        painter.setPen(ui::color(Token::TextSecondary));
        const QRect text = rect().adjusted(20, 0, -6, 0);
        painter.drawText(text, Qt::AlignVCenter | Qt::AlignLeft,
                         fontMetrics().elidedText(fullText(), Qt::ElideRight, text.width()));
    }

private:
    int m_series = -1;
};

ItemPanel::ItemPanel(Thumbs *thumbs, QWidget *parent)
    : QWidget(parent), m_thumbs(thumbs), m_images(new ItemModel(this)), m_neighbours(new ItemModel(this)),
      m_imageView(makeView(m_images, imageSide, false, tr("Images"))),
      m_neighbourView(makeView(m_neighbours, imageSide, true, tr("Nearest neighbours"))),
      m_imageCount(ui::makeLabel(QString(), TextRole::Table, "muted")),
      m_problem(ui::makeLabel(QString(), TextRole::Table, "warn")),
      m_hint(ui::makeLabel(tr("Click a point or an image to see what lies nearest to it."), TextRole::Table, "muted"))
{
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(1, 0, 0, 0);
    column->setSpacing(0);
    auto *head = new QHBoxLayout;
    head->setContentsMargins(15, 10, 16, 6);
    head->setSpacing(8);
    head->addWidget(ui::makeLabel(tr("Images"), TextRole::CardTitle));
    head->addWidget(m_imageCount);
    head->addStretch(1);
    column->addLayout(head);
    const auto addText = [column](QLabel *label, int above, int below) {
        label->setWordWrap(true);
        auto *row = new QHBoxLayout; // a label that is styled has no margins of its own
        row->setContentsMargins(15, above, 16, below);
        row->addWidget(label);
        column->addLayout(row);
    };
    addText(m_problem, 0, 4);
    m_problem->hide();
    column->addWidget(m_imageView, 5);
    column->addWidget(ui::makeLine(Qt::Horizontal));
    addText(m_hint, 8, 8);
    column->addWidget(makeCard(), 4);
    connect(thumbs, &Thumbs::arrived, this, [this] {
        m_imageView->viewport()->update();
        m_neighbourView->viewport()->update();
    });
    connect(thumbs, &Thumbs::problemChanged, this, &ItemPanel::showProblem);
    setChosen(-1, false);
}

QListView *ItemPanel::makeView(ItemModel *model, int side, bool scores, const QString &name)
{
    auto *view = new QListView(this);
    view->setModel(model);
    view->setItemDelegate(new ThumbDelegate(m_thumbs, side, scores, view));
    // List mode that wraps: unlike icon mode it lays out 60,000 equal items in no time.
    view->setFlow(QListView::LeftToRight);
    view->setWrapping(true);
    view->setResizeMode(QListView::Adjust);
    view->setUniformItemSizes(true);
    view->setSpacing(0);
    view->setMouseTracking(true);
    view->setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
    view->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    view->setSelectionMode(QAbstractItemView::SingleSelection);
    view->setAccessibleName(name);
    view->setContentsMargins(0, 0, 0, 0);
    view->setStyleSheet(QStringLiteral("QListView { padding-left: 11px; }"));
    connect(view, &QListView::clicked, this, [this, model](const QModelIndex &at) { Q_EMIT chosen(model->itemOf(at)); });
    connect(view, &QListView::activated, this, [this, model](const QModelIndex &at) { Q_EMIT chosen(model->itemOf(at)); });
    return view;
}

QWidget *ItemPanel::makeCard()
{
    m_card = new QWidget(this);
    auto *column = new QVBoxLayout(m_card);
    column->setContentsMargins(0, 12, 0, 8);
    column->setSpacing(8);
    auto *top = new QHBoxLayout;
    top->setContentsMargins(13, 0, 16, 0);
    top->setSpacing(12);
    m_picture = new ItemPicture(m_thumbs, m_card);
    top->addWidget(m_picture, 0, Qt::AlignTop);
    auto *facts = new QVBoxLayout;
    facts->setSpacing(2);
    auto *nameRow = new QHBoxLayout;
    nameRow->setSpacing(8);
    m_name = new ui::ElidedLabel(TextRole::Body, Qt::ElideMiddle, m_card);
    QFont bold = m_name->font();
    bold.setWeight(QFont::DemiBold);
    m_name->setFont(bold);
    m_class = new ClassChip(m_card);
    m_name->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
    nameRow->addWidget(m_name);
    nameRow->addWidget(m_class);
    nameRow->addStretch(1);
    m_vote = ui::makeLabel(QString(), TextRole::Table, "secondary", m_card);
    m_vote->setTextFormat(Qt::RichText);
    m_vote->setWordWrap(true);
    m_split = ui::makeLabel(QString(), TextRole::Table, "muted", m_card);
    facts->addLayout(nameRow);
    facts->addWidget(m_vote);
    facts->addWidget(m_split);
    facts->addStretch(1);
    top->addLayout(facts, 1);
    column->addLayout(top);
    auto *head = new QHBoxLayout;
    head->setContentsMargins(15, 4, 16, 0);
    head->setSpacing(8);
    head->addWidget(ui::makeLabel(tr("Nearest neighbours"), TextRole::CardTitle, "", m_card));
    m_neighbourNote = ui::makeLabel(tr("cosine"), TextRole::Table, "muted", m_card);
    head->addWidget(m_neighbourNote);
    head->addStretch(1);
    column->addLayout(head);
    column->addWidget(m_neighbourView, 1);
    return m_card;
}

void ItemPanel::setData(std::shared_ptr<const MapData> data)
{
    m_data = std::move(data);
    setChosen(-1, false);
}

void ItemPanel::setShown(const std::vector<bool> &shown, std::int64_t count)
{
    m_images->setShown(m_data, shown);
    const qint64 all = m_data ? m_data->count() : 0;
    m_imageCount->setText(count == all
                              ? ui::formatCount(double(all))
                              : tr("%1 of %2 shown").arg(ui::formatCount(double(count)), ui::formatCount(double(all))));
    setChosen(m_item, false);
}

void ItemPanel::setChosen(std::int64_t item, bool searching)
{
    const bool other = item != m_item;
    m_item = m_data && item >= 0 && item < m_data->count() ? item : -1;
    m_card->setVisible(m_item >= 0);
    m_hint->setVisible(m_item < 0);
    if (m_item < 0) {
        m_neighbours->setItems(nullptr, {});
        m_imageView->selectionModel()->clear();
        return;
    }
    const int row = m_images->rowOf(m_item);
    if (row >= 0) {
        const QModelIndex at = m_images->index(row);
        m_imageView->selectionModel()->setCurrentIndex(at, QItemSelectionModel::ClearAndSelect);
        m_imageView->scrollTo(at);
    } else {
        m_imageView->selectionModel()->clear();
    }
    if (!other && !searching) return;
    m_picture->setItem(m_item);
    m_name->setFullText(m_data->name(m_item));
    static_cast<ClassChip *>(m_class)->set(m_data->classes[std::size_t(m_data->classOf[std::size_t(m_item)])]);
    m_split->setText(QString::fromStdString(m_data->store.items()[std::size_t(m_item)].split));
    m_split->setVisible(!m_split->text().isEmpty());
    m_vote->setText(searching ? tr("Searching …") : QString());
    m_neighbours->setItems(nullptr, {});
}

void ItemPanel::setNeighbours(const std::vector<embedding::Neighbour> &neighbours)
{
    m_neighbours->setNeighbours(m_data, neighbours);
    if (neighbours.empty()) {
        m_vote->setText(tr("This vector is zero or not finite: its cosine to others is undefined."));
        if (m_data->count() < 2) m_vote->setText(tr("There is no other image."));
        return;
    }
    const int of = int(std::min<std::size_t>(neighbours.size(), voters));
    QStringList parts;
    for (const Vote &v : vote(*m_data, neighbours, voters)) {
        const QString name = m_data->classes[std::size_t(v.classIndex)].name.toHtmlEscaped();
        parts << (parts.isEmpty() ? tr("<b>%1 %2 of %3</b>").arg(name).arg(v.votes).arg(of)
                                  : QStringLiteral("%1 %2").arg(name).arg(v.votes));
    }
    m_vote->setText(tr("kNN vote %1").arg(parts.join(QStringLiteral(", "))));
}

QString ItemPanel::voteText() const { return m_vote->text(); }

void ItemPanel::showProblem()
{
    m_problem->setText(m_thumbs->problem());
    m_problem->setVisible(!m_thumbs->problem().isEmpty());
}

void ItemPanel::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    painter.fillRect(rect(), ui::color(Token::Panel));
    painter.fillRect(QRect(0, 0, 1, height()), ui::color(Token::Line));
}

} // namespace parallax::embeddings
