// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/data/formats.h"

#include <algorithm>
#include <cctype>

namespace parallax::data::formats {

namespace {

using namespace std::string_view_literals;

struct Signature {
    std::size_t at;
    std::string_view bytes;
    const char *name;
};

constexpr Signature signatures[] = {
    {0, "version https://git-lfs"sv, "a Git LFS pointer, not the image: run git lfs pull"},
    {0, "%PDF-"sv, "a PDF document, not an image"},
    {0, "\0\0\0\x0CjP  "sv, "a JPEG 2000 image, which Parallax does not read"},
    {0, "\xFF\x4F\xFF\x51"sv, "a JPEG 2000 image, which Parallax does not read"},
    {0, "\0\0\0\x0CJXL "sv, "a JPEG XL image, which Parallax does not read"},
    {0, "\xFF\x0A"sv, "a JPEG XL image, which Parallax does not read"},
    {0, "II+\0"sv, "a BigTIFF image, which Parallax does not read"},
    {0, "MM\0+"sv, "a BigTIFF image, which Parallax does not read"},
    {0, "8BPS"sv, "a Photoshop document, which Parallax does not read"},
    {0, "v/1\x01"sv, "an OpenEXR image, which Parallax does not read"},
    {0, "#?RADIANCE"sv, "a Radiance HDR image, which Parallax does not read"},
    {0, "SIMPLE  ="sv, "a FITS file, which Parallax does not read"},
    {128, "DICM"sv, "a DICOM file, which Parallax does not read"},
    {0, "\0\0\1\0"sv, "a Windows icon, which Parallax does not read"},
    {0, "\0\x05\x16\x07"sv, "an AppleDouble companion file, not an image"},
    {0, "PK\x03\x04"sv, "a ZIP archive, not an image"},
    {0, "\x1F\x8B"sv, "a gzip file, not an image"},
    {257, "ustar"sv, "a tar archive, not an image"},
    {0, "\x93NUMPY"sv, "a NumPy array, not an image file"},
};

/// Brands of the ISO media container ("ftyp" box).
constexpr Signature brands[] = {
    {8, "avif"sv, "an AVIF image, which Parallax does not read"},
    {8, "avis"sv, "an AVIF image, which Parallax does not read"},
    {8, "heic"sv, "a HEIC image, which Parallax does not read"},
    {8, "heix"sv, "a HEIC image, which Parallax does not read"},
    {8, "hevc"sv, "a HEIC image, which Parallax does not read"},
    {8, "mif1"sv, "a HEIF image, which Parallax does not read"},
    {8, "msf1"sv, "a HEIF image, which Parallax does not read"},
    {8, ""sv, "a video or another media file, not an image"},
};

/// The beginning in lower case, without a byte order mark and leading blanks.
std::string beginning(Bytes bytes)
{
    std::string text;
    for (const auto byte : bytes.first(std::min<std::size_t>(bytes.size(), 1'024))) text += char(std::tolower(byte));
    if (text.starts_with("\xEF\xBB\xBF")) text.erase(0, 3);
    text.erase(0, std::min(text.find_first_not_of(" \t\r\n"), text.size()));
    return text;
}

bool isText(Bytes bytes)
{
    const auto head = bytes.first(std::min<std::size_t>(bytes.size(), 512));
    return std::ranges::all_of(head, [](std::uint8_t c) { return c >= 0x20 || c == '\t' || c == '\n' || c == '\r'; });
}

} // namespace

std::string describeForeign(Bytes bytes)
{
    const ByteReader in(bytes, ByteReader::Order::Little);
    if (bytes.empty()) return "an empty file";
    if (in.startsWith("ftyp", 4))
        for (const auto &brand : brands)
            if (in.startsWith(brand.bytes, brand.at)) return brand.name;
    for (const auto &signature : signatures)
        if (in.startsWith(signature.bytes, signature.at)) return signature.name;
    const std::string text = beginning(bytes);
    if (text.starts_with("<!doctype html") || text.starts_with("<html") || text.starts_with("<head"))
        return "an HTML page, not an image: was it saved in place of the download?";
    if (text.starts_with("<") && text.find("<svg") != std::string::npos)
        return "an SVG drawing, which Parallax does not read";
    if (text.starts_with("<?xml")) return "an XML document, not an image";
    if (isText(bytes)) return "text, not an image";
    if (std::ranges::all_of(bytes, [](std::uint8_t c) { return c == 0; })) return "nothing but zero bytes, not an image";
    return "not an image that Parallax reads (JPEG, PNG, WebP, BMP, TIFF, GIF, PNM)";
}

} // namespace parallax::data::formats
