// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/data/jpegdecoder.h"

#include "core/engine/data/formats.h"

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

/// Fills `pixels` (rows of `stride` bytes); false: reporter.text says why.
bool decompress(Bytes bytes, int width, int height, bool cmyk, Reporter &reporter, std::uint8_t *pixels, std::size_t stride)
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
    jpeg_mem_src(&codec, bytes.data(), static_cast<unsigned long>(bytes.size()));
    jpeg_read_header(&codec, TRUE);
    codec.out_color_space = cmyk ? JCS_CMYK : JCS_RGB;
    jpeg_start_decompress(&codec);
    // The buffer was made for the size in the header that was checked: another frame header after it is not followed.
    const bool same = int(codec.output_width) == width && int(codec.output_height) == height;
    while (same && !reporter.corrupt && codec.output_scanline < codec.output_height) {
        JSAMPROW row = pixels + std::size_t(codec.output_scanline) * stride;
        jpeg_read_scanlines(&codec, &row, 1);
    }
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

Result<cv::Mat> decodeJpeg(Bytes bytes, const ImageHeader &header)
{
    cv::Mat pixels(int(header.height), int(header.width), header.cmyk ? CV_8UC4 : CV_8UC3);
    Reporter reporter;
    if (!decompress(bytes, pixels.cols, pixels.rows, header.cmyk, reporter, pixels.data, pixels.step))
        return formats::damaged(reporter.text[0] ? std::string("its JPEG data (") + reporter.text + ')'
                                                 : "its JPEG data has two sizes");
    return header.cmyk ? inksToRgb(pixels) : pixels;
}

} // namespace parallax::data
