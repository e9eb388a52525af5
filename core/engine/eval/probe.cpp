// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/eval/probe.h"

#include "core/base/text.h"
#include "core/engine/eval/features.h"
#include "core/engine/optim/schedule.h"
#include "core/engine/optim/sgd.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace parallax::eval {

namespace {

constexpr double referenceBatch = 256;    ///< that learning rates are given for
constexpr std::int64_t rowsAtOnce = 8192; ///< of logits: many classes and images are a large matrix
constexpr std::int64_t topK = 5;

/// A linear layer that learns at one rate; behind fine-tuning its optimiser moves the network too.
struct Learner {
    torch::nn::Linear head = nullptr;
    std::unique_ptr<optim::Sgd> optimiser;
    torch::Tensor lossSum; ///< over the running epoch's images, float64; read once an epoch, so that a GPU need not wait
    torch::Tensor guesses; ///< [n] the likeliest classes of the validation images
};

bool isFinite(const Learner &learner)
{
    return torch::isfinite(learner.lossSum).item<bool>() && torch::isfinite(learner.head->weight).all().item<bool>() &&
        torch::isfinite(learner.head->bias).all().item<bool>();
}

class Probe
{
public:
    Probe(methods::Method &method, const LabelledData &data, const ProbeConfig &config, const dist::Ranks &ranks);
    Result<ProbeResult> run(const ProbeProgress &progress);

private:
    void addLearner(double lr);
    Status runEpoch(std::int64_t epoch);
    Status step(const data::Batch &batch);
    torch::Tensor features(const torch::Tensor &images);
    void readValidation();
    void judge(std::int64_t epoch);
    Status endEpoch(std::int64_t epoch);
    Result<ProbeResult> finish();
    bool linear() const { return m_config.linear(); }

