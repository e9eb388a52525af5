// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/train/health.h"

#include "core/base/text.h"

#include <cmath>

namespace parallax::train {
namespace {

constexpr double kCollapsed = 0.1;  ///< spread below this share of an even one counts as collapse
constexpr double kAtChance = 0.002; ///< relative distance to the chance loss within which nothing was learned

} // namespace

void Health::addStep(double loss, double spread)
{
    m_lossSum += loss;
    m_spreadKnown = !std::isnan(spread);
    m_lastSpread = spread;
    ++m_steps;
}

std::vector<std::string> Health::endEpoch(std::int64_t epoch)
{
    std::vector<std::string> warnings;
    if (m_steps == 0) return warnings;
    if (m_spreadKnown && m_lastSpread < kCollapsed)
        warnings.push_back("The outputs have collapsed: they spread over " + text::fixed(100 * m_lastSpread, 1) +
                           " % of what even outputs would. The network gives nearly the same answer for every image. "
                           "Lower the learning rate, or check that the images differ");
    const double loss = m_lossSum / double(m_steps);
    if (epoch > 1 && std::isfinite(m_chanceLoss) && std::abs(loss - m_chanceLoss) < kAtChance * std::abs(m_chanceLoss))
        warnings.push_back(
            "The loss stays at chance (" + text::fixed(loss, 3) + ", chance is " + text::fixed(m_chanceLoss, 3) +
            "): nothing was learned in this epoch. Change the learning rate, or check that the images differ");
    m_lossSum = 0;
    m_steps = 0;
    return warnings;
}

} // namespace parallax::train
