// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/data/loader.h"

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

/// What the benchmarks of views make: the work of tests/bench/peers/lightly_views.py.
namespace parallax::bench {

struct ViewWork {
    std::shared_ptr<const data::Dataset> data; ///< an epoch of 16 batches
    std::vector<data::ViewSpec> views;
};
constexpr std::int64_t viewBatch = 32;

/// By the names that the peer has for them. `folder`: of pictures of 640 x 427.
Result<std::map<std::string, ViewWork>> viewWorks(const std::filesystem::path &folder);

/// CPU time of all threads of this process so far.
double cpuSeconds();

} // namespace parallax::bench
