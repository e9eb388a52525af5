// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/dist/reducer.h"

#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <torch/csrc/distributed/c10d/reducer.hpp>

#include <algorithm>

namespace parallax::dist {

namespace {

std::vector<torch::Tensor> trainable(const torch::nn::Module &module)
{
    std::vector<torch::Tensor> params;
    for (const auto &param : module.parameters())
        if (param.requires_grad()) params.push_back(param);
    return params;
}

std::vector<std::string> trainableNames(const torch::nn::Module &module)
{
    std::vector<std::string> names;
    for (const auto &param : module.named_parameters())
        if (param.value().requires_grad()) names.push_back(param.key());
    return names;
}

/// A buffer or parameter as a plain tensor, so that a collective may write to it.
void broadcastFrom0(const std::vector<torch::Tensor> &tensors, const Ranks &ranks)
{
    for (const auto &tensor : tensors) {
        torch::Tensor plain = tensor.detach();
        ranks.broadcast(plain, 0);
    }
}

} // namespace

struct GradientReducer::Impl {
    std::shared_ptr<const Ranks> ranks; ///< outlives the reducer's hooks
    bool findUnused;
    c10d::Reducer reducer;

    Impl(std::vector<torch::Tensor> params, const std::vector<std::string> &names, std::shared_ptr<const Ranks> r,
         const ReducerOptions &options, std::size_t firstBytes, std::size_t bytes,
         const std::tuple<std::vector<std::vector<std::size_t>>, std::vector<std::size_t>> &buckets)
        : ranks(std::move(r)), findUnused(options.findUnused),
          reducer(
              params, {std::get<0>(buckets).rbegin(), std::get<0>(buckets).rend()},
              c10::intrusive_ptr<c10d::ProcessGroup>::reclaim_copy(static_cast<c10d::ProcessGroup *>(ranks->processGroup())),
              std::vector<bool>(params.size(), false), std::int64_t(bytes), options.findUnused,
              /*gradient_as_bucket_view=*/false, numbered(names), std::int64_t(firstBytes),
              /*skip_all_reduce_unused_params=*/false, /*use_python_reducer=*/false,
              {std::get<1>(buckets).rbegin(), std::get<1>(buckets).rend()})
    {
    }

    static std::unordered_map<std::size_t, std::string> numbered(const std::vector<std::string> &names)
    {
        std::unordered_map<std::size_t, std::string> map;
        for (std::size_t i = 0; i < names.size(); ++i) map[i] = names[i];
        return map;
    }
};

GradientReducer::GradientReducer(std::vector<torch::Tensor> params, const std::vector<std::string> &names,
                                 std::shared_ptr<const Ranks> ranks, const ReducerOptions &options)
{
    if (ranks->world() == 1 || params.empty()) return;
    // A small first bucket: the gradients that backward makes first start on their way early.
    const std::size_t bytes = std::max<std::size_t>(1, std::size_t(options.bucketMb * (1 << 20)));
    const std::size_t firstBytes = std::min<std::size_t>(bytes, 1 << 20);
    const auto buckets = c10d::compute_bucket_assignment_by_size(params, {firstBytes, bytes});
    m_impl = std::make_unique<Impl>(std::move(params), names, std::move(ranks), options, firstBytes, bytes, buckets);
}

GradientReducer::GradientReducer(const torch::nn::Module &module, std::shared_ptr<const Ranks> ranks,
                                 const ReducerOptions &options)
    : GradientReducer(trainable(module), trainableNames(module), std::move(ranks), options)
{
}

GradientReducer::~GradientReducer() = default;

void GradientReducer::prepareForward()
{
    if (!m_impl) return;
    m_impl->reducer.prepare_for_forward();
    m_impl->reducer.rebuild_buckets(); // once, after the first backward has shown the order of the gradients
}

void GradientReducer::prepareBackward(const std::vector<torch::Tensor> &outputs)
{
    if (m_impl) m_impl->reducer.prepare_for_backward(m_impl->findUnused ? outputs : std::vector<torch::Tensor>{});
}

void broadcastState(torch::nn::Module &module, const Ranks &ranks)
{
    broadcastFrom0(module.parameters(), ranks);
    broadcastBuffers(module, ranks);
}

void broadcastBuffers(torch::nn::Module &module, const Ranks &ranks) { broadcastFrom0(module.buffers(), ranks); }

} // namespace parallax::dist
