// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/optim/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace parallax::optim {

double cosineSchedule(std::int64_t step, std::int64_t maxSteps, double start, double end)
{
    if (step >= maxSteps - 1) return end;
    const double done = double(step) / double(maxSteps - 1);
    return end - (end - start) * (std::cos(std::numbers::pi * done) + 1) / 2;
}

double linearWarmup(std::int64_t step, std::int64_t warmupSteps, double start, double end)
{
    if (step >= warmupSteps) return end;
    return start + (end - start) * double(step + 1) / double(warmupSteps);
}

double cosineWarmupSchedule(std::int64_t step, std::int64_t maxSteps, std::int64_t warmupSteps, double start, double end,
                            double warmupStart)
{
    if (step < warmupSteps) return linearWarmup(step, warmupSteps, warmupStart, start);
    return cosineSchedule(step - warmupSteps, maxSteps - warmupSteps, start, end);
}

LearningRate::LearningRate(const OptimConfig &config, std::int64_t globalBatch, std::int64_t stepsPerEpoch,
                           std::int64_t steps)
    : m_cosine(config.schedule == "cosine"), m_peak(scaledLearningRate(config, globalBatch)),
      m_warmupSteps(std::min<std::int64_t>(steps, std::llround(config.warmupEpochs * double(stepsPerEpoch)))), m_steps(steps)
{
}

double LearningRate::at(std::int64_t step) const
{
    return m_peak *
        (m_cosine ? cosineWarmupSchedule(step, m_steps, m_warmupSteps, 1, 0) : linearWarmup(step, m_warmupSteps, 0, 1));
}

} // namespace parallax::optim
