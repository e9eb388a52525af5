// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"
#include "core/engine/data/dataconfig.h"

#include <nlohmann/json.hpp>

namespace parallax::data {

struct CheckOptions {
    std::int64_t viewSize = 0; ///< smaller images are counted; 0: none are
    std::uint64_t seed = 0;    ///< that data.val_fraction is drawn with
};

/// Decodes every image of data.source, whatever limit the configuration has, and of data.val_source, and says what there is:
/// - source, remark, skipped: what was opened and passed over;
/// - files: image files or records found; count: those that can be read; train, val: how many of these are to train on and to
///   evaluate on, and split: "given", "fraction" or "none", where those to evaluate on come from;
/// - classes [{name, count}]: readable images of each; images without label are in none; balance {largest, smallest, ratio}:
///   the counts of the largest and the smallest class that is not empty; null with fewer than two of these;
/// - sizes [{width, height, count}]: upright sizes, the commonest first; small {size, count}: images whose shorter side is
///   below the view size, which every crop enlarges;
/// - channels {"1", "2", "3", "4": count}: as stored; cmyk and multi_frame: how many of these kinds;
/// - duplicates: images whose pixels another image has too, less one of each group; duplicates_across_labels: those of
///   groups with more than one label; duplicates_across_splits: images to evaluate on whose pixels are trained on as well, and
///   examples [{val, train}] of them, at most 20;
/// - unreadable [{name, reason}], in the data's order; quarantine: the file that lists them for later runs, empty: none;
/// - estimate {decoded_bytes, free_bytes, threads, decode_seconds}: the memory that all decoded images take, that which is free
///   now, and the time that these loader threads take to read and decode all images once (without views), as measured here;
/// - warnings: lines about what spoils a training or a figure.
/// A source where nothing can be read is no Error here: count is 0 and the list says why.
Result<nlohmann::ordered_json> checkData(const DataConfig &config, const CheckOptions &options = {});

} // namespace parallax::data
