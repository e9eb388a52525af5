// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/train/stepper.h"

#include "core/base/text.h"
#include "core/engine/nn/precision.h"
#include "core/engine/train/failure.h"

#include <cmath>
#include <limits>

namespace parallax::train {
namespace {

/// Throws on every rank alike: what is checked has been reduced over the ranks before.
void refuseNonFinite(const char *what, double value, std::int64_t step)
{
    if (std::isfinite(value)) return;
    throw Failure(
        {std::string(what) + " is " + (std::isnan(value) ? "NaN" : "infinite") + " in step " + std::to_string(step + 1) +
             "; the step was not applied",
         "training",
         "Lower optim.base_lr, lengthen the warm-up or set train.clip_norm. Earlier checkpoints are as they were"});
}

} // namespace

Stepper::Stepper(const Experiment &experiment, const Plan &plan, std::shared_ptr<methods::Method> method,
                 std::shared_ptr<const dist::Ranks> ranks)
    : m_experiment(experiment), m_plan(plan), m_method(std::move(method)), m_ranks(std::move(ranks)),
      m_lossRanks(experiment.gathers() ? m_ranks : dist::localRanks(m_ranks->device())),
      m_reducer(*m_method, m_ranks,
                {.findUnused = experiment.distributed.findUnused, .bucketMb = experiment.distributed.bucketMb}),
      m_optimiser(optim::makeOptimiser(experiment.optim, optim::parametersOf(*m_method, experiment.optim))),
      m_rate(experiment.optim, plan.batch, plan.stepsPerEpoch, plan.steps), m_scaler(experiment.train.precision == "fp16")
{
}

/// The reducer takes the mean over ranks. A loss that gathers is made for that (StepResult::loss); one that sees its own rank
/// alone is a mean over that rank's images, and counts by their share.
torch::Tensor Stepper::weighted(const torch::Tensor &loss, double share) const
{
    return m_experiment.gathers() ? loss : loss * (share * m_ranks->world());
}

void Stepper::begin(const Progress &progress)
{
    m_context.ranks = m_lossRanks;
    m_context.all = m_ranks;
    m_context.syncBatchNorm = m_experiment.distributed.syncBn;
    m_context.step = progress.step;
    m_context.steps = m_plan.steps;
    m_context.epoch = progress.epoch;
    m_context.epochs = m_plan.epochs;
    m_parts = 0;
    m_loss = torch::Tensor();
    m_figures.clear();
    m_optimiser->zeroGrad();
    m_method->beforeStep(m_context);
}

void Stepper::add(const std::vector<torch::Tensor> &views)
{
    const std::int64_t parts = m_experiment.train.accumulate;
    // What a method draws from LibTorch's generator is the same after a resume, and on every rank.
    torch::manual_seed(std::uint64_t(m_experiment.train.seed) * 0x9e3779b97f4a7c15u +
                       std::uint64_t(m_context.step * parts + m_parts));
    const double share = double(views.front().size(0)) / double(m_plan.part);
    const bool last = ++m_parts == parts; // gradients add up on each rank, and are averaged over ranks with the last part's
    if (last) m_reducer.prepareForward();
    methods::StepResult result;
    {
        const nn::MixedPrecision precision(m_experiment.mixedPrecision());
        result = m_method->step(views, m_context);
    }
    const torch::Tensor loss = weighted(result.loss, share) / double(parts);
    if (last) m_reducer.prepareBackward({loss});
    (m_scaler.isEnabled() ? loss * m_scaler.scale() : loss).backward();
    m_loss = m_loss.defined() ? m_loss + loss.detach() : loss.detach();
    for (const auto &[name, value] : result.figures) m_figures[name] += value * share / double(parts);
    m_outputDim = result.outputDim;
}

/// Loss and figures of the global batch.
StepReport Stepper::reduce() const
{
    std::vector<double> values{m_loss.item<double>() / m_ranks->world()};
    for (const auto &entry : m_figures) values.push_back(entry.second);
    auto sums = torch::tensor(values, torch::kFloat64).to(m_ranks->device());
    m_ranks->allReduceSum(sums);
    sums = sums.to(torch::kCPU);
    const auto *sum = sums.const_data_ptr<double>();
    StepReport report;
    report.loss = *sum;
    for (const auto &entry : m_figures) report.figures[entry.first] = *++sum;
    const auto spread = report.figures.find("feature_std");
    report.spread = spread == report.figures.end() || m_outputDim == 0 ? std::numeric_limits<double>::quiet_NaN()
                                                                       : spread->second * std::sqrt(double(m_outputDim));
    return report;
}

double Stepper::gradientNorm() const
{
    std::vector<torch::Tensor> norms;
    for (const auto &parameter : m_method->parameters())
        if (parameter.grad().defined()) norms.push_back(parameter.grad().norm());
    return norms.empty() ? 0.0 : torch::stack(norms).norm().item<double>();
}

void Stepper::scaleGradients(double factor) const
{
    if (factor == 1) return;
    for (const auto &parameter : m_method->parameters())
        if (parameter.grad().defined()) parameter.grad().mul_(factor);
}

/// Gradients that overflow are an ordinary event with loss scaling, and the end of a run without.
bool Stepper::isWorthApplying(double gradNorm)
{
    const bool finite = std::isfinite(gradNorm);
    const bool bearable = m_scaler.isEnabled() && m_scaler.update(finite);
    if (!bearable) refuseNonFinite("The gradient", gradNorm, m_context.step);
    return finite;
}

StepReport Stepper::finish()
{
    m_method->afterBackward(m_context);
    StepReport report = reduce();
    refuseNonFinite("The loss", report.loss, m_context.step);
    report.rate = m_rate.at(m_context.step);
    const double scale = m_scaler.scale();
    scaleGradients(1 / scale); // a power of two: exact
    if (m_scaler.isEnabled()) report.figures["loss_scale"] = scale;
    report.gradNorm = gradientNorm();
    report.applied = isWorthApplying(report.gradNorm);
    if (report.applied) {
        const double limit = m_experiment.train.clipNorm;
        if (limit > 0 && report.gradNorm > limit) scaleGradients(limit / report.gradNorm);
        m_optimiser->setWeightDecay(optim::weightDecayAt(m_experiment.optim, m_context.step, m_plan.steps));
        m_optimiser->step(report.rate);
    }
    m_method->afterStep(m_context);
    return report;
}

} // namespace parallax::train
