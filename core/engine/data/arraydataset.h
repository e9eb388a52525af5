// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/data/bytestore.h"
#include "core/engine/data/dataset.h"

namespace parallax::data {

/// How an array holds one image.
struct PixelLayout {
    enum class Order {
        Interleaved,    ///< a pixel's channels together: H x W x C
        Planes,         ///< a channel after the other: C x H x W
        PlanesByColumn, ///< a channel after the other, each column by column: C x W x H (STL-10)
    };
    enum class Type { U8, U16, F32 };
    int height = 0, width = 0;
    int channels = 1; ///< 1 gray, 3 colour, 4 colour + alpha
    Order order = Order::Interleaved;
    Type type = Type::U8;
    bool bigEndian = false;

    std::size_t bytes() const;
};

/// 8-bit RGB. Gray becomes three equal channels, alpha is dropped, 16 bits are divided by 257 and rounded, floating point
/// numbers from 0 to 1 are multiplied by 255 and rounded; others are refused.
Result<cv::Mat> toRgb(const std::uint8_t *bytes, const PixelLayout &layout);

/// Images of one size that lie one after another.
struct ArrayPart {
    std::shared_ptr<const ByteStore> store; ///< holds all of them: checked by whoever makes the part
    std::int64_t count = 0;
    std::uint64_t first = 0, stride = 0; ///< of the first image's pixels, and from one to the next, in bytes
    std::string prefix;                  ///< of names: "train" gives "train-00042"
    std::uint64_t idBase = 0;            ///< an image's id is its number in the part (from `firstNumber` on) or-ed to it
    std::int64_t firstNumber = 0;
    std::string where; ///< the file, for messages
};

/// Test images are other images than training images of the same number: their ids say so.
inline constexpr std::uint64_t testIds = std::uint64_t(1) << 63;

/// Images that need no decoding, in memory or in open files.
class ArrayDataset : public Dataset
{
public:
    /// `labels`: one an image over all parts, or empty.
    ArrayDataset(PixelLayout layout, std::vector<ArrayPart> parts, std::vector<int> labels, std::vector<std::string> classes,
                 const std::filesystem::path &source, std::string remark = {});

    std::int64_t size() const override { return m_starts.back(); }
    bool inMemory() const override { return true; }
    Item item(std::int64_t index) const override;
    Result<cv::Mat> image(std::int64_t index) const override;
    Result<DecodedImage> inspect(std::int64_t index) const override;

private:
    struct Place {
        const ArrayPart &part;
        std::int64_t number;
    };
    Place place(std::int64_t index) const;

    PixelLayout m_layout;
    std::vector<ArrayPart> m_parts;
    std::vector<std::int64_t> m_starts; ///< of each part among all images; at the end their number
    std::vector<int> m_labels;
};

} // namespace parallax::data
