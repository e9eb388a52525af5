// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/nn/precision.h"

#include <ATen/autocast_mode.h>

namespace parallax::nn {

namespace {

thread_local std::optional<torch::Dtype> asked;

} // namespace

MixedPrecision::MixedPrecision(std::optional<torch::Dtype> dtype) : m_before(asked) { asked = dtype; }

MixedPrecision::~MixedPrecision() { asked = m_before; }

Autocast::Autocast(torch::Device device) : m_device(device.type())
{
    if (!asked) return;
    m_on = true;
    m_before = at::autocast::is_autocast_enabled(m_device);
    at::autocast::set_autocast_dtype(m_device, *asked);
    at::autocast::set_autocast_enabled(m_device, true);
    at::autocast::increment_nesting();
}

Autocast::~Autocast()
{
    if (!m_on) return;
    if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
    at::autocast::set_autocast_enabled(m_device, m_before);
}

} // namespace parallax::nn
