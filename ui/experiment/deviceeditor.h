// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/experiment/fieldeditor.h"

#include <QAbstractButton>

#include <vector>

class QGridLayout;

namespace parallax::experiment {

/// A GPU of this machine, as the worker numbers them.
struct Device {
    QString name;  ///< "cuda:0"
    QString label; ///< "NVIDIA RTX A5000"
    double totalMb = 0, freeMb = 0;
    bool operator==(const Device &) const = default;
};
/// From the worker's `devices` job; what is malformed is left out.
std::vector<Device> readDevices(const config::Json &answer);

/// "GPU 0  23.4 GB free" over a bar of what is in use.
class DeviceTile : public QAbstractButton
{
    Q_OBJECT
public:
    DeviceTile(int number, Device device, QWidget *parent);
    QSize sizeHint() const override { return {156, 40}; }

protected:
    void paintEvent(QPaintEvent *event) override;

private:
    int m_number;
    Device m_device;
};

/// One tile a GPU; an empty list means all of them.
class DeviceEditor : public FieldEditor
{
    Q_OBJECT
public:
    DeviceEditor(Draft *draft, const config::Field &field, QWidget *parent);
    void setDevices(const std::vector<Device> &devices);
    bool hasDevices() const { return !m_tiles.empty(); }
    const std::vector<DeviceTile *> &tiles() const { return m_tiles; }
    void refresh() override;
    QWidget *input() const override;
    int heightInPixels() const override;

private:
    void toggled();
    QGridLayout *m_grid;
    std::vector<DeviceTile *> m_tiles;
};

} // namespace parallax::experiment
