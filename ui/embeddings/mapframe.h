// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/embeddings/mapdata.h"

#include <QWidget>

class QLabel;

namespace parallax::embeddings {

class ClassModel;
class Legend;
class MapCanvas;
class Thumbs;

/// The canvas with what lies over it: legend, zoom buttons, remarks on the vectors, keys.
class MapFrame : public QWidget
{
    Q_OBJECT
public:
    explicit MapFrame(Thumbs *thumbs, QWidget *parent = nullptr);
    void setData(const std::shared_ptr<const MapData> &data);
    MapCanvas *canvas() const { return m_canvas; }
    ClassModel *classes() const { return m_classes; }
    Legend *legend() const { return m_legend; }
    QString remarks() const;

protected:
    void resizeEvent(QResizeEvent *event) override;

private:
    QWidget *makeTools();
    void place();

    ClassModel *m_classes;
    MapCanvas *m_canvas;
    Legend *m_legend;
    QWidget *m_tools;
    QLabel *m_remarks;
    QWidget *m_keys;
};

} // namespace parallax::embeddings
