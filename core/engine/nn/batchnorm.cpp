// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/nn/batchnorm.h"

#include "core/engine/dist/capsule.h"

#include <ostream>

namespace parallax::nn {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// Mean and biased variance of every channel over all ranks, and the number of values a channel has, in float64: the counts
/// of large feature maps and the differences between ranks must survive.
struct Moments {
    torch::Tensor mean, var, count; ///< [C], [C], []
};

Moments globalMoments(const torch::Tensor &x, const dist::Ranks &ranks)
{
    const std::int64_t channels = x.size(1);
    const std::int64_t own = x.numel() / std::max<std::int64_t>(channels, 1);
    const auto exact = x.options().dtype(torch::kFloat64);
    torch::Tensor row = torch::zeros({2 * channels + 1}, exact);
    if (own > 0) {
        const auto [mean, var] = at::batch_norm_update_stats(x, {}, {}, 0);
        row = torch::cat({torch::full({1}, double(own), exact), mean.to(torch::kFloat64), var.to(torch::kFloat64)});
    }
    const torch::Tensor all = ranks.allGatherEqual(row); // [world, 1 + 2C]
    const torch::Tensor count = all.narrow(1, 0, 1), means = all.narrow(1, 1, channels);
    const torch::Tensor vars = all.narrow(1, 1 + channels, channels);
    const torch::Tensor total = count.sum();
    // A single value has no variance. Looked at only where the own count allows it: elsewhere a GPU need not wait.
    if (own <= 1)
        TORCH_CHECK(total.item<double>() > 1,
                    "Batch normalisation in training needs more than one value a channel over all "
                    "ranks: use a larger batch or larger images");
    const torch::Tensor mean = (count * means).sum(0) / total;
    const torch::Tensor var = (count * (vars + (means - mean).square())).sum(0) / total;
    return {mean, var, total};
}

struct SyncBatchNorm : torch::autograd::Function<SyncBatchNorm> {
    static torch::Tensor forward(AutogradContext *context, const torch::Tensor &input, const torch::Tensor &weight,
                                 const torch::Tensor &bias, torch::Tensor runningMean, torch::Tensor runningVar,
                                 double momentum, double eps, std::shared_ptr<const dist::Ranks> ranks)
    {
        const torch::Tensor x = input.contiguous(input.suggest_memory_format()); // channels last stays so
        const Moments moments = globalMoments(x, *ranks);
        const auto dtype = runningMean.scalar_type();
        const torch::Tensor mean = moments.mean.to(dtype), var = moments.var.to(dtype);
        runningMean.mul_(1 - momentum).add_(mean, momentum);
        runningVar.mul_(1 - momentum).add_((moments.var * (moments.count / (moments.count - 1))).to(dtype), momentum);

        context->saved_data["ranks"] = dist::capsule(ranks);
        context->saved_data["eps"] = eps;
        context->save_for_backward({x, weight, mean, var, moments.count});
        if (x.numel() == 0) return x.clone();
        // Evaluation mode: the kernel takes the statistics as given.
        return std::get<0>(at::native_batch_norm(x, weight, bias, mean, var, false, 0, eps));
    }

    static variable_list backward(AutogradContext *context, variable_list gradients)
    {
        const auto saved = context->get_saved_variables();
        const torch::Tensor &x = saved[0], &weight = saved[1], &mean = saved[2], &var = saved[3], &count = saved[4];
        const double eps = context->saved_data["eps"].toDouble();
        const torch::Tensor upstream = gradients[0].contiguous(x.suggest_memory_format());

        // As if mean and variance were constants; plus this rank's sums of dy and of dy·x̂.
        torch::Tensor gradInput = torch::zeros_like(x), gradWeight = torch::zeros_like(mean),
                      gradBias = torch::zeros_like(mean);
        if (x.numel() > 0)
            std::tie(gradInput, gradWeight, gradBias) =
                at::native_batch_norm_backward(upstream, x, weight, mean, var, {}, {}, false, eps, {true, true, true});
        torch::Tensor sums = torch::stack({gradBias, gradWeight}).to(torch::kFloat64);
        dist::fromCapsule(context->saved_data["ranks"]).allReduceSum(sums);

        // The way through the statistics: w/σ · (Σdy/N + x̂ · Σdy·x̂/N), an affine map of x̂ that the forward kernel makes.
        const torch::Tensor scale = weight.to(torch::kFloat64) * (var.to(torch::kFloat64) + eps).rsqrt() / count;
        const torch::Tensor slope = (scale * sums[1]).to(mean.scalar_type()),
                            shift = (scale * sums[0]).to(mean.scalar_type());
        if (x.numel() > 0) gradInput.sub_(std::get<0>(at::native_batch_norm(x, slope, shift, mean, var, false, 0, eps)));
        const torch::Tensor none;
        return {gradInput, gradWeight, gradBias, none, none, none, none, none};
    }
};

} // namespace

BatchNormImpl::BatchNormImpl(const BatchNormOptions &options) : m_options(options)
{
    const std::int64_t channels = options.features;
    // torch warns of an undefined parameter that should learn.
    weight = register_parameter("weight", options.affine ? torch::ones({channels}) : torch::Tensor(), options.affine);
    bias = register_parameter("bias", options.affine ? torch::zeros({channels}) : torch::Tensor(), options.affine);
    running_mean = register_buffer("running_mean", torch::zeros({channels}));
    running_var = register_buffer("running_var", torch::ones({channels}));
    num_batches_tracked = register_buffer("num_batches_tracked", torch::zeros({}, torch::kInt64));
}

torch::Tensor BatchNormImpl::forward(const torch::Tensor &x)
{
    TORCH_CHECK(x.dim() >= 2 && x.size(1) == m_options.features, "BatchNorm of ", m_options.features,
                " channels was given a tensor of shape ", x.sizes());
    if (is_training()) {
        torch::NoGradGuard noGrad;
        num_batches_tracked.add_(1);
    }
    if (is_training() && m_ranks) {
        // An autograd function takes no undefined tensors.
        const torch::Tensor scale = weight.defined() ? weight : torch::ones_like(running_mean);
        const torch::Tensor shift = bias.defined() ? bias : torch::zeros_like(running_mean);
        return SyncBatchNorm::apply(x, scale, shift, running_mean, running_var, m_options.momentum, m_options.eps, m_ranks);
    }
    return torch::batch_norm(x, weight, bias, running_mean, running_var, is_training(), m_options.momentum, m_options.eps,
                             /*cudnn_enabled=*/true);
}

void BatchNormImpl::pretty_print(std::ostream &stream) const
{
    stream << "parallax::nn::BatchNorm(" << m_options.features << ", eps=" << m_options.eps
           << ", momentum=" << m_options.momentum << ", affine=" << std::boolalpha << m_options.affine
           << ", synchronised=" << isSynchronised() << ")";
}

void enableSyncBatchNorm(torch::nn::Module &module, const std::shared_ptr<const dist::Ranks> &ranks)
{
    if (ranks->world() == 1) return;
    module.apply([&](torch::nn::Module &part) {
        if (auto *norm = dynamic_cast<BatchNormImpl *>(&part)) norm->synchronise(ranks);
    });
}

} // namespace parallax::nn
