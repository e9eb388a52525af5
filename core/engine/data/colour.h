// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/data/transforms.h"

#include <array>

namespace parallax::data::transforms {

/// Colour operations in a row. All of them see a block of pixels while it lies in the processor's first cache; the pixels are gone
/// through once more for each contrast, which needs the mean of what was there before it. The result is that of the single
/// operations, which transforms.h describes.
class ColourSteps
{
public:
    void brightness(float factor) { add(Operation::Brightness, factor); }
    void contrast(float factor) { add(Operation::Contrast, factor); }
    void saturation(float factor) { add(Operation::Saturation, factor); }
    void hue(float turn) { add(Operation::Hue, turn); }
    void gray() { add(Operation::Gray, 0); }
    void solarise(float threshold) { add(Operation::Solarise, threshold); }
    void normalise(const double mean[3], const double std[3]);

    void apply(Planes view) const;

private:
    enum class Operation { Brightness, Contrast, Saturation, Hue, Gray, Solarise, Normalise };
    struct Step {
        Operation operation;
        float value;
        std::array<float, 3> mean, scale;
    };
    /// A run of pixels in each plane.
    struct Block;

    void add(Operation operation, float value) { m_steps.at(m_count++) = {operation, value, {}, {}}; }
    static void applyTo(const Block &block, const Step &step, float mean);

    std::array<Step, 8> m_steps;
    std::size_t m_count = 0;
};

} // namespace parallax::data::transforms
