// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/augment/colour.h"

namespace parallax::augment {

namespace {

using data::transforms::ColourOperation;

torch::Tensor grayOf(const torch::Tensor &x)
{
    return x.narrow(1, 0, 1) * 0.2989 + x.narrow(1, 1, 1) * 0.587 + x.narrow(1, 2, 1) * 0.114; // [n, 1, h, w]
}

/// Away from `other` by a factor above 1, towards it by one below.
torch::Tensor mixed(const torch::Tensor &x, const torch::Tensor &other, const torch::Tensor &factor)
{
    return (x * factor + other * (1 - factor)).clamp_(0, 1);
}

/// HSV and back in one go: what a channel has below the highest depends on the distance of the hue from the channel's own.
torch::Tensor turnHue(const torch::Tensor &x, const torch::Tensor &turn)
{
    const torch::Tensor r = x.narrow(1, 0, 1), g = x.narrow(1, 1, 1), b = x.narrow(1, 2, 1);
    const torch::Tensor high = x.amax(1, true), range = high - x.amin(1, true);
    const torch::Tensor divisor = torch::where(range > 0, range, torch::ones_like(range)); // gray has no hue
    const torch::Tensor hue =
        torch::where(r == high, (g - b) / divisor, torch::where(g == high, (b - r) / divisor + 2, (r - g) / divisor + 4)) +
        turn * 6; // in sixths of the circle
    const torch::Tensor offset = torch::tensor({5.f, 3.f, 1.f}, x.options()).view({1, 3, 1, 1});
    const torch::Tensor k = torch::remainder(hue + offset, 6);
    return high - range * torch::minimum(k, 4 - k).clamp_(0, 1);
}

} // namespace

torch::Tensor applyColour(const torch::Tensor &x, ColourOperation operation, const torch::Tensor &value)
{
    const torch::Tensor v = value.defined() ? value.view({-1, 1, 1, 1}) : value;
    switch (operation) {
    case ColourOperation::Brightness: return (x * v).clamp_(0, 1);
    case ColourOperation::Contrast: return mixed(x, grayOf(x).mean({1, 2, 3}, true), v);
    case ColourOperation::Saturation: return mixed(x, grayOf(x), v);
    case ColourOperation::Hue: return turnHue(x, v);
    case ColourOperation::Gray: return grayOf(x).expand_as(x);
    case ColourOperation::Solarise: return torch::where(x >= v, 1 - x, x);
    case ColourOperation::Normalise: break;
    }
    TORCH_CHECK(false, "not an operation with a value an image");
}

torch::Tensor blur(const torch::Tensor &x, const torch::Tensor &sigma, const torch::Tensor &radius)
{
    const std::int64_t n = x.size(0), size = x.size(2);
    TORCH_CHECK(x.dim() == 4 && x.size(3) == size, "blur takes square images, not ", x.sizes());
    const torch::Tensor s = sigma.view({-1, 1, 1}), reach = radius.view({-1, 1, 1});
    const torch::Tensor to = torch::arange(size, x.options()).view({1, -1, 1}), from = to.view({1, 1, -1});
    const auto weight = [&](const torch::Tensor &distance) {
        return torch::where(distance.abs() <= reach, torch::exp(-0.5 * (distance / s).square()),
                            torch::zeros({}, x.options()));
    };
    // Of each pixel itself and of its images in the mirrors at both edges, which the edge pixels do not have.
    const double last = double(size - 1);
    torch::Tensor kernel = weight(from - to) + torch::where(from > 0, weight(-from - to), torch::zeros({}, x.options())) +
        torch::where(from < last, weight(2 * last - from - to), torch::zeros({}, x.options()));
    kernel = (kernel / kernel.sum(2, true)).unsqueeze(1).expand({n, 3, size, size});
    return torch::matmul(torch::matmul(kernel, x), kernel.transpose(2, 3));
}

} // namespace parallax::augment
