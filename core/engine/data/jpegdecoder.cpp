// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/data/jpegdecoder.h"

#include "core/engine/data/formats.h"

#include <algorithm>
#include <csetjmp>
#include <cstdio>

#include <jpeglib.h>

#include <jerror.h>

namespace parallax::data {

namespace {

/// libjpeg leaves a function by longjmp on an error, so nothing with a destructor may live in the frames it jumps over.
struct Reporter {
    jpeg_error_mgr manager; ///< first: libjpeg hands out a pointer to it
    std::jmp_buf jump;
    char text[JMSG_LENGTH_MAX];
    bool corrupt;
};

Reporter *reporterOf(j_common_ptr codec) { return reinterpret_cast<Reporter *>(codec->err); }

[[noreturn]] void stopAtError(j_common_ptr codec)
{
    codec->err->format_message(codec, reporterOf(codec)->text);
    std::longjmp(reporterOf(codec)->jump, 1);
}

/// Warnings after which pixels are invented. Others, such as stray bytes before a marker, leave the picture whole.
bool meansBrokenPixels(int code)
{
    switch (code) {
    case JWRN_HIT_MARKER:
    case JWRN_HUFF_BAD_CODE:
    case JWRN_MUST_RESYNC:
    case JWRN_JPEG_EOF:
    case JWRN_ARITH_BAD_CODE: return true;
    default: return false;
    }
}

void noteWarning(j_common_ptr codec, int level)
{
    Reporter *reporter = reporterOf(codec);
    if (level >= 0 || reporter->corrupt || !meansBrokenPixels(codec->err->msg_code)) return;
    codec->err->format_message(codec, reporter->text);
    reporter->corrupt = true;
}

/// Pixels around the wanted ones that are decoded too: at the border of what is decoded, libjpeg has no neighbours to interpolate
/// colours from. The largest block of pixels that a file can be made of.
constexpr int margin = 32;

/// libjpeg's partial decoding is exact where a component has half the others' pixels or all, as in nearly every file. With rarer
/// samplings it is not.
bool canSkip(const jpeg_decompress_struct &codec)
{
    const auto *components = codec.comp_info;
    return std::all_of(components, components + codec.num_components, [](const jpeg_component_info &component) {
        return component.h_samp_factor <= 2 && component.v_samp_factor <= 2;
    });
}

/// Everything but the error handling; returns false when the picture has another size than `pixels` was made for.
bool readPixels(jpeg_decompress_struct &codec, Bytes bytes, const Demand &demand, cv::Mat &pixels)
{
    jpeg_mem_src(&codec, bytes.data(), static_cast<unsigned long>(bytes.size()));
    jpeg_read_header(&codec, TRUE);
    codec.out_color_space = pixels.channels() == 4 ? JCS_CMYK : JCS_RGB;
    codec.scale_num = 1;
    codec.scale_denom = unsigned(demand.shrink);
    jpeg_start_decompress(&codec);
    // The buffer was made for the size in the header that was checked: another frame header after it is not followed.
    if (int(codec.output_width) != pixels.cols || int(codec.output_height) != pixels.rows) return false;
    const cv::Rect region = canSkip(codec) ? demand.region : cv::Rect({}, pixels.size());
    const int right = std::min(pixels.cols, region.br().x + margin), bottom = region.br().y;
    JDIMENSION left = JDIMENSION(std::max(0, region.x - margin)), width = JDIMENSION(right) - left;
    if (width < codec.output_width) jpeg_crop_scanline(&codec, &left, &width);
    const auto corrupt = [&codec] { return reporterOf(reinterpret_cast<j_common_ptr>(&codec))->corrupt; };
    const auto skipTo = [&codec](int row) {
        if (row > int(codec.output_scanline)) jpeg_skip_scanlines(&codec, JDIMENSION(row) - codec.output_scanline);
    };
    const auto readTo = [&](int row) {
        while (!corrupt() && int(codec.output_scanline) < row) {
            JSAMPROW line = pixels.ptr(int(codec.output_scanline)) + std::size_t(left) * pixels.elemSize();
            jpeg_read_scanlines(&codec, &line, 1);
        }
    };
    skipTo(std::max(0, region.y - margin));
    readTo(bottom);
    if (!corrupt()) skipTo(pixels.rows - 1); // skipping the last row too would leave the data before it unread
    readTo(pixels.rows);
    return true;
}

/// False: reporter.text says why, unless the picture has another size than its header says.
bool decompress(Bytes bytes, const Demand &demand, Reporter &reporter, cv::Mat &pixels)
{
    jpeg_decompress_struct codec;
    codec.err = jpeg_std_error(&reporter.manager);
    reporter.manager.error_exit = stopAtError;
    reporter.manager.emit_message = noteWarning;
    reporter.corrupt = false;
    reporter.text[0] = 0;
    jpeg_create_decompress(&codec);
    if (setjmp(reporter.jump)) {
        jpeg_destroy_decompress(&codec);
        return false;
    }
    const bool same = readPixels(codec, bytes, demand, pixels);
    jpeg_destroy_decompress(&codec);
    return same && !reporter.corrupt;
}

/// Inks stored inverted, as Adobe writes them: 255 is no ink.
cv::Mat inksToRgb(const cv::Mat &inks)
{
    cv::Mat rgb(inks.size(), CV_8UC3);
    for (int y = 0; y < inks.rows; ++y) {
        const std::uint8_t *in = inks.ptr(y);
        std::uint8_t *out = rgb.ptr(y);
        for (int x = 0; x < inks.cols; ++x, in += 4, out += 3)
            for (int c = 0; c < 3; ++c) out[c] = std::uint8_t((in[c] * in[3] + 127) / 255);
    }
    return rgb;
}

} // namespace

Result<cv::Mat> decodeJpeg(Bytes bytes, const ImageHeader &header, const Demand &demand)
{
    cv::Mat pixels(shrunk({int(header.width), int(header.height)}, demand.shrink), header.cmyk ? CV_8UC4 : CV_8UC3);
    Reporter reporter;
    if (!decompress(bytes, demand, reporter, pixels))
        return formats::damaged(reporter.text[0] ? std::string("its JPEG data (") + reporter.text + ')'
                                                 : "its JPEG data has two sizes");
    return header.cmyk ? inksToRgb(pixels) : pixels;
}

} // namespace parallax::data
