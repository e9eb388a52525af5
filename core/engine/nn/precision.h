// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <torch/torch.h>

#include <optional>

/// Mixed precision (Micikevicius et al. 2018, arXiv:1710.03740): weights stay float32, the products of networks are taken in
/// half precision. What lies between networks and behind them, losses above all, sees float32 only.
namespace parallax::nn {

/// While it lives, networks of this thread compute in `dtype` (bfloat16 or float16); without one nothing changes.
class MixedPrecision
{
public:
    explicit MixedPrecision(std::optional<torch::Dtype> dtype);
    ~MixedPrecision();
    MixedPrecision(const MixedPrecision &) = delete;

private:
    std::optional<torch::Dtype> m_before;
};

/// Torch's autocast on one kind of device, in the precision that a MixedPrecision asks for; nothing where none does. It ends
/// without a cache of cast weights: one that was made without gradient would cut a later forward off.
class Autocast
{
public:
    explicit Autocast(torch::Device device);
    ~Autocast();
    Autocast(const Autocast &) = delete;
    bool isOn() const { return m_on; }

private:
    torch::DeviceType m_device;
    bool m_on = false, m_before = false;
};

/// What `network` makes of `input`: every network's forward goes through here. The result is float32 where precision is mixed.
template<class Network>
torch::Tensor inPrecision(const torch::Tensor &input, Network &&network)
{
    const Autocast autocast(input.device());
    const torch::Tensor output = network();
    return autocast.isOn() ? output.to(torch::kFloat32) : output;
}

} // namespace parallax::nn
