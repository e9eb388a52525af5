// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/losses/ibot.h"

#include "core/engine/losses/center.h"
#include "core/engine/losses/tensors.h"

namespace parallax::losses {

IbotPatchImpl::IbotPatchImpl(const IbotOptions &options) : m_options(options)
{
    center = register_buffer("center", torch::zeros({1, options.outputs}));
}

torch::Tensor IbotPatchImpl::entropies(const torch::Tensor &teacher, const torch::Tensor &student,
                                       double teacherTemperature) const
{
    TORCH_CHECK(teacher.sizes() == student.sizes() && teacher.size(-1) == m_options.outputs,
                "iBOT takes two tensors of one shape and width ", m_options.outputs, ", not ", teacher.sizes(), " and ",
                student.sizes());
    const torch::Tensor target = ((widened(teacher.detach()) - center) / teacherTemperature).softmax(-1);
    return softCrossEntropy(target, widened(student) / m_options.studentTemperature);
}

torch::Tensor IbotPatchImpl::forward(const torch::Tensor &teacher, const torch::Tensor &student, const torch::Tensor &mask,
                                     double teacherTemperature, const dist::Ranks &ranks)
{
    TORCH_CHECK(mask.dim() == 3 && teacher.dim() == 2, "iBOT takes masked tokens [M, K] and a mask [n, h, w], not ",
                teacher.sizes(), " and ", mask.sizes());
    const torch::Tensor flat = mask.to(torch::kBool).flatten(1); // [n, h·w]
    const torch::Tensor image = flat.nonzero().select(1, 0);     // [M], the image of each token
    TORCH_CHECK(image.size(0) == teacher.size(0), "iBOT was given ", teacher.size(0), " tokens for a mask of ",
                image.size(0));
    // Weights 1/k in float32, as the reference implementation has them.
    const torch::Tensor weight = flat.sum(1).to(torch::kFloat32).clamp_min(1).reciprocal();                  // [n]
    const torch::Tensor entropy = entropies(teacher, student, teacherTemperature);                           // [M]
    const torch::Tensor sums = torch::zeros(weight.sizes(), entropy.options()).index_add(0, image, entropy); // [n]
    const torch::Tensor loss = rankMean(sums * weight, ranks);
    moveCenter(center, teacher.detach(), m_options.centerMomentum, ranks);
    return loss;
}

torch::Tensor IbotPatchImpl::forwardAll(const torch::Tensor &teacher, const torch::Tensor &student,
                                        const torch::Tensor &mask, double visibleWeight, double teacherTemperature,
                                        const dist::Ranks &ranks)
{
    TORCH_CHECK(teacher.dim() == 3, "iBOT++ takes tokens [n, m, K], not ", teacher.sizes());
    const torch::Tensor entropy = entropies(teacher, student, teacherTemperature); // [n, m]
    torch::Tensor images = entropy.mean(1);
    if (mask.defined()) {
        const torch::Tensor hidden = mask.reshape(entropy.sizes()).to(entropy.scalar_type());
        const auto meanOver = [&](const torch::Tensor &chosen) {
            return (entropy * chosen).sum(1) / chosen.sum(1).clamp_min(1);
        };
        images = meanOver(hidden) + visibleWeight * meanOver(1 - hidden);
    }
    const torch::Tensor loss = rankMean(images, ranks);
    moveCenter(center, teacher.detach().flatten(0, 1), m_options.centerMomentum, ranks);
    return loss;
}

} // namespace parallax::losses
