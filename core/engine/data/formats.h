// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/data/imageheader.h"

/// One header reader a format, each in a file of its own. The caller has matched the signature; the callee checks all else.
namespace parallax::data::formats {

Result<ImageHeader> readJpeg(Bytes bytes);
Result<ImageHeader> readPng(Bytes bytes);
Result<ImageHeader> readWebP(Bytes bytes);
Result<ImageHeader> readTiff(Bytes bytes);
Result<ImageHeader> readGif(Bytes bytes);
Result<ImageHeader> readBmp(Bytes bytes);
Result<ImageHeader> readNetpbm(Bytes bytes);

/// What bytes are that no reader above knows: "an HTML page, not an image".
std::string describeForeign(Bytes bytes);

/// Size within the limits of imageheader.h and not zero.
Status checkSize(const char *format, std::int64_t width, std::int64_t height);

inline Error cutShort(const std::string &detail)
{
    return {"the file is cut short: " + detail, {}, "Copy or load it again."};
}
inline Error damaged(const std::string &detail) { return {"the file is damaged: " + detail, {}, {}}; }

} // namespace parallax::data::formats
