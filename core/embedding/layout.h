// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/embedding/fuzzy.h"
#include "core/embedding/umap.h"

#include <functional>

namespace parallax::embedding {

/// UMAP's stochastic gradient descent. An edge of weight w is drawn in w / max(w) of the epochs; it pulls its ends together, and
/// pushes its head away from five random points.
struct LayoutOptions {
    UmapCurve curve;
    int epochs = 200;
    double rate = 1; ///< of the first epoch; falls to 0 in a straight line
    std::uint64_t seed = 1;
    int threads = 0;
    const std::atomic<bool> *cancel = nullptr;
    std::function<void(double done, const std::vector<float> &xy)> watch;
};

/// Arranges the points among themselves: `edges` is symmetric, xy [rows, 2]. False: cancelled.
bool arrange(std::vector<float> &xy, const Edges &edges, const LayoutOptions &options);

/// Arranges the points `xy` around `fixed` ones: edges lead from the former to the latter. False: cancelled.
bool arrangeAround(std::vector<float> &xy, const std::vector<float> &fixed, const Edges &edges,
                   const LayoutOptions &options);

} // namespace parallax::embedding
