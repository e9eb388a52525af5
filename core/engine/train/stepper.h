// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/data/loader.h"
#include "core/engine/dist/ranks.h"
#include "core/engine/dist/reducer.h"
#include "core/engine/optim/optimiser.h"
#include "core/engine/optim/schedule.h"
#include "core/engine/train/checkpoint.h"
#include "core/engine/train/plan.h"

#include <map>
#include <memory>
#include <string>

namespace parallax::train {

/// Figures of one optimiser step, the same on every rank.
struct StepReport {
    double loss = 0; ///< of the global batch
    double rate = 0; ///< learning rate
    double gradNorm = 0;
    double spread = 0; ///< as Health::addStep takes it
    std::map<std::string, double> figures;
};

/// How images and convolution weights lie in memory: channels last is a third faster on CPUs, and what tensor cores want.
inline torch::MemoryFormat layoutFor(torch::Dtype dtype)
{
    return dtype == torch::kFloat32 ? torch::MemoryFormat::ChannelsLast : torch::MemoryFormat::Contiguous;
}

/// Turns batches into optimiser steps: views to the device, forward, averaged gradients, update.
class Stepper
{
public:
    Stepper(const Experiment &experiment, const Plan &plan, std::shared_ptr<methods::Method> method,
            std::shared_ptr<const dist::Ranks> ranks);

    /// One step on this rank's slice of the global batch. Any number of ranks minimises the mean over the same images. A loss
    /// or gradient that is not finite throws Failure on all ranks before anything is updated.
    StepReport step(const data::Batch &batch, const Progress &progress);

    optim::Optimiser &optimiser() { return *m_optimiser; }

private:
    methods::Context context(const Progress &progress) const;
    std::vector<torch::Tensor> views(const data::Batch &batch) const;
    torch::Tensor weighted(const torch::Tensor &loss, double share) const;
    StepReport reduce(const torch::Tensor &loss, const methods::StepResult &result, double share) const;
    double gradientNorm() const;
    void clip(double norm) const;

    const Experiment &m_experiment;
    Plan m_plan;
    std::shared_ptr<methods::Method> m_method;
    std::shared_ptr<const dist::Ranks> m_ranks, m_lossRanks; ///< the latter: local ones when gather is off
    dist::GradientReducer m_reducer;
    std::unique_ptr<optim::Optimiser> m_optimiser;
    optim::LearningRate m_rate;
    torch::Dtype m_dtype;
};

} // namespace parallax::train
