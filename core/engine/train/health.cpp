// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/train/health.h"

#include "core/base/text.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace parallax::train {
namespace {

constexpr double kCollapsed = 0.1;  ///< spread below this share of an even one counts as collapse
constexpr double kAtChance = 0.002; ///< relative distance to the chance loss within which nothing was learned
constexpr double kFarAbove = 2;     ///< a loss explodes this many of its own ranges above where it started
constexpr double kLeastRange = 0.5; ///< losses are of the order of one and more
constexpr double kBeyond = 50;      ///< or at this many times the very first one
constexpr double kSteep = 100;      ///< a gradient explodes at this many times its early norm

double median(std::vector<double> values)
{
    const auto middle = values.begin() + std::ptrdiff_t(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

} // namespace

void Health::Level::add(double value)
{
    if (!std::isfinite(value)) return; // a step that was not applied
    m_recent.push_back(value);
    if (m_recent.size() > window) m_recent.pop_front();
    if (++m_count == 1) m_first = value;
    if (!known()) return;
    m_lowest = std::min(m_lowest, now());
    if (m_count > earlySteps) return;
    m_early = std::max(m_early, now());
    std::vector<double> distances;
    for (const double recent : m_recent) distances.push_back(std::abs(recent - now()));
    m_noise = std::max(m_noise, median(std::move(distances)));
}

double Health::Level::now() const { return median({m_recent.begin(), m_recent.end()}); }

void Health::addStep(double loss, double spread, double gradNorm)
{
    m_loss.add(loss);
    m_gradient.add(gradNorm);
    m_lossSum += loss;
    m_spreadKnown = !std::isnan(spread);
    m_lastSpread = spread;
    ++m_steps;
}

/// An untrained network's loss, or that at chance where it is known, is as high as a loss gets by itself: MoCo's rises while
/// its bank fills, but not above chance. Losses may be negative or near zero, so that it is the range they move in that
/// counts. What explodes among the first steps shows beside the very first loss alone. A steep gradient may be harmless:
/// weight decay shrinks weights before a batch norm, which makes gradients grow, but not the loss.
std::string Health::explosion()
{
    if (!m_loss.known() || !m_gradient.known()) return {};
    const double chance = std::isfinite(m_chanceLoss) ? m_chanceLoss : m_loss.lowest();
    const double start = std::max(m_loss.early(), chance);
    const double range = std::max({start - m_loss.lowest(), std::abs(start), 10 * m_loss.noise(), kLeastRange});
    const double first = std::max(std::abs(m_loss.first()), kLeastRange);
    const bool loss = m_loss.now() > std::min(start + kFarAbove * range, std::max(kBeyond * first, chance));
    const double steepness = m_gradient.early() > 0 ? m_gradient.now() / m_gradient.early() : 0;
    const bool gradient = steepness > kSteep && m_loss.now() > m_loss.lowest() + 0.1 * range;
    const bool before = std::exchange(m_exploding, loss || gradient);
    if (before || !m_exploding) return {}; // said once for as long as it lasts
    const std::string cure = ". The steps are too large: lower optim.base_lr, lengthen optim.warmup_epochs or set "
                             "train.clip_norm, and go on from an earlier checkpoint";
    if (loss)
        return "The loss explodes: it is " + text::fixed(m_loss.now(), 2) + ", after " + text::fixed(m_loss.first(), 2) +
            " in the first step and " + text::fixed(m_loss.lowest(), 2) + " at best" + cure;
    return "The gradient explodes: its norm is " + text::fixed(steepness, 0) +
        " times that of the first steps, and the loss rises" + cure;
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
    if (std::string warning = explosion(); !warning.empty()) warnings.push_back(std::move(warning));
    m_lossSum = 0;
    m_steps = 0;
    return warnings;
}

} // namespace parallax::train
