// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/dist/ranks.h"

#include <torch/torch.h>

#include <vector>

namespace parallax::losses {

struct DinoOptions {
    DinoOptions(std::int64_t outputs) : outputs(outputs) { }
    std::int64_t outputs; ///< K
    double studentTemperature = 0.1, centerMomentum = 0.9;
};

/// DINO (Caron et al. 2021, arXiv:2104.14294, equation 3 and algorithm 1): the student's crops must agree with the centred
/// and sharpened teacher on every other crop.
class DinoImpl : public torch::nn::Module
{
public:
    explicit DinoImpl(const DinoOptions &options);

    /// teacher, student: outputs [n, K] of the crops; teacher crop v and student crop v show the same crop. Mean over pairs
    /// of different crops of the cross entropy of softmax((teacher − center) / teacherTemperature), no gradient, and
    /// softmax(student / studentTemperature). Then the centre moves towards the mean of all teacher rows of all ranks.
    /// Returns world / N times the sum over the own rows. Throws c10::Error for shapes that do not match.
    torch::Tensor forward(const std::vector<torch::Tensor> &teacher, const std::vector<torch::Tensor> &student,
                          double teacherTemperature, const dist::Ranks &ranks);

    torch::Tensor center; ///< [1, 1, K], starts at 0

private:
    DinoOptions m_options;
};
TORCH_MODULE(Dino);

/// The teacher's temperature in an epoch: linear from `first` to `last` over the first `epochs`, then `last`. In float32, as
/// the reference implementation has it.
double dinoTeacherTemperature(double first, double last, std::int64_t epochs, std::int64_t epoch);

} // namespace parallax::losses
