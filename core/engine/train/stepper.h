// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/dist/ranks.h"
#include "core/engine/dist/reducer.h"
#include "core/engine/optim/optimiser.h"
#include "core/engine/optim/schedule.h"
#include "core/engine/train/checkpoint.h"
#include "core/engine/train/lossscaler.h"
#include "core/engine/train/plan.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace parallax::train {

/// Figures of one optimiser step, the same on every rank.
struct StepReport {
    double loss = 0; ///< of the global batch
    double rate = 0; ///< learning rate
    double gradNorm = 0;
    bool applied = true; ///< false: gradients overflowed float16, the weights stay (see LossScaler)
    double spread = 0;   ///< as Health::addStep takes it
    std::map<std::string, double> figures;
};

/// How images and convolution weights lie in memory: channels last is a third faster on CPUs, and what tensor cores want.
inline torch::MemoryFormat layoutFor(torch::Dtype dtype)
{
    return dtype == torch::kFloat32 ? torch::MemoryFormat::ChannelsLast : torch::MemoryFormat::Contiguous;
}

/// Turns batches into optimiser steps: forward, averaged gradients, update. A step is begin(), add() for
/// each part of its batch (train.accumulate), finish().
class Stepper
{
public:
    Stepper(const Experiment &experiment, const Plan &plan, std::shared_ptr<methods::Method> method,
            std::shared_ptr<const dist::Ranks> ranks);

    void begin(const Progress &progress);
    /// Gradients of this rank's slice of one part of the global batch. Any number of ranks minimises the mean over the same
    /// images.
    /// `views`: on the device, each [n, 3, size, size].
    void add(const std::vector<torch::Tensor> &views);
    /// The update. A loss or gradient that is not finite throws Failure on all ranks before anything is changed.
    StepReport finish();

    optim::Optimiser &optimiser() { return *m_optimiser; }
    LossScaler &scaler() { return m_scaler; }

private:
    torch::Tensor weighted(const torch::Tensor &loss, double share) const;
    StepReport reduce() const;
    double gradientNorm() const;
    void scaleGradients(double factor) const;
    bool isWorthApplying(double gradNorm);

    const Experiment &m_experiment;
    Plan m_plan;
    std::shared_ptr<methods::Method> m_method;
    std::shared_ptr<const dist::Ranks> m_ranks, m_lossRanks; ///< the latter: local ones when gather is off
    dist::GradientReducer m_reducer;
    std::unique_ptr<optim::Optimiser> m_optimiser;
    optim::LearningRate m_rate;
    LossScaler m_scaler;

    // Of the running step.
    methods::Context m_context;
    std::int64_t m_parts = 0; ///< added so far
    torch::Tensor m_loss;     ///< sums over them
    std::map<std::string, double> m_figures;
    std::int64_t m_outputDim = 0;
};

} // namespace parallax::train
