// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/data/loader.h"

#include <nlohmann/json.hpp>

#include <filesystem>

namespace parallax::data {

struct PreviewOptions {
    std::int64_t images = 8; ///< the first readable ones of the data set
    std::int64_t epochs = 1;
    std::uint64_t seed = 0;
    std::filesystem::path out; ///< folder for the PNG files; made when it is not there
};

/// Writes what training would see as PNG files: {"images": [{"name", "original": file, "views": [[file, …] an epoch]}],
/// "digests": [[["16 hex digits", …] an epoch] an image], "unreadable": [{"name", "reason"}]}. File names are relative to
/// `out`. A digest is the 64-bit FNV-1a of a view's floats: equal digests, equal bytes. Originals are shrunk to 512 px.
/// Errors: no readable image, a folder that cannot be written.
Result<nlohmann::ordered_json> writePreview(const Dataset &data, const std::vector<ViewSpec> &views,
                                            const PreviewOptions &options);

/// A view as 8-bit RGB for people: normalisation undone, rounded.
cv::Mat viewToImage(const float *view, const AugmentConfig &augment);

} // namespace parallax::data
