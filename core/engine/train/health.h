// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <string>
#include <vector>

namespace parallax::train {

/// Watches for training that runs but learns nothing: outputs that collapse to one point, a loss that stays at chance, a loss
/// or gradient that explodes without being infinite yet.
class Health
{
public:
    /// `chanceLoss`: of a network that has learned nothing; NaN: not known.
    explicit Health(double chanceLoss) : m_chanceLoss(chanceLoss) { }

    /// `spread`: standard deviation of the L2-normalised outputs relative to 1/sqrt(dimensions), that of outputs spread evenly
    /// over the sphere; NaN: not known.
    void addStep(double loss, double spread, double gradNorm);
    /// Warnings about the epoch that ends (its number counts from 1); starts the next one.
    std::vector<std::string> endEpoch(std::int64_t epoch);

private:
    /// A figure's level is the median of its last steps: one odd batch is no level.
    class Level
    {
    public:
        void add(double value);
        bool known() const { return m_recent.size() == window; }
        double now() const;
        double first() const { return m_first; }   ///< of the very first step
        double early() const { return m_early; }   ///< highest level of the first steps
        double noise() const { return m_noise; }   ///< largest median distance of those steps from their level
        double lowest() const { return m_lowest; } ///< lowest level so far

    private:
        static constexpr std::size_t window = 5;
        static constexpr std::int64_t earlySteps = 10;
        static constexpr double infinity = std::numeric_limits<double>::infinity();
        std::deque<double> m_recent;
        std::int64_t m_count = 0;
        double m_first = 0, m_early = -infinity, m_noise = 0, m_lowest = infinity;
    };

    std::string explosion();

    double m_chanceLoss;
    double m_lossSum = 0, m_lastSpread = 0;
    bool m_spreadKnown = false, m_exploding = false;
    std::int64_t m_steps = 0;
    Level m_loss, m_gradient;
};

} // namespace parallax::train