    methods::Method &m_method;
    std::shared_ptr<torch::nn::Module> m_backbone;
    const LabelledData &m_data;
    const ProbeConfig &m_config;
    const dist::Ranks &m_ranks;
    const std::int64_t m_classes;
    std::vector<Learner> m_learners;
    ProbeResult m_result; ///< its curves beside the learners, one each
    std::int64_t m_step = 0;
    torch::Tensor m_features, m_labels; ///< of the validation images that can be read
};

Probe::Probe(methods::Method &method, const LabelledData &data, const ProbeConfig &config, const dist::Ranks &ranks)
    : m_method(method), m_backbone(method.backbone()), m_data(data), m_config(config), m_ranks(ranks),
      m_classes(std::int64_t(data.train->classes().size()))
{
    m_result.batch = std::min(config.batchSize, data.train->size());
    m_result.stepsPerEpoch = data.train->size() / m_result.batch;
    for (const double lr : config.lr) addLearner(lr);
}

/// Every layer starts alike, on every device.
void Probe::addLearner(double lr)
{
    std::int64_t width = 0;
    {
        torch::NoGradGuard noGrad;
        const EvalMode evalMode(m_method);
        const std::int64_t size = m_data.augment.size;
        width = m_method.features(torch::zeros({1, 3, size, size}, m_ranks.device())).size(1);
    }
    torch::manual_seed(std::uint64_t(m_config.seed));
    Learner learner;
    learner.head = torch::nn::Linear(width, m_classes);
    learner.head->to(m_ranks.device());
    std::vector<optim::Parameter> parameters;
    for (const auto &item : learner.head->named_parameters())
        parameters.push_back({item.key(), item.value(), m_config.weightDecay});
    if (!linear())
        for (const auto &item : m_backbone->named_parameters())
            if (item.value().requires_grad())
                parameters.push_back({"backbone." + item.key(), item.value(), m_config.weightDecay});
    learner.optimiser = std::make_unique<optim::Sgd>(std::move(parameters), optim::SgdOptions{m_config.momentum, false});
    m_learners.push_back(std::move(learner));
    RateCurve curve;
    curve.lr = lr;
    curve.scaled = lr * double(m_result.batch) / referenceBatch;
    m_result.curves.push_back(std::move(curve));
}

Result<ProbeResult> Probe::run(const ProbeProgress &progress)
{
    std::optional<EvalMode> frozen;
    if (linear()) {
        frozen.emplace(m_method);
        readValidation(); // the features stay as they are
    } else {
        m_backbone->train();
    }
    for (std::int64_t epoch = 0; epoch < m_config.epochs; ++epoch) {
        if (Status status = runEpoch(epoch); !status) return status.error();
        if (Status status = endEpoch(epoch); !status) return status.error();
        if (progress) progress(m_result.curves);
    }
    return finish();
}

Status Probe::runEpoch(std::int64_t epoch)
{
    for (auto &learner : m_learners)
        learner.lossSum = torch::zeros({}, torch::TensorOptions(torch::kFloat64).device(m_ranks.device()));
    const auto seed = std::uint64_t(m_config.seed);
    data::Loader loader(m_data.train, {trainingView(m_data.augment, m_config)},
                        data::rankBatches(data::permutation(m_data.train->size(), seed, epoch), m_result.batch, 0, 1),
                        {.seed = seed, .epoch = epoch, .threads = m_data.threads, .prefetch = m_data.prefetch});
    while (true) {
        const auto next = loader.next();
        if (!next) return next.error();
        if (!*next) break;
        if (Status status = step(**next); !status) return status;
    }
    for (auto &unreadable : loader.takeUnreadable()) m_result.unreadable.push_back(std::move(unreadable));
    return {};
}

torch::Tensor Probe::features(const torch::Tensor &images)
{
    if (!linear()) return m_method.features(images);
    torch::NoGradGuard noGrad;
    return m_method.features(images);
}

Status Probe::step(const data::Batch &batch)
{
    const std::int64_t size = batch.sizes.front(), steps = m_result.stepsPerEpoch * m_config.epochs;
    const auto host = torch::from_blob(const_cast<float *>(batch.views.front().data()), {batch.count(), 3, size, size});
    const torch::Tensor images = host.to(m_ranks.device()).contiguous(torch::MemoryFormat::ChannelsLast);
    const torch::Tensor labels =
        torch::tensor(std::vector<std::int64_t>(batch.label.begin(), batch.label.end()), torch::kInt64).to(m_ranks.device());
    const torch::Tensor features = this->features(images);
    if (m_step == 0 && !torch::isfinite(features).all().item<bool>())
        return Error{"The network's features are NaN or infinite", "checkpoint",
                     "Its weights are of no use: choose another checkpoint with --epoch, or other --weights"};
    for (std::size_t i = 0; i < m_learners.size(); ++i) {
        const RateCurve &curve = m_result.curves[i];
        if (curve.diverged) continue;
        Learner &learner = m_learners[i];
        learner.optimiser->zeroGrad();
        const torch::Tensor loss = torch::cross_entropy_loss(learner.head->forward(features), labels);
        loss.backward();
        // The cosine of a single step would be its end, 0.
        learner.optimiser->step(optim::cosineSchedule(m_step, std::max<std::int64_t>(2, steps), curve.scaled, 0));
        learner.lossSum += loss.detach().to(torch::kFloat64) * batch.count();
    }
    ++m_step;
    return {};
}

void Probe::readValidation()
{
    ExtractOptions options;
    options.augment = m_data.augment;
    options.views = {validationView(m_data.augment, m_config)};
    options.index = evenly(m_data.val->size(), 0);
    options.batchSize = m_config.batchSize;
    options.threads = m_data.threads;
    options.prefetch = m_data.prefetch;
    FeatureSet set = extractFeatures(m_method, m_data.val, m_ranks, options);
    const torch::Tensor readable = (set.replaced == 0).nonzero().flatten();
    m_features = set.features.index_select(0, readable);
    m_labels = set.labels.index_select(0, readable);
    for (auto &unreadable : set.unreadable) m_result.unreadable.push_back(std::move(unreadable));
}

/// Top-1 and top-5 of every learner, each validation image counting once.
void Probe::judge(std::int64_t epoch)
{
    torch::NoGradGuard noGrad;
    const std::int64_t count = m_labels.size(0), k = std::min(topK, m_classes);
    for (std::size_t i = 0; i < m_learners.size(); ++i) {
        RateCurve &curve = m_result.curves[i];
        if (curve.diverged) continue;
        std::vector<torch::Tensor> ranked;
        for (std::int64_t at = 0; at < count; at += rowsAtOnce) {
            const torch::Tensor rows = m_features.narrow(0, at, std::min(rowsAtOnce, count - at));
            ranked.push_back(std::get<1>(m_learners[i].head->forward(rows).topk(k)));
        }
        const torch::Tensor order = torch::cat(ranked), hits = order == m_labels.unsqueeze(1);
        m_learners[i].guesses = order.select(1, 0);
        EpochScore score;
        score.epoch = epoch + 1;
        score.loss = m_learners[i].lossSum.item<double>() / double(m_result.batch * m_result.stepsPerEpoch);
        score.top1 = double(hits.select(1, 0).sum().item<std::int64_t>()) / double(count);
        score.top5 = double(hits.any(1).sum().item<std::int64_t>()) / double(count);
        curve.epochs.push_back(score);
    }
}

Status Probe::endEpoch(std::int64_t epoch)
{
    for (std::size_t i = 0; i < m_learners.size(); ++i)
        m_result.curves[i].diverged = m_result.curves[i].diverged || !isFinite(m_learners[i]);
    if (std::ranges::all_of(m_result.curves, &RateCurve::diverged)) {
        std::vector<std::string> rates;
        for (const RateCurve &curve : m_result.curves) rates.push_back(text::number(curve.lr));
        return Error{"The loss is NaN or infinite in epoch " + std::to_string(epoch + 1) + " with learning rate " +
                         text::join(rates, ", "),
                     "probe.lr", "Lower the learning rate: --lr " + text::number(m_result.curves.front().lr / 10)};
    }
    if (!linear()) readValidation();
    if (m_labels.size(0) == 0)
        return Error{"none of the validation images can be read", m_data.val->source(),
                     "parallax data check lists what each file is"};
    if (!torch::isfinite(m_features).all().item<bool>())
        return Error{"The network's features are NaN or infinite after epoch " + std::to_string(epoch + 1), "probe.lr",
                     "Lower the learning rate: --lr " + text::number(m_result.curves.front().lr / 10)};
    judge(epoch);
    return {};
}

Result<ProbeResult> Probe::finish()
{
    const auto top1 = [&](std::size_t i) { return m_result.curves[i].diverged ? -1 : m_result.curves[i].last().top1; };
    for (std::size_t i = 0; i < m_result.curves.size(); ++i)
        if (top1(i) > top1(m_result.chosen)) m_result.chosen = i;
    const Learner &learner = m_learners[m_result.chosen];
    m_result.weight = learner.head->weight.detach().cpu();
    m_result.bias = learner.head->bias.detach().cpu();
    m_result.labels = m_labels.cpu();
    m_result.guesses = learner.guesses.cpu();
    return std::move(m_result);
}

} // namespace

const EpochScore &RateCurve::best() const { return *std::ranges::max_element(epochs, {}, &EpochScore::top1); }

data::ViewSpec trainingView(const data::AugmentConfig &augment, const ProbeConfig &config)
{
    data::AugmentConfig view = augment;
    view.cropMin = config.cropMin;
    view.cropMax = 1;
    view.flipP = config.flipP;
    view.jitterP = view.grayP = view.blurP = view.solarizeP = 0;
    return {view, true};
}

data::ViewSpec validationView(const data::AugmentConfig &augment, const ProbeConfig &config)
{
    return {augment, false, config.centreCrop};
}

Result<ProbeResult> probe(methods::Method &method, const LabelledData &data, const ProbeConfig &config,
                          const dist::Ranks &ranks, const ProbeProgress &progress)
{
    if (config.lr.empty()) return Error{"no learning rate is given", "probe.lr", "For example: --lr 0.1"};
    TORCH_CHECK(data.train->size() > 0 && data.val->size() > 0, "images to learn from and to be judged by expected");
    return Probe(method, data, config, ranks).run(progress);
}

} // namespace parallax::eval
