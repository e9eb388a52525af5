// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/losses/capi.h"

#include "core/engine/losses/sinkhorn.h"
#include "core/engine/losses/tensors.h"

namespace parallax::losses {

torch::Tensor capi(const torch::Tensor &teacher, const torch::Tensor &student, const torch::Tensor &index,
                   const CapiOptions &options, const dist::Ranks &ranks)
{
    TORCH_CHECK(teacher.dim() == 3 && student.dim() == 3 && teacher.size(0) == student.size(0) &&
                    teacher.size(2) == student.size(2),
                "CAPI takes logits [n, m, K] and [n, P, K], not ", teacher.sizes(), " and ", student.sizes());
    torch::Tensor target = positionwiseSinkhorn(widened(teacher.detach()) / options.teacherTemperature, options.iterations,
                                                /*floor=*/1e-8, ranks);
    if (index.defined()) target = target.gather(1, index.unsqueeze(2).expand({-1, -1, target.size(2)}));
    TORCH_CHECK(target.sizes() == student.sizes(), "CAPI was given predictions ", student.sizes(), " for targets ",
                target.sizes());
    return rankMean(softCrossEntropy(target, widened(student) / options.studentTemperature), ranks);
}

} // namespace parallax::losses
