// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/data/animation.h"

#include "core/engine/data/formats.h"

#include <opencv2/imgproc.hpp>

#include <gif_lib.h>
#include <webp/demux.h>

#include <algorithm>
#include <memory>
#include <vector>

namespace parallax::data {

namespace {

struct Source {
    Bytes bytes;
    std::size_t at = 0;
};

int readFromSource(GifFileType *gif, GifByteType *out, int count)
{
    auto *source = static_cast<Source *>(gif->UserData);
    const std::size_t n = std::min(std::size_t(count), source->bytes.size() - source->at);
    std::memcpy(out, source->bytes.data() + source->at, n);
    source->at += n;
    return int(n);
}

struct CloseGif {
    void operator()(GifFileType *gif) const { DGifCloseFile(gif, nullptr); }
};
using Gif = std::unique_ptr<GifFileType, CloseGif>;

cv::Vec3b colorOf(const ColorMapObject *map, int index)
{
    if (!map || index < 0 || index >= map->ColorCount) return {0, 0, 0};
    const GifColorType &color = map->Colors[index];
    return {color.Red, color.Green, color.Blue};
}

/// Reads up to the first image; false: there is none.
bool seekFirstImage(GifFileType *gif)
{
    for (;;) {
        GifRecordType type = UNDEFINED_RECORD_TYPE;
        if (DGifGetRecordType(gif, &type) == GIF_ERROR) return false;
        if (type == IMAGE_DESC_RECORD_TYPE) return DGifGetImageDesc(gif) == GIF_OK;
        if (type != EXTENSION_RECORD_TYPE) return false;
        int code = 0;
        GifByteType *block = nullptr;
        if (DGifGetExtension(gif, &code, &block) == GIF_ERROR) return false;
        while (block)
            if (DGifGetExtensionNext(gif, &block) == GIF_ERROR) return false;
    }
}

/// The rows of an interlaced frame in the order in which the file has them.
std::vector<int> rowOrder(int rows, bool interlaced)
{
    std::vector<int> order;
    static constexpr int first[] = {0, 4, 2, 1}, step[] = {8, 8, 4, 2};
    if (interlaced)
        for (int pass = 0; pass < 4; ++pass)
            for (int y = first[pass]; y < rows; y += step[pass]) order.push_back(y);
    else
        for (int y = 0; y < rows; ++y) order.push_back(y);
    return order;
}

} // namespace

Result<cv::Mat> decodeGif(Bytes bytes)
{
    Source source{bytes};
    const Gif gif(DGifOpen(&source, readFromSource, nullptr));
    if (!gif || !seekFirstImage(gif.get())) return formats::damaged("its GIF data cannot be decoded");
    const GifImageDesc &frame = gif->Image;
    // A frame may be larger than its canvas claims: the limit holds for it too.
    if (auto status = formats::checkSize("GIF frame", frame.Width, frame.Height); !status) return status.error();
    const ColorMapObject *map = frame.ColorMap ? frame.ColorMap : gif->SColorMap;
    if (!map) return formats::damaged("its GIF data has no colours");
    const cv::Vec3b background = colorOf(gif->SColorMap, gif->SBackGroundColor);
    cv::Mat rgb(gif->SHeight, gif->SWidth, CV_8UC3, cv::Scalar(background[0], background[1], background[2]));
    std::vector<GifPixelType> line(std::size_t(frame.Width));
    for (const int y : rowOrder(frame.Height, frame.Interlace)) {
        if (DGifGetLine(gif.get(), line.data(), frame.Width) == GIF_ERROR)
            return formats::damaged("its GIF data cannot be decoded");
        const int row = frame.Top + y;
        if (row >= rgb.rows) continue;
        for (int x = 0; x < frame.Width && frame.Left + x < rgb.cols; ++x)
            rgb.at<cv::Vec3b>(row, frame.Left + x) = colorOf(map, line[std::size_t(x)]);
    }
    return rgb;
}

Result<cv::Mat> decodeAnimatedWebP(Bytes bytes)
{
    WebPAnimDecoderOptions options;
    if (!WebPAnimDecoderOptionsInit(&options)) return Error{"the WebP library is of another version than expected", {}, {}};
    options.color_mode = MODE_RGBA;
    options.use_threads = 0;
    const WebPData data{bytes.data(), bytes.size()};
    const std::unique_ptr<WebPAnimDecoder, void (*)(WebPAnimDecoder *)> decoder(WebPAnimDecoderNew(&data, &options),
                                                                                WebPAnimDecoderDelete);
    WebPAnimInfo info;
    std::uint8_t *rgba = nullptr;
    int timestamp = 0;
    if (!decoder || !WebPAnimDecoderGetInfo(decoder.get(), &info) ||
        !WebPAnimDecoderGetNext(decoder.get(), &rgba, &timestamp))
        return formats::damaged("its WebP data cannot be decoded");
    const cv::Mat canvas(int(info.canvas_height), int(info.canvas_width), CV_8UC4, rgba);
    cv::Mat rgb;
    cv::cvtColor(canvas, rgb, cv::COLOR_RGBA2RGB);
    return rgb;
}

} // namespace parallax::data
