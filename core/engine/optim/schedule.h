// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/optim/optimconfig.h"

#include <cstdint>

namespace parallax::optim {

/// Half a cosine from `start` at step 0 to `end` at step maxSteps - 1 (Loshchilov and Hutter 2017, arXiv:1608.03983);
/// `end` from there on. Steps count from 0.
double cosineSchedule(std::int64_t step, std::int64_t maxSteps, double start, double end);

/// Even steps from `start` to `end`: the first step already has its share, step warmupSteps - 1 reaches `end`.
double linearWarmup(std::int64_t step, std::int64_t warmupSteps, double start, double end);

/// linearWarmup from warmupStart to `start`, then the cosine over the steps that are left.
double cosineWarmupSchedule(std::int64_t step, std::int64_t maxSteps, std::int64_t warmupSteps, double start, double end,
                            double warmupStart = 0);

/// The learning rate of every optimiser step of a run.
class LearningRate
{
public:
    LearningRate(const OptimConfig &config, std::int64_t globalBatch, std::int64_t stepsPerEpoch, std::int64_t steps);
    double peak() const { return m_peak; } ///< after scaling with the batch
    double at(std::int64_t step) const;    ///< `step`: optimiser steps done

private:
    bool m_cosine;
    double m_peak;
    std::int64_t m_warmupSteps, m_steps;
};

} // namespace parallax::optim
