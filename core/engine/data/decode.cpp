// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/data/decode.h"

#include "core/engine/data/animation.h"
#include "core/engine/data/exif.h"
#include "core/engine/data/formats.h"
#include "core/engine/data/jpegdecoder.h"

#include <opencv2/core/utils/logger.hpp>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>

#include <limits>
#include <new>

namespace parallax::data {

namespace {

/// OpenCV reports what its codecs say on stderr, which is the rank's log: one line a damaged file there helps nobody. Its
/// own threads would compete with those that call it, one an image.
void setUpOpenCv()
{
    static const bool once = [] {
        cv::utils::logging::setLogLevel(cv::utils::logging::LOG_LEVEL_SILENT);
        cv::setNumThreads(1);
        return true;
    }();
    (void)once;
}

Result<cv::Mat> toRgb8(const cv::Mat &bgr)
{
    cv::Mat eight = bgr;
    if (bgr.depth() == CV_16U)
        bgr.convertTo(eight, CV_8U, 1.0 / 257);
    else if (bgr.depth() != CV_8U)
        return Error{"its samples are not 8 or 16-bit integers, which Parallax does not read", {}, {}};
    cv::Mat rgb;
    switch (eight.channels()) {
    case 1: cv::cvtColor(eight, rgb, cv::COLOR_GRAY2RGB); break;
    case 3: cv::cvtColor(eight, rgb, cv::COLOR_BGR2RGB); break;
    case 4: cv::cvtColor(eight, rgb, cv::COLOR_BGRA2RGB); break;
    default: return Error{"it has " + std::to_string(eight.channels()) + " channels, which Parallax does not read", {}, {}};
    }
    return rgb;
}

Result<cv::Mat> decodeWithOpenCv(Bytes bytes, const ImageHeader &header)
{
    std::string plain;
    if (header.format == Format::Png) {
        plain = plainPng(bytes);
        bytes = {reinterpret_cast<const std::uint8_t *>(plain.data()), plain.size()};
    }
    // imdecode takes a matrix and only reads it.
    const cv::Mat view(1, int(bytes.size()), CV_8U, const_cast<std::uint8_t *>(bytes.data()));
    // Never IMREAD_UNCHANGED: it would override the other flags, the orientation's among them.
    const cv::Mat bgr = cv::imdecode(view, cv::IMREAD_COLOR | cv::IMREAD_ANYDEPTH | cv::IMREAD_IGNORE_ORIENTATION);
    if (bgr.empty()) return formats::damaged("its " + toString(header.format) + " data cannot be decoded");
    return toRgb8(bgr);
}

/// In terms of the stored picture. One that has to be turned is decoded whole.
Demand storedDemand(const ImageHeader &header, const DemandFor &demand)
{
    const bool turned = header.orientation >= 5;
    const cv::Size stored(int(header.width), int(header.height));
    Demand wanted = demand ? demand(turned ? cv::Size(stored.height, stored.width) : stored) : Demand{1, {{}, stored}};
    if (header.orientation != 1) wanted.region = {{}, shrunk(stored, wanted.shrink)};
    return wanted;
}

Result<cv::Mat> decodeFirstFrame(Bytes bytes, const ImageHeader &header, const DemandFor &demand)
{
    if (header.format == Format::Jpeg) return decodeJpeg(bytes, header, storedDemand(header, demand));
    if (header.format == Format::Gif) return decodeGif(bytes);
    if (header.animated) return decodeAnimatedWebP(bytes);
    return decodeWithOpenCv(bytes, header);
}

} // namespace

Result<DecodedImage> decodeImage(Bytes bytes, const DemandFor &demand)
{
    setUpOpenCv();
    if (bytes.size() > std::size_t(std::numeric_limits<int>::max())) return Error{"the file has more than 2 GB", {}, {}};
    auto header = readImageHeader(bytes);
    if (!header) return header.error();
    try {
        auto stored = decodeFirstFrame(bytes, *header, demand);
        if (!stored) return stored.error();
        return DecodedImage{oriented(*stored, header->orientation), *header};
    } catch (const cv::Exception &) { // its text names OpenCV's own sources
        return formats::damaged("its " + toString(header->format) + " data cannot be decoded");
    } catch (const std::bad_alloc &) {
        return Error{"not enough memory for its " + std::to_string(header->width) + " x " + std::to_string(header->height) +
                         " pixels",
                     {},
                     {}};
    }
}

} // namespace parallax::data
