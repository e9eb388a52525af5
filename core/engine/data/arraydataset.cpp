// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/data/arraydataset.h"

#include "core/base/text.h"

#include <opencv2/imgproc.hpp>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>

namespace parallax::data {

namespace {

std::size_t sampleBytes(PixelLayout::Type type)
{
    return type == PixelLayout::Type::U8 ? 1 : type == PixelLayout::Type::U16 ? 2 : 4;
}

/// The numbers as bytes of 0 … 255, in the same order.
Result<std::vector<std::uint8_t>> narrowed(const std::uint8_t *bytes, const PixelLayout &layout)
{
    const std::size_t width = sampleBytes(layout.type), count = layout.bytes() / width;
    std::vector<std::uint8_t> out(count);
    for (std::size_t i = 0; i < count; ++i) {
        const std::uint8_t *sample = bytes + i * width;
        std::uint32_t bits = 0;
        for (std::size_t b = 0; b < width; ++b) bits = bits << 8 | sample[layout.bigEndian ? b : width - 1 - b];
        if (layout.type == PixelLayout::Type::U16) {
            out[i] = std::uint8_t((bits + 128) / 257);
            continue;
        }
        const float value = std::bit_cast<float>(bits);
        if (!(value >= 0 && value <= 1))
            return Error{"holds the number " + text::number(value) + ": floating point pixels lie between 0 and 1",
                         {},
                         "Save the array as uint8, or divide it by its largest value."};
        out[i] = std::uint8_t(value * 255 + 0.5F);
    }
    return out;
}

cv::Mat assembled(const std::uint8_t *bytes, const PixelLayout &layout)
{
    auto *data = const_cast<std::uint8_t *>(bytes); // matrices over it are only read from
    const int height = layout.height, width = layout.width, channels = layout.channels;
    if (layout.order == PixelLayout::Order::Interleaved) return {height, width, CV_8UC(channels), data};
    const bool byColumn = layout.order == PixelLayout::Order::PlanesByColumn;
    const std::size_t plane = std::size_t(height) * std::size_t(width);
    std::vector<cv::Mat> planes;
    for (int c = 0; c < channels; ++c) {
        std::uint8_t *start = data + std::size_t(c) * plane;
        planes.push_back(byColumn ? cv::Mat(cv::Mat(width, height, CV_8U, start).t())
                                  : cv::Mat(height, width, CV_8U, start));
    }
    cv::Mat joined;
    cv::merge(planes, joined);
    return joined;
}

} // namespace

std::size_t PixelLayout::bytes() const
{
    return std::size_t(height) * std::size_t(width) * std::size_t(channels) * sampleBytes(type);
}

Result<cv::Mat> toRgb(const std::uint8_t *bytes, const PixelLayout &layout)
{
    std::vector<std::uint8_t> eight;
    if (layout.type != PixelLayout::Type::U8) {
        auto result = narrowed(bytes, layout);
        if (!result) return result.error();
        eight = std::move(*result);
        bytes = eight.data();
    }
    const cv::Mat pixels = assembled(bytes, layout);
    cv::Mat rgb;
    if (layout.channels == 1)
        cv::cvtColor(pixels, rgb, cv::COLOR_GRAY2RGB);
    else if (layout.channels == 4)
        cv::cvtColor(pixels, rgb, cv::COLOR_RGBA2RGB);
    else
        pixels.copyTo(rgb);
    return rgb;
}

ArrayDataset::ArrayDataset(PixelLayout layout, std::vector<ArrayPart> parts, std::vector<int> labels,
                           std::vector<std::string> classes, const std::filesystem::path &source, std::string remark)
    : m_layout(layout), m_parts(std::move(parts)), m_starts{0}, m_labels(std::move(labels))
{
    for (const auto &part : m_parts) m_starts.push_back(m_starts.back() + part.count);
    m_classes = std::move(classes);
    m_source = text::isUtf8(source.string()) ? source.string() : text::printable(source.string());
    m_remark = std::move(remark);
}

ArrayDataset::Place ArrayDataset::place(std::int64_t index) const
{
    const auto next = std::ranges::upper_bound(m_starts, index);
    const std::size_t part = std::size_t(next - m_starts.begin()) - 1;
    return {m_parts.at(part), index - m_starts[part]};
}

Item ArrayDataset::item(std::int64_t index) const
{
    const Place at = place(index);
    const std::int64_t number = at.part.firstNumber + at.number;
    char digits[24];
    std::snprintf(digits, sizeof digits, "-%05lld", static_cast<long long>(number));
    return {at.part.idBase | std::uint64_t(number), at.part.prefix + digits,
            m_labels.empty() ? -1 : m_labels.at(std::size_t(index))};
}

Result<cv::Mat> ArrayDataset::image(std::int64_t index) const
{
    const Place at = place(index);
    const auto wrong = [&](const Error &error) {
        return Error{error.what, at.part.where + " (" + item(index).name + ')', error.hint};
    };
    std::vector<std::uint8_t> bytes(m_layout.bytes());
    const std::uint64_t offset = at.part.first + std::uint64_t(at.number) * at.part.stride;
    if (auto status = at.part.store->read(offset, bytes.data(), bytes.size()); !status) return wrong(status.error());
    auto rgb = toRgb(bytes.data(), m_layout);
    if (!rgb) return wrong(rgb.error());
    return rgb;
}

Result<DecodedImage> ArrayDataset::inspect(std::int64_t index) const
{
    auto rgb = image(index);
    if (!rgb) return rgb.error();
    ImageHeader header;
    header.height = m_layout.height;
    header.width = m_layout.width;
    header.channels = m_layout.channels;
    return DecodedImage{std::move(*rgb), header};
}

} // namespace parallax::data
