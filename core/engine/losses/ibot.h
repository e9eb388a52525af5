// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/dist/ranks.h"

#include <torch/torch.h>

namespace parallax::losses {

struct IbotOptions {
    IbotOptions(std::int64_t outputs) : outputs(outputs) { }
    std::int64_t outputs; ///< K
    double studentTemperature = 0.1, centerMomentum = 0.9;
};

/// iBOT's masked-patch loss (Zhou et al. 2022, arXiv:2111.07832, equation 2): the student predicts, for tokens it does not
/// see, what the centred and sharpened teacher says.
class IbotPatchImpl : public torch::nn::Module
{
public:
    explicit IbotPatchImpl(const IbotOptions &options);

    /// teacher, student: [M, K], outputs of the masked tokens in the order of `mask`: [n, h, w] bool. Cross entropy of
    /// softmax((teacher − center) / teacherTemperature), no gradient, and softmax(student / studentTemperature), mean over
    /// the masked tokens of each image, then over the images (one without masked tokens counts as 0). Then the centre moves
    /// towards the mean over all ranks' masked tokens, each counting the same; lightly averages the ranks' means, so that a
    /// token counts more on a rank that has few. Returns world / N times the sum over the own images. Throws c10::Error for
    /// shapes that do not match.
    torch::Tensor forward(const torch::Tensor &teacher, const torch::Tensor &student, const torch::Tensor &mask,
                          double teacherTemperature, const dist::Ranks &ranks);

    /// iBOT++ (TIPSv2 2026, arXiv:2604.12012): teacher, student: [n, m, K] for all tokens. Mean over the masked tokens plus
    /// `visibleWeight` times the mean over the others, then over the images; with an undefined mask the mean over all
    /// tokens.
    torch::Tensor forwardAll(const torch::Tensor &teacher, const torch::Tensor &student, const torch::Tensor &mask,
                             double visibleWeight, double teacherTemperature, const dist::Ranks &ranks);

    torch::Tensor center; ///< [1, K], starts at 0

private:
    torch::Tensor entropies(const torch::Tensor &teacher, const torch::Tensor &student, double teacherTemperature) const;

    IbotOptions m_options;
};
TORCH_MODULE(IbotPatch);

} // namespace parallax::losses
