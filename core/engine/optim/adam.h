// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/optim/optimiser.h"

namespace parallax::optim {

struct AdamOptions {
    double beta1 = 0.9, beta2 = 0.999, eps = 1e-8;
    bool decoupled = false; ///< AdamW
};

/// Adam (Kingma and Ba 2015, arXiv:1412.6980), the arithmetic of torch.optim.Adam: g' = g + wd·p; m = β₁·m + (1-β₁)·g';
/// v = β₂·v + (1-β₂)·g'²; p -= lr · m/(1-β₁ᵗ) / (√(v/(1-β₂ᵗ)) + ε), t counting the parameter's own updates. Decoupled (AdamW,
/// Loshchilov and Hutter 2019, arXiv:1711.05101): g' = g, and before the rest p *= 1 - lr·wd.
class Adam final : public Optimiser
{
public:
    Adam(std::vector<Parameter> parameters, AdamOptions options);
    void step(double learningRate) override;

private:
    AdamOptions m_options;
};

} // namespace parallax::optim
