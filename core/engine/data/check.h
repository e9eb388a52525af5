// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"
#include "core/engine/data/dataconfig.h"

#include <nlohmann/json.hpp>

namespace parallax::data {

/// Decodes every image of data.source, whatever limits and splits the configuration has, and says what there is:
/// - source, remark, skipped: what was opened and passed over;
/// - files: image files or records found; count: those that can be read;
/// - classes [{name, count}]: readable images of each; images without label are in none;
/// - sizes [{width, height, count}]: upright sizes, the commonest first;
/// - channels {"1", "2", "3", "4": count}: as stored; cmyk and multi_frame: how many of these kinds;
/// - duplicates: images whose pixels another image has too, less one of each group; duplicates_across_labels: those of
///   groups with more than one label;
/// - unreadable [{name, reason}], in the data's order.
/// A source where nothing can be read is no Error here: count is 0 and the list says why.
Result<nlohmann::ordered_json> checkData(const DataConfig &config);

} // namespace parallax::data
