// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/train/trainer.h"

#include "core/base/text.h"
#include "core/engine/augment/feed.h"
#include "core/engine/nn/batchnorm.h"
#include "core/engine/nn/droppath.h"
#include "core/engine/nn/weights.h"
#include "core/engine/train/checkpoint.h"
#include "core/engine/train/commands.h"
#include "core/engine/train/devices.h"
#include "core/engine/train/embedder.h"
#include "core/engine/train/evaluator.h"
#include "core/engine/train/failure.h"
#include "core/engine/train/health.h"
#include "core/engine/train/reporter.h"
#include "core/engine/train/stepper.h"
#include "core/engine/train/subset.h"

#include <opencv2/core.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>

#include <unistd.h>

namespace parallax::train {
namespace {

using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

std::shared_ptr<dist::Ranks> connect(const Launch &launch, const DistributedConfig &config)
{
    dist::RanksOptions options;
    options.rank = launch.rank;
    options.world = launch.world;
    options.store = launch.store;
    options.device = torch::Device(launch.device);
    options.timeoutSeconds = config.timeoutS;
    return dist::Ranks::connect(options);
}

/// A copy with exactly that layout's strides. A 1×1 kernel fits both layouts, and `contiguous` would leave it as it is: its
/// gradient then has other strides than the reducer's buckets, which costs a copy and a warning each step.
torch::Tensor inLayout(const torch::Tensor &weight, torch::MemoryFormat layout)
{
    return torch::empty(weight.sizes(), weight.options().memory_format(layout)).copy_(weight.detach());
}

std::shared_ptr<methods::Method> placeMethod(const Experiment &experiment, const std::shared_ptr<dist::Ranks> &ranks)
{
    auto method = experiment.makeMethod();
    nn::convertFloats(*method, experiment.dtype());
    method->to(ranks->device());
    for (auto &parameter : method->parameters())
        if (parameter.dim() == 4) parameter.set_data(inLayout(parameter, layoutFor(experiment.dtype())));
    nn::drawForAllRanks(*method, ranks);
    if (experiment.distributed.syncBn) nn::enableSyncBatchNorm(*method, ranks);
    return method;
}

/// One rank's run, from its first event to its last.
class Trainer
{
public:
    Trainer(const Launch &launch, Experiment experiment, Reporter &reporter);
    Outcome run();

private:
    void announce();
    void resume();
    bool runEpoch();
    bool obeyCommands();
    void obey(Commands::Word word);
    void report(const StepReport &report, double seconds, double waited);
    void endEpoch();
    void evaluate(methods::Method &method);
    void evaluateUntrained();
    void refuseBrokenWeights();
    void saveCheckpoint();
    void embed();
    void reportUnreadable(data::Loader &loader);
    void markPosition();
    Outcome end(Outcome outcome);
    bool isMain() const { return m_ranks->rank() == 0; }
    bool done() const { return m_progress.step >= m_plan.steps; }

