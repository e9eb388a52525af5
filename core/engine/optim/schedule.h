// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/optim/optimconfig.h"

#include <cstdint>
#include <optional>

namespace parallax::optim {

/// Half a cosine from `start` at step 0 to `end` at step maxSteps - 1 (Loshchilov and Hutter 2017, arXiv:1608.03983);
/// `end` from there on. Steps count from 0. With a `period` the value goes to `end` and back once in so many steps, without end,
/// and maxSteps does not count. Also for weight decay and for the momentum of a moving average.
double cosineSchedule(std::int64_t step, std::int64_t maxSteps, double start, double end,
                      std::optional<std::int64_t> period = {});

/// Even steps from `start` at step 0 to `end` at step warmupSteps, and `end` from there on; also for a temperature.
double linearWarmup(std::int64_t step, std::int64_t warmupSteps, double start, double end);

/// A learning rate: even steps from warmupStart to warmupEnd (`start` if not given), of which the first already has its share and
/// step warmupSteps - 1 reaches the end; then the cosine from `start` over the steps that are left.
double cosineWarmupSchedule(std::int64_t step, std::int64_t maxSteps, std::int64_t warmupSteps, double start, double end,
                            double warmupStart = 0, std::optional<double> warmupEnd = {},
                            std::optional<std::int64_t> period = {});

/// The learning rate of every optimiser step of a run.
class LearningRate
{
public:
    LearningRate(const OptimConfig &config, std::int64_t globalBatch, std::int64_t stepsPerEpoch, std::int64_t steps);
    double peak() const { return m_peak; } ///< after scaling with the batch
    double at(std::int64_t step) const;    ///< `step`: optimiser steps done

private:
    bool m_cosine;
    double m_peak, m_end;
    std::int64_t m_warmupSteps, m_steps;
};

/// The weight decay at an optimiser step of a run of `steps`: weight_decay, or on the cosine to weight_decay_end.
double weightDecayAt(const OptimConfig &config, std::int64_t step, std::int64_t steps);

} // namespace parallax::optim
