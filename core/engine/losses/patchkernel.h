// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/dist/ranks.h"

#include <torch/torch.h>

namespace parallax::losses {

/// Patch kernel alignment (PaKa 2025, arXiv:2509.05606): 1 − linear CKA (Kornblith et al. 2019, arXiv:1905.00414) between
/// the student's and the teacher's tokens of each image, mean over the images that have two tokens.
///
/// student, teacher: [n, m, d] and [n, m, e], the teacher without gradient; mask: [n, m] bool, true where a token is left
/// out, or undefined. Each HSIC is at least 1e-6 under the root, so that equal tokens leave the gradient finite.
///
/// The mean over ranks is the whole batch's loss. Throws c10::Error for shapes that do not match.
torch::Tensor patchKernelAlignment(const torch::Tensor &student, const torch::Tensor &teacher, const torch::Tensor &mask,
                                   const dist::Ranks &ranks);

} // namespace parallax::losses
