// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/experiment/planner.h"
#include "ui/widgets/card.h"

class QPushButton;

namespace parallax::experiment {

/// Rows of an image and its views in two epochs. Old pictures step back while new ones are made.
class ViewsGrid : public QWidget
{
    Q_OBJECT
public:
    explicit ViewsGrid(QWidget *parent = nullptr);
    void show(const std::vector<PreviewImage> &images, std::size_t first, bool stale, const QString &message);
    const std::vector<PreviewImage> &images() const { return m_images; }
    QString message() const { return m_message; }

protected:
    void paintEvent(QPaintEvent *event) override;
    void resizeEvent(QResizeEvent *event) override;

private:
    double side() const;
    void fitHeight();
    int columns() const;
    std::vector<PreviewImage> m_images;
    bool m_stale = false;
    QString m_message;
};

class ViewsCard : public ui::Card
{
    Q_OBJECT
public:
    explicit ViewsCard(Planner *planner, QWidget *parent = nullptr);
    ViewsGrid *grid() const { return m_grid; }
    QPushButton *otherImages() const { return m_other; }

private:
    void refresh();
    Planner *m_planner;
    std::size_t m_first = 0;
    ViewsGrid *m_grid;
    QPushButton *m_other;
};

} // namespace parallax::experiment
