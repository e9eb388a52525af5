// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

namespace parallax::embedding {

/// x → factor · (mirrored: conjugate of) (x - from) + to, places as complex numbers.
struct Similarity {
    double factorX = 1, factorY = 0; ///< turns and scales
    double fromX = 0, fromY = 0, toX = 0, toY = 0;
    bool mirrored = false;
    void apply(std::vector<float> &xy) const; ///< [count, 2]
};

/// Brings a map onto another of the same rows by shift, turn, mirror and scale: orthogonal Procrustes analysis (Gower 1975) over the
/// rows that have a finite place on both, xy and onto [count, 2]. Both are scaled to one size (root mean square from the
/// centre) rather than by least squares, which would shrink a map the more the less it agrees. With fewer than two distinct
/// places in common there is nothing to turn by: only what can be known is done.
Similarity alignment(const std::vector<float> &xy, const std::vector<float> &onto);

} // namespace parallax::embedding
