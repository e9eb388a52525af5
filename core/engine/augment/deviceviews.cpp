// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/augment/deviceviews.h"

#include "core/engine/augment/colour.h"
#include "core/engine/data/view.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>

namespace parallax::augment {

namespace {

using data::DrawnView;
using data::transforms::ColourOperation;

/// Bytes of the images that are worked on at once: enough for a GPU to be busy; on a CPU what a cache holds.
std::int64_t portionOf(torch::Device device) { return device.is_cpu() ? 1 << 20 : 64 << 20; }

/// Keys 1981 with a = -0.5.
torch::Tensor cubic(const torch::Tensor &distance)
{
    const torch::Tensor d = distance.abs();
    const torch::Tensor near = (1.5 * d - 2.5) * d * d + 1, far = ((-0.5 * d + 2.5) * d - 4) * d + 2;
    return torch::where(d <= 1, near, torch::where(d < 2, far, torch::zeros_like(d)));
}

/// Resizing along one axis as matrices [n, size, extent]: output i is a weighted mean of inputs first … first + length - 1 of
/// `extent`, by a filter that is widened when it shrinks (data::Taps). first, length: [n]. mirrored: [n], 1 or 0.
torch::Tensor resizing(const torch::Tensor &first, const torch::Tensor &length, const torch::Tensor &mirrored,
                       std::int64_t size, std::int64_t extent, bool bicubic)
{
    const torch::Tensor scale = (length / double(size)).view({-1, 1, 1});
    const torch::Tensor i = torch::arange(size, first.options()).view({1, -1, 1});
    const torch::Tensor turned = torch::where(mirrored.view({-1, 1, 1}) > 0, double(size - 1) - i, i);
    const torch::Tensor j = torch::arange(extent, first.options()).view({1, 1, -1}) - first.view({-1, 1, 1});
    const torch::Tensor distance = (j + 0.5 - (turned + 0.5) * scale) / scale.clamp_min(1);
    torch::Tensor weight = bicubic ? cubic(distance) : (1 - distance.abs()).clamp_min_(0);
    weight = torch::where((j >= 0).logical_and(j < length.view({-1, 1, 1})), weight, torch::zeros({}, first.options()));
    return weight / weight.sum(2, true);
}

} // namespace

DeviceViews::DeviceViews(std::vector<data::ViewSpec> specs, torch::Device device)
    : m_specs(std::move(specs)), m_device(device)
{
    TORCH_CHECK(std::ranges::all_of(m_specs, &data::ViewSpec::random), "only random views are made on the device");
}

torch::Tensor DeviceViews::onDevice(const std::vector<float> &values) const
{
    auto host = torch::empty({std::int64_t(values.size())}, torch::TensorOptions().pinned_memory(m_device.is_cuda()));
    std::memcpy(host.data_ptr<float>(), values.data(), values.size() * sizeof(float));
    return host.to(m_device, true);
}

/// Images `begin` … `end` - 1 in the corner of one tensor: bytes [n, h, w, 3], as large as the largest; no weight reaches what
/// lies beside them.
torch::Tensor DeviceViews::packed(const data::Batch &batch, std::int64_t begin, std::int64_t end) const
{
    int height = 1, width = 1;
    for (std::int64_t i = begin; i < end; ++i) {
        height = std::max(height, batch.images[std::size_t(i)].rows);
        width = std::max(width, batch.images[std::size_t(i)].cols);
    }
    auto host = torch::empty({end - begin, height, width, 3},
                             torch::TensorOptions().dtype(torch::kUInt8).pinned_memory(m_device.is_cuda()));
    auto *bytes = host.data_ptr<std::uint8_t>();
    const std::size_t row = 3 * std::size_t(width), image = row * std::size_t(height);
    at::parallel_for(begin, end, 8, [&](std::int64_t from, std::int64_t to) {
        for (std::int64_t i = from; i < to; ++i) {
            const cv::Mat &rgb = batch.images[std::size_t(i)];
            for (int y = 0; y < rgb.rows; ++y)
                std::memcpy(bytes + std::size_t(i - begin) * image + std::size_t(y) * row, rgb.ptr(y),
                            3 * std::size_t(rgb.cols));
        }
    });
    return host.to(m_device, true);
}

std::vector<torch::Tensor> DeviceViews::make(const data::Batch &batch) const
{
    const torch::NoGradGuard noGradient;
    std::vector<torch::Tensor> views;
    for (const auto &spec : m_specs)
        views.push_back(torch::empty({batch.count(), 3, spec.augment.size, spec.augment.size}, m_device));
    for (std::int64_t begin = 0, end = 0; begin < batch.count(); begin = end) {
        std::int64_t largest = 0;
        do {
            const cv::Mat &image = batch.images[std::size_t(end)];
            largest = std::max(largest, std::int64_t(image.rows) * image.cols * 3);
        } while (++end < batch.count() && (end - begin + 1) * largest <= portionOf(m_device));
        const torch::Tensor images = packed(batch, begin, end).to(torch::kFloat32);
        for (std::size_t v = 0; v < views.size(); ++v)
            views[v].narrow(0, begin, end - begin).copy_(view(images, batch, v, begin));
    }
    return views;
}

torch::Tensor DeviceViews::view(const torch::Tensor &images, const data::Batch &batch, std::size_t v,
                                std::int64_t begin) const
{
    const data::AugmentConfig &augment = m_specs[v].augment;
    const std::int64_t n = images.size(0), height = images.size(1), width = images.size(2), size = augment.size;
    const auto drawn = [&](std::int64_t i) -> const DrawnView & { return batch.drawn[v][std::size_t(begin + i)]; };
    const auto eachOf = [&](const auto &number) {
        std::vector<float> values;
        for (std::int64_t i = 0; i < n; ++i) values.push_back(float(number(drawn(i))));
        return onDevice(values);
    };
    const bool bicubic = drawn(0).filter == data::Filter::Bicubic;
    const torch::Tensor upright = torch::zeros({n}, images.options());
    const torch::Tensor rows =
        resizing(eachOf([](const DrawnView &d) { return d.crop.y; }),
                 eachOf([](const DrawnView &d) { return d.crop.height; }), upright, size, height, bicubic);
    const torch::Tensor columns = resizing(eachOf([](const DrawnView &d) { return d.crop.x; }),
                                           eachOf([](const DrawnView &d) { return d.crop.width; }),
                                           eachOf([](const DrawnView &d) { return d.flipped; }), size, width, bicubic);
    torch::Tensor x = torch::bmm(rows, images.view({n, height, width * 3})).view({n, size, width, 3}).permute({0, 3, 1, 2});
    x = torch::bmm(x.reshape({n, 3 * size, width}), columns.transpose(1, 2)).view({n, 3, size, size}).div_(255);
    if (bicubic) x.clamp_(0, 1); // it overshoots at edges

    /// `change` of those images of which `isWanted` tells; it is given their places.
    const auto some = [&](const auto &isWanted, const auto &change) {
        std::vector<std::int64_t> places;
        for (std::int64_t i = 0; i < n; ++i)
            if (isWanted(drawn(i))) places.push_back(i);
        if (places.empty()) return;
        const torch::Tensor index = torch::tensor(places).to(m_device);
        x.index_copy_(0, index, change(x.index_select(0, index), places));
    };
    const auto numbers = [&](const std::vector<std::int64_t> &places, const auto &number) {
        std::vector<float> values;
        for (const std::int64_t i : places) values.push_back(number(drawn(i)));
        return onDevice(values);
    };
    using Places = std::vector<std::int64_t>;
    for (std::size_t turn = 0; turn < 4; ++turn) // the order is each image's own
        for (const auto operation :
             {ColourOperation::Brightness, ColourOperation::Contrast, ColourOperation::Saturation, ColourOperation::Hue})
            some([&](const DrawnView &d) { return turn < d.jitter.size() && d.jitter[turn].operation == operation; },
                 [&](const torch::Tensor &part, const Places &places) {
                     return applyColour(part, operation,
                                        numbers(places, [&](const DrawnView &d) { return d.jitter[turn].value; }));
                 });
    some([](const DrawnView &d) { return d.gray; },
         [](const torch::Tensor &part, const Places &) { return applyColour(part, ColourOperation::Gray, {}); });
    some([](const DrawnView &d) { return d.blur.has_value(); },
         [&](const torch::Tensor &part, const Places &places) {
             return blur(part, numbers(places, [](const DrawnView &d) { return d.blur->sigma; }),
                         numbers(places, [](const DrawnView &d) { return float(d.blur->radius); }));
         });
    some([](const DrawnView &d) { return d.solarised; },
         [&](const torch::Tensor &part, const Places &places) {
             return applyColour(part, ColourOperation::Solarise,
                                numbers(places, [](const DrawnView &) { return data::solariseThreshold; }));
         });
    const data::Normalisation normalisation(augment);
    const auto channels = [&](const double(&values)[3]) {
        return torch::tensor({float(values[0]), float(values[1]), float(values[2])}).view({1, 3, 1, 1}).to(m_device);
    };
    return x.sub_(channels(normalisation.mean)).div_(channels(normalisation.std));
}

} // namespace parallax::augment
