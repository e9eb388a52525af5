// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace parallax::train {

/// Watches for training that runs but learns nothing: outputs that collapse to one point, a loss that stays at chance.
class Health
{
public:
    /// `chanceLoss`: of a network that has learned nothing; NaN: not known.
    explicit Health(double chanceLoss) : m_chanceLoss(chanceLoss) { }

    /// `spread`: standard deviation of the L2-normalised outputs relative to 1/sqrt(dimensions), that of outputs spread evenly
    /// over the sphere; NaN: not known.
    void addStep(double loss, double spread);
    /// Warnings about the epoch that ends (its number counts from 1); starts the next one.
    std::vector<std::string> endEpoch(std::int64_t epoch);

private:
    double m_chanceLoss;
    double m_lossSum = 0, m_lastSpread = 0;
    bool m_spreadKnown = false;
    std::int64_t m_steps = 0;
};

} // namespace parallax::train
