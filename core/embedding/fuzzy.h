// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/embedding/graph.h"

namespace parallax::embedding {

/// A sparse matrix of weights, row by row, columns ascending.
struct Edges {
    std::vector<std::int64_t> begin; ///< [rows + 1]: where a row's edges begin
    std::vector<std::int32_t> target;
    std::vector<float> weight;
    std::int64_t rows() const { return std::int64_t(begin.size()) - 1; }
};

/// A row's edges to its neighbours with weights exp(-(distance - rho) / sigma): rho is the distance to the nearest one that is no
/// copy, sigma is such that the weights sum up to log2(k + 1) (McInnes, Healy, Melville 2018, section 3.1, local connectivity 1;
/// k neighbours besides the row itself).
Edges smoothNeighbours(const KnnGraph &graph, int threads = 0);

/// A + Aᵀ - A ∘ Aᵀ of a square matrix: an edge is there where either end sees it.
Edges fuzzyUnion(const Edges &edges);

} // namespace parallax::embedding
