// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <torch/torch.h>

namespace parallax::nn {

/// Moves every parameter of `average` towards that of `model`: average = momentum · average + (1 - momentum) · model. Buffers
/// stay: the statistics of a momentum network's batch norms come from its own forwards. Throws c10::Error for two modules whose
/// parameters differ in number.
void updateMomentum(const torch::nn::Module &model, torch::nn::Module &average, double momentum);

/// Makes `average` the same as `model`, buffers too, and takes its parameters out of the gradient: how a momentum network starts.
void startMomentum(const torch::nn::Module &model, torch::nn::Module &average);

} // namespace parallax::nn
