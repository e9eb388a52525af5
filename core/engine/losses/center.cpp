// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/losses/center.h"

namespace parallax::losses {

void moveCenter(torch::Tensor &center, const torch::Tensor &rows, double momentum, const dist::Ranks &ranks)
{
    torch::NoGradGuard noGrad;
    const std::int64_t total = ranks.offsetOf(rows.size(0)).second;
    if (total == 0) return;
    torch::Tensor sum = rows.to(center.scalar_type()).sum(0);
    ranks.allReduceSum(sum);
    center.mul_(momentum).add_((sum / double(total)).view_as(center), 1 - momentum);
}

} // namespace parallax::losses
