// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/train/stepper.h"

#include "core/base/text.h"
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
      m_rate(experiment.optim, plan.batch, plan.stepsPerEpoch, plan.steps), m_dtype(experiment.dtype())
{
}

methods::Context Stepper::context(const Progress &progress) const
{
    methods::Context context;
    context.ranks = m_lossRanks;
    context.all = m_ranks;
    context.syncBatchNorm = m_experiment.distributed.syncBn;
    context.step = progress.step;
    context.steps = m_plan.steps;
    context.epoch = progress.epoch;
    context.epochs = m_plan.epochs;
    return context;
}

std::vector<torch::Tensor> Stepper::views(const data::Batch &batch) const
{
    std::vector<torch::Tensor> views;
    for (std::size_t v = 0; v < batch.views.size(); ++v) {
        const std::int64_t size = batch.sizes[v];
        const auto host = torch::from_blob(const_cast<float *>(batch.views[v].data()), {batch.count(), 3, size, size});
        views.push_back(host.to(m_ranks->device(), m_dtype).contiguous(layoutFor(m_dtype)));
    }
    return views;
}

/// The reducer takes the mean over ranks. A loss that gathers is made for that (StepResult::loss); one that sees its own rank
/// alone is a mean over that rank's images, and counts by their share.
torch::Tensor Stepper::weighted(const torch::Tensor &loss, double share) const
{
    return m_experiment.gathers() ? loss : loss * (share * m_ranks->world());
}

/// Loss and figures of the global batch.
StepReport Stepper::reduce(const torch::Tensor &loss, const methods::StepResult &result, double share) const
{
    std::vector<double> values{loss.item<double>() / m_ranks->world()};
    for (const auto &entry : result.figures) values.push_back(entry.second * share);
    auto sums = torch::tensor(values, torch::kFloat64).to(m_ranks->device());
    m_ranks->allReduceSum(sums);
    sums = sums.to(torch::kCPU);
    const auto *sum = sums.const_data_ptr<double>();
    StepReport report;
    report.loss = *sum;
    for (const auto &entry : result.figures) report.figures[entry.first] = *++sum;
    const auto spread = report.figures.find("feature_std");
    report.spread = spread == report.figures.end() || result.outputDim == 0
        ? std::numeric_limits<double>::quiet_NaN()
        : spread->second * std::sqrt(double(result.outputDim));
    return report;
}

double Stepper::gradientNorm() const
{
    std::vector<torch::Tensor> norms;
    for (const auto &parameter : m_method->parameters())
        if (parameter.grad().defined()) norms.push_back(parameter.grad().norm());
    return norms.empty() ? 0.0 : torch::stack(norms).norm().item<double>();
}

void Stepper::clip(double norm) const
{
    const double limit = m_experiment.train.clipNorm;
    if (limit <= 0 || norm <= limit) return;
    for (const auto &parameter : m_method->parameters())
        if (parameter.grad().defined()) parameter.grad().mul_(limit / norm);
}

StepReport Stepper::step(const data::Batch &batch, const Progress &progress)
{
    // What a method draws from LibTorch's generator is the same after a resume, and on every rank.
    torch::manual_seed(std::uint64_t(m_experiment.train.seed) * 0x9e3779b97f4a7c15u + std::uint64_t(progress.step));
    const methods::Context context = this->context(progress);
    const double share = double(batch.count()) / double(m_plan.batch);
    m_optimiser->zeroGrad();
    m_method->beforeStep(context);
    m_reducer.prepareForward();
    const methods::StepResult result = m_method->step(views(batch), context);
    const torch::Tensor loss = weighted(result.loss, share);
    m_reducer.prepareBackward({loss});
    loss.backward();
    m_method->afterBackward(context);

    StepReport report = reduce(loss, result, share);
    refuseNonFinite("The loss", report.loss, progress.step);
    report.gradNorm = gradientNorm();
    refuseNonFinite("The gradient", report.gradNorm, progress.step);
    clip(report.gradNorm);
    report.rate = m_rate.at(progress.step);
    m_optimiser->setWeightDecay(optim::weightDecayAt(m_experiment.optim, progress.step, m_plan.steps));
    m_optimiser->setWeightDecay(optim::weightDecayAt(m_experiment.optim, progress.step, m_plan.steps));
    m_optimiser->step(report.rate);
    m_method->afterStep(context);
    return report;
}

} // namespace parallax::train
