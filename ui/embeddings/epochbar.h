// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/embeddings/mapdata.h"

#include <QWidget>

#include <vector>

class QLabel;
class QToolButton;

namespace parallax::embeddings {

/// The curve of kNN accuracy over the epochs with a ring at each stored one; click, arrow keys or the buttons choose.
class EpochTrack : public QWidget
{
    Q_OBJECT
public:
    explicit EpochTrack(QWidget *parent = nullptr);
    void set(std::vector<int> stored, int current, std::vector<EpochScore> scores);
    int current() const { return m_current; }
    const std::vector<int> &stored() const { return m_stored; }
    /// Where the ring of a stored epoch is.
    QPointF ringAt(int epoch) const;
    void step(int by);

Q_SIGNALS:
    void epochChosen(int epoch);

protected:
    void paintEvent(QPaintEvent *event) override;
    void mousePressEvent(QMouseEvent *event) override;
    void mouseMoveEvent(QMouseEvent *event) override;
    void keyPressEvent(QKeyEvent *event) override;
    void leaveEvent(QEvent *event) override;

private:
    double lastEpoch() const;
    double xOf(double epoch) const;
    int nearest(double x) const;
    void paintCurve(QPainter &painter) const;
    void paintRings(QPainter &painter) const;

    std::vector<int> m_stored;
    std::vector<EpochScore> m_scores;
    int m_current = -1, m_hovered = -1;
};

/// The strip below the map: previous, next, the epoch in words, the track.
class EpochBar : public QWidget
{
    Q_OBJECT
public:
    explicit EpochBar(QWidget *parent = nullptr);
    void set(const std::vector<int> &stored, int current, const std::vector<EpochScore> &scores);
    EpochTrack *track() const { return m_track; }
    QString caption() const;

Q_SIGNALS:
    void epochChosen(int epoch);

protected:
    void paintEvent(QPaintEvent *event) override;

private:
    EpochTrack *m_track;
    QLabel *m_caption, *m_knn;
    QToolButton *m_previous, *m_next;
};

} // namespace parallax::embeddings
