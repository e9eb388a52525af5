// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/eval/features.h"

#include <algorithm>
#include <stdexcept>

namespace parallax::eval {

namespace {

/// The consecutive slices of `index` that rank `ranks.rank()` puts through the network, one a batch.
std::vector<std::vector<std::int64_t>> shareOf(const std::vector<std::int64_t> &index, std::int64_t begin, std::int64_t end,
                                               std::int64_t batchSize)
{
    std::vector<std::vector<std::int64_t>> batches;
    for (std::int64_t at = begin; at < end; at += batchSize)
        batches.emplace_back(index.begin() + at, index.begin() + std::min(end, at + batchSize));
    return batches;
}

torch::TensorOptions inputOptions(const torch::nn::Module &module, torch::Device device)
{
    for (const auto &parameter : module.parameters()) return torch::TensorOptions(parameter.scalar_type()).device(device);
    return torch::TensorOptions(torch::kFloat32).device(device);
}

/// The labels of a rank that has fewer images than there are ranks still need the right width of features.
torch::Tensor noFeatures(methods::Method &method, const ExtractOptions &options, const torch::TensorOptions &input)
{
    const std::int64_t size = options.augment.size;
    return method.features(torch::zeros({1, 3, size, size}, input)).narrow(0, 0, 0);
}

} // namespace

EvalMode::EvalMode(torch::nn::Module &module)
{
    module.apply([this](torch::nn::Module &part) { m_training.emplace_back(&part, part.is_training()); });
    module.eval();
}

EvalMode::~EvalMode()
{
    // Children come after their parents, and train() reaches down: the last word on each part is its own.
    for (auto &[part, training] : m_training) part->train(training);
}

std::vector<std::int64_t> evenly(std::int64_t count, std::int64_t limit)
{
    const std::int64_t size = limit > 0 ? std::min(limit, count) : count;
    std::vector<std::int64_t> places;
    for (std::int64_t i = 0; i < size; ++i) places.push_back(i * count / size);
    return places;
}

FeatureSet extractFeatures(methods::Method &method, const std::shared_ptr<const data::Dataset> &dataset,
                           const dist::Ranks &ranks, const ExtractOptions &options)
{
    torch::NoGradGuard noGrad;
    const EvalMode evalMode(method);
    const auto count = std::int64_t(options.index.size());
    const std::int64_t begin = count * ranks.rank() / ranks.world(), end = count * (ranks.rank() + 1) / ranks.world();
    const auto input = inputOptions(method, ranks.device());

    const std::vector<data::ViewSpec> views =
        options.views.empty() ? std::vector{data::ViewSpec{options.augment, false}} : options.views;
    data::Loader loader(dataset, views, shareOf(options.index, begin, end, options.batchSize),
                        {.seed = options.seed, .threads = options.threads, .prefetch = options.prefetch});
    std::vector<std::vector<torch::Tensor>> features(views.size());
    std::vector<torch::Tensor> labels, replaced;
    data::Batch batch;
    while (true) {
        auto next = loader.next(std::move(batch));
        if (!next) throw std::runtime_error(next.error().message());
        if (!*next) break;
        batch = std::move(**next);
        for (std::size_t v = 0; v < views.size(); ++v) {
            const std::int64_t size = batch.sizes.at(v);
            const torch::Tensor images =
                torch::from_blob(batch.views.at(v).data(), {batch.count(), 3, size, size}, torch::kFloat32);
            features[v].push_back(method.features(images.to(input)));
        }
        labels.push_back(torch::tensor(std::vector<std::int64_t>(batch.label.begin(), batch.label.end()), torch::kInt64));
        replaced.push_back(torch::tensor(batch.replaced, torch::kUInt8));
    }
    FeatureSet set;
    for (auto &view : features) {
        const torch::Tensor own = view.empty() ? noFeatures(method, options, input) : torch::cat(view);
        set.more.push_back(options.gather ? ranks.allGatherRows(own) : own);
    }
    set.features = set.more.front();
    set.more.erase(set.more.begin());
    set.labels = labels.empty() ? torch::empty({0}, torch::kInt64) : torch::cat(labels);
    set.labels = set.labels.to(ranks.device());
    set.replaced = (replaced.empty() ? torch::empty({0}, torch::kUInt8) : torch::cat(replaced)).to(ranks.device());
    set.begin = options.gather ? 0 : begin;
    set.unreadable = loader.takeUnreadable();
    if (options.gather) {
        set.labels = ranks.allGatherRows(set.labels);
        set.replaced = ranks.allGatherRows(set.replaced);
    }
    return set;
}

} // namespace parallax::eval