    const Launch m_launch;
    const Experiment m_experiment;
    Reporter &m_reporter;
    std::shared_ptr<dist::Ranks> m_ranks;
    data::Splits m_splits;
    Plan m_plan;
    std::shared_ptr<methods::Method> m_method;
    Stepper m_stepper;
    Evaluator m_evaluator;
    double m_chanceLoss;
    Health m_health;
    Commands m_commands;
    Progress m_progress;
    bool m_paused = false;
    std::int64_t m_savedStep = -1, m_embeddedStep = -1, m_evaluatedStep = -1;
};

Trainer::Trainer(const Launch &launch, Experiment experiment, Reporter &reporter)
    : m_launch(launch), m_experiment(std::move(experiment)), m_reporter(reporter),
      m_ranks(connect(launch, m_experiment.distributed)),
      m_splits(valueOrThrow(data::openData(m_experiment.data, std::uint64_t(m_experiment.train.seed)))),
      m_plan(valueOrThrow(makePlan(m_experiment, m_splits, launch.world))), m_method(placeMethod(m_experiment, m_ranks)),
      m_stepper(m_experiment, m_plan, m_method, m_ranks), m_evaluator(m_experiment, m_splits, m_ranks, launch.ranksHere),
      m_chanceLoss(m_method->chanceLoss(m_experiment.gathers() ? m_plan.part : m_plan.part / launch.world)),
      m_health(m_chanceLoss), m_commands(launch.commandFd)
{
}

/// Step and epoch of the events that follow.
void Trainer::markPosition() { m_reporter.moveTo(m_progress.step, double(m_progress.step) / double(m_plan.stepsPerEpoch)); }

void Trainer::announce()
{
    markPosition();
    m_reporter.write("start",
                     {{"rank", m_launch.rank},
                      {"world", m_launch.world},
                      {"device", m_launch.device},
                      {"pid", getpid()},
                      {"resumed", m_launch.resume}});
    if (!isMain()) return;
    m_reporter.write("plan",
                     {{"epochs", m_plan.epochs},
                      {"steps", m_plan.steps},
                      {"steps_per_epoch", m_plan.stepsPerEpoch},
                      {"images", m_plan.images},
                      {"batch", m_plan.batch},
                      {"batch_per_rank", m_plan.batchPerRank},
                      {"accumulate", m_experiment.train.accumulate},
                      {"lr_scaled", m_plan.rate},
                      {"chance_loss", figureToJson(m_chanceLoss)},
                      {"bank", m_evaluator.bankSize()},
                      {"queries", m_evaluator.querySize()}});
    if (!m_splits.train->remark().empty()) m_reporter.info(m_splits.train->remark());
    for (const auto &warning : m_plan.warnings) m_reporter.warn(warning);
}

void Trainer::resume()
{
    std::vector<std::string> warnings;
    auto checkpoint = readNewest(m_launch.run, warnings);
    for (const auto &warning : warnings) m_reporter.warn(warning);
    const std::int64_t step = checkpoint ? checkpoint->progress.step : -1;
    if (m_ranks->agreeMax(step) != step || -m_ranks->agreeMax(-step) != step)
        throw Failure({"the ranks do not see the same checkpoints", m_launch.run.checkpoints().string(),
                       "Every machine of the run must see the same run folder"});
    if (!checkpoint) throw Failure(checkpoint.error());
    valueOrThrow(nn::loadState(*m_method, checkpoint->tensors, kModelPrefix));
    valueOrThrow(m_stepper.optimiser().loadState(valueOrThrow(nn::readTensors(checkpoint->tensors, kOptimPrefix))));
    m_progress = checkpoint->progress;
    m_stepper.scaler().setState(m_progress.scaling);
    m_savedStep = m_evaluatedStep = step;
}

Outcome Trainer::run()
{
    if (m_launch.resume)
        resume();
    else
        dist::broadcastState(*m_method, *m_ranks);
    announce();
    m_reporter.memory(m_ranks->device(), true);
    m_reporter.state("training");
    while (!done()) {
        if (!runEpoch()) return end(Outcome::Stopped);
        if (m_progress.batch == m_plan.stepsPerEpoch) endEpoch();
    }
    return end(Outcome::Finished);
}

/// The rest of the running epoch; false: a stop was agreed on.
bool Trainer::runEpoch()
{
    const auto seed = std::uint64_t(m_experiment.train.seed);
    const std::int64_t parts = m_experiment.train.accumulate;
    auto batches = data::rankBatches(data::permutation(m_plan.images, seed, m_progress.epoch), m_plan.part, m_ranks->rank(),
                                     m_ranks->world());
    batches.resize(std::size_t(m_plan.stepsPerEpoch * parts)); // parts that are left over make no step
    batches.erase(batches.begin(), batches.begin() + m_progress.batch * parts);
    data::Loader::Options options;
    options.seed = seed;
    options.epoch = m_progress.epoch;
    options.threads = threadsFor(m_experiment.data.threads, Machine::usableCores(), m_launch.ranksHere);
    options.prefetch = int(m_experiment.data.prefetch);
    options.drawOnly = m_experiment.augment.onDevice;
    const auto specs = m_method->views(m_experiment.augment);
    data::Loader loader(m_splits.train, specs, std::move(batches), options);
    const torch::Dtype dtype = m_experiment.dtype();
    const torch::Device device = m_ranks->device();
    augment::Feed feed(loader, specs, {device, dtype, layoutFor(dtype), device.is_cuda(), options.drawOnly});
    while (!done() && m_progress.batch < m_plan.stepsPerEpoch) {
        if (!obeyCommands()) return false;
        const auto start = Clock::now();
        const double waited = feed.waited();
        m_stepper.begin(m_progress);
        for (std::int64_t part = 0; part < parts; ++part) {
            m_stepper.add(valueOrThrow(feed.next())->views);
            reportUnreadable(loader);
        }
        const StepReport figures = m_stepper.finish();
        m_progress.scaling = m_stepper.scaler().state();
        ++m_progress.step;
        ++m_progress.batch;
        markPosition();
        report(figures, secondsSince(start), feed.waited() - waited);
        evaluateUntrained();
        m_health.addStep(figures.loss, figures.spread, figures.gradNorm);
        const std::int64_t every = m_experiment.checkpoint.everySteps;
        if (every > 0 && m_progress.step % every == 0) saveCheckpoint();
    }
    return true;
}

void Trainer::report(const StepReport &report, double seconds, double waited)
{
    m_reporter.memory(m_ranks->device());
    if (m_progress.step % m_experiment.output.logEvery != 0 && m_progress.step != 1 && !done()) return;
    runs::Json fields = runs::Json::object();
    if (isMain()) {
        fields["loss"] = report.loss;
        fields["lr"] = report.rate;
        fields["grad_norm"] = figureToJson(report.gradNorm);
        for (const auto &[name, value] : report.figures) fields[name] = figureToJson(value);
        fields["images_per_s"] = double(m_plan.batch) / seconds;
    }
    fields["data_wait"] = std::clamp(waited / seconds, 0.0, 1.0);
    fields["step_ms"] = 1000 * seconds;
    m_reporter.write("metrics", std::move(fields));
}

void Trainer::reportUnreadable(data::Loader &loader)
{
    for (const auto &unreadable : loader.takeUnreadable())
        m_reporter.warn("Cannot read " + unreadable.name + ", another image takes its place: " + unreadable.reason);
    for (const auto &data : {m_splits.train, m_splits.val})
        for (const auto &notice : data->takeNotices()) m_reporter.info(notice);
}

/// Acts on what was commanded, on all ranks at the same step. False: stop.
bool Trainer::obeyCommands()
{
    do {
        if (m_paused) m_commands.wait(std::chrono::milliseconds(500)); // ranks wake together, whoever hears first
        const std::int64_t agreed = m_ranks->agreeMax(m_commands.ticket());
        if (Commands::isStop(agreed)) return false;
        for (const auto word : m_commands.take(agreed)) obey(word);
    } while (m_paused);
    return true;
}

void Trainer::obey(Commands::Word word)
{
    if (word == Commands::Word::Checkpoint)
        saveCheckpoint();
    else
        m_paused = word == Commands::Word::Pause;
    m_reporter.state(m_paused ? "paused" : "training");
}

void Trainer::endEpoch()
{
    ++m_progress.epoch;
    m_progress.batch = 0;
    for (const auto &warning : m_health.endEpoch(m_progress.epoch))
        if (isMain()) m_reporter.warn(warning);
    const auto due = [&](std::int64_t every) { return every > 0 && (m_progress.epoch % every == 0 || done()); };
    if (due(m_experiment.eval.everyEpochs)) evaluate(*m_method);
    if (due(m_experiment.checkpoint.everyEpochs)) saveCheckpoint();
    if (due(m_experiment.output.embedEveryEpochs)) embed();
    if (!done()) m_reporter.state("training");
}

void Trainer::evaluate(methods::Method &method)
{
    if (!m_evaluator.enabled()) return;
    m_reporter.state("evaluating");
    dist::broadcastBuffers(method, *m_ranks); // without SyncBatchNorm every rank has running statistics of its own
    const Score score = m_evaluator.run(method);
    for (const auto &warning : score.warnings) m_reporter.warn(warning);
    m_reporter.memory(m_ranks->device(), true);
    const bool trained = &method == m_method.get();
    if (trained) {
        if (score.hasKnn) m_progress.bestKnn = std::max(m_progress.bestKnn, score.top1);
        m_evaluatedStep = m_progress.step;
    } else {
        if (score.hasKnn) m_progress.untrainedKnn = score.top1;
        m_reporter.moveTo(0, 0); // this one figure stands at the start; everything else stays where the run is
    }
    if (isMain()) m_reporter.write("eval", score.toJson());
    if (!trained) markPosition();
}

/// The untrained network is measured after the first step, on a second copy: the first loss is on the screen at once then.
void Trainer::evaluateUntrained()
{
    if (m_progress.step != 1 || !m_experiment.eval.untrained) return;
    const auto untrained = placeMethod(m_experiment, m_ranks);
    evaluate(*untrained);
    m_reporter.state("training");
}

/// An update may overflow although loss and gradient were finite: such a network must not take the place of a sound one.
void Trainer::refuseBrokenWeights()
{
    std::vector<std::string> names;
    std::vector<torch::Tensor> sound; // read at once: a GPU waits a single time
    for (const auto &[name, tensor] : nn::stateDict(*m_method)) {
        if (!tensor.is_floating_point()) continue;
        names.push_back(name);
        sound.push_back(tensor.isfinite().all());
    }
    const torch::Tensor broken = torch::stack(sound).cpu().logical_not().nonzero();
    const std::string bad = broken.size(0) == 0 ? std::string() : names[std::size_t(broken[0][0].item<std::int64_t>())];
    if (m_ranks->agreeMax(!bad.empty()) == 0) return;
    throw Failure(
        {"The weights are infinite or NaN after step " + std::to_string(m_progress.step) +
             (bad.empty() ? " on another rank" : ", the first of them " + bad) + "; they were not saved",
         "training",
         "Lower optim.base_lr, lengthen the warm-up or set train.clip_norm. Earlier checkpoints are as they were"});
}

void Trainer::saveCheckpoint()
{
    if (m_savedStep == m_progress.step) return;
    dist::broadcastBuffers(*m_method, *m_ranks);
    refuseBrokenWeights();
    std::optional<Error> failure;
    if (isMain()) {
        m_reporter.state("checkpointing");
        const auto start = Clock::now();
        nn::NamedTensors tensors = nn::prefixed(kModelPrefix, nn::stateDict(*m_method));
        for (const auto &[name, tensor] : m_stepper.optimiser().state()) tensors.emplace_back(kOptimPrefix + name, tensor);
        const auto bytes = train::saveCheckpoint(m_launch.run, m_progress, tensors, m_experiment.checkpoint.keepLast);
        if (bytes)
            m_reporter.write("checkpoint",
                             {{"file", m_launch.run.checkpoint(m_progress.step).tensors.filename().string()},
                              {"bytes", *bytes},
                              {"seconds", secondsSince(start)}});
        else
            failure = bytes.error();
    }
    const bool failed = m_ranks->agreeMax(failure.has_value()) != 0; // all ranks end together, each with a reason
    if (failure) throw Failure(*failure);
    if (failed)
        throw Failure({"another rank failed: rank 0 could not write a checkpoint", m_launch.run.checkpoints().string(),
                       "Rank 0's error says why"});
    m_savedStep = m_progress.step;
}

void Trainer::embed()
{
    if (m_embeddedStep == m_progress.step) return;
    m_reporter.state("embedding");
    dist::broadcastBuffers(*m_method, *m_ranks);
    const auto data = evenSubset(m_splits.train, m_experiment.output.embedLimit);
    const auto [readable, features, unreadable] = m_evaluator.features(*m_method, data);
    if (isMain()) {
        EmbeddingTarget target;
        target.epoch = int(m_progress.epoch);
        target.step = m_progress.step;
        target.folder = m_launch.run.embeddings(target.epoch);
        if (Status status = writeEmbedding(target, *readable, features); status)
            m_reporter.write("embedding",
                             {{"epoch", target.epoch}, {"count", readable->size()}, {"unreadable", unreadable}});
        else
            m_reporter.warn("Embeddings were not stored: " + status.error().message()); // no reason to lose the training
    }
    m_embeddedStep = m_progress.step;
}

Outcome Trainer::end(Outcome outcome)
{
    const bool finished = outcome == Outcome::Finished;
    if (!finished) m_reporter.state("stopping");
    if (finished && m_experiment.eval.everyEpochs > 0 && m_evaluatedStep != m_progress.step) evaluate(*m_method);
    saveCheckpoint();
    if (finished && m_experiment.output.embedAtEnd) embed();
    m_reporter.memory(m_ranks->device(), true);
    m_ranks->barrier(); // nobody hangs up while another still needs it
    m_reporter.write("state", {{"state", finished ? "finished" : "stopped"}, {"params_digest", digest(*m_method)}});
    return outcome;
}

} // namespace

Outcome train(const Launch &launch, Reporter &reporter)
{
    Experiment experiment = valueOrThrow(Experiment::fromFile(launch.run.config().string()));
    torch::set_num_threads(threadsFor(experiment.train.threads, Machine::usableCores(), launch.ranksHere));
    cv::setNumThreads(1); // the loader has threads of its own
    reporter.state("starting");
    Trainer trainer(launch, std::move(experiment), reporter);
    return trainer.run();
}

} // namespace parallax::train
