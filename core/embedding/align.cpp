// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/embedding/align.h"

#include <algorithm>
#include <cmath>
#include <complex>

namespace parallax::embedding {
namespace {

using Place = std::complex<double>;

bool isPlace(const std::vector<float> &xy, std::size_t i) { return std::isfinite(xy[i]) && std::isfinite(xy[i + 1]); }

} // namespace

void Similarity::apply(std::vector<float> &xy) const
{
    for (std::size_t i = 0; i + 1 < xy.size(); i += 2) {
        Place p(xy[i] - fromX, xy[i + 1] - fromY);
        p = Place(factorX, factorY) * (mirrored ? std::conj(p) : p);
        xy[i] = float(p.real() + toX);
        xy[i + 1] = float(p.imag() + toY);
    }
}

Similarity alignment(const std::vector<float> &xy, const std::vector<float> &onto)
{
    Place from, to;
    double n = 0;
    const auto each = [&](auto visit) {
        for (std::size_t i = 0; i + 1 < std::min(xy.size(), onto.size()); i += 2)
            if (isPlace(xy, i) && isPlace(onto, i)) visit(Place(xy[i], xy[i + 1]), Place(onto[i], onto[i + 1]));
    };
    each([&](Place a, Place b) {
        ++n;
        from += (a - from) / n;
        to += (b - to) / n;
    });
    // Of the turns by r the best makes Re(Σ conj(r a) b) largest: r is the direction of Σ conj(a) b; of a mirrored, of Σ a b.
    Place turned, mirrored;
    double sizeFrom = 0, sizeTo = 0;
    each([&](Place a, Place b) {
        a -= from;
        b -= to;
        turned += std::conj(a) * b;
        mirrored += a * b;
        sizeFrom += std::norm(a);
        sizeTo += std::norm(b);
    });
    Similarity result;
    if (n == 0) return result;
    result.fromX = from.real();
    result.fromY = from.imag();
    result.toX = to.real();
    result.toY = to.imag();
    if (!(sizeFrom > 0 && sizeTo > 0)) return result;
    result.mirrored = std::abs(mirrored) > std::abs(turned);
    const Place best = result.mirrored ? mirrored : turned;
    const Place factor = std::sqrt(sizeTo / sizeFrom) * (std::abs(best) > 0 ? best / std::abs(best) : Place(1));
    result.factorX = factor.real();
    result.factorY = factor.imag();
    return result;
}

} // namespace parallax::embedding
