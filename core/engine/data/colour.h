// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/data/transforms.h"

#include <array>

namespace parallax::data::transforms {

enum class ColourOperation { Brightness, Contrast, Saturation, Hue, Gray, Solarise, Normalise };

/// Colour operations in a row. All of them see a block of pixels while it lies in the processor's first cache; the pixels are gone
/// through once more for each contrast, which needs the mean of what was there before it. The result is that of the single
/// operations, which transforms.h describes.
class ColourSteps
{
public:
    /// `value`: a factor, the turn of Hue, the threshold of Solarise, nothing to Gray.
    void add(ColourOperation operation, float value) { m_steps.at(m_count++) = {operation, value, {}, {}}; }
    void normalise(const double mean[3], const double std[3]);

    void apply(Planes view) const;

private:
    struct Step {
        ColourOperation operation;
        float value;
        std::array<float, 3> mean, scale;
    };
    /// A run of pixels in each plane.
    struct Block;

    static void applyTo(const Block &block, const Step &step, float mean);

    std::array<Step, 8> m_steps;
    std::size_t m_count = 0;
};

} // namespace parallax::data::transforms
