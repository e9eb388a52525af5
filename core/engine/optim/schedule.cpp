// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/optim/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace parallax::optim {

double cosineSchedule(std::int64_t step, std::int64_t maxSteps, double start, double end, std::optional<std::int64_t> period)
{
    const auto between = [&](double angle) { return end - (end - start) * (std::cos(angle) + 1) / 2; };
    if (period) return between(2 * std::numbers::pi * double(step) / double(*period));
    if (step >= maxSteps - 1) return end;
    return between(std::numbers::pi * double(step) / double(maxSteps - 1));
}

double linearWarmup(std::int64_t step, std::int64_t warmupSteps, double start, double end)
{
    if (step >= warmupSteps) return end;
    return start + (end - start) * double(step) / double(warmupSteps);
}

double cosineWarmupSchedule(std::int64_t step, std::int64_t maxSteps, std::int64_t warmupSteps, double start, double end,
                            double warmupStart, std::optional<double> warmupEnd, std::optional<std::int64_t> period)
{
    if (step < warmupSteps) return linearWarmup(step + 1, warmupSteps, warmupStart, warmupEnd.value_or(start));
    return cosineSchedule(step - warmupSteps, maxSteps - warmupSteps, start, end, period);
}

LearningRate::LearningRate(const OptimConfig &config, std::int64_t globalBatch, std::int64_t stepsPerEpoch,
                           std::int64_t steps)
    : m_cosine(config.schedule == "cosine"), m_peak(scaledLearningRate(config, globalBatch)), m_end(config.endLr),
      m_warmupSteps(std::min<std::int64_t>(steps, std::llround(config.warmupEpochs * double(stepsPerEpoch)))), m_steps(steps)
{
}

double LearningRate::at(std::int64_t step) const
{
    return m_peak *
        (m_cosine ? cosineWarmupSchedule(step, m_steps, m_warmupSteps, 1, m_end)
                  : linearWarmup(step + 1, m_warmupSteps, 0, 1));
}

double weightDecayAt(const OptimConfig &config, std::int64_t step, std::int64_t steps)
{
    if (config.weightDecaySchedule != "cosine") return config.weightDecay;
    return cosineSchedule(step, steps, config.weightDecay, config.weightDecayEnd);
}

} // namespace parallax::optim
