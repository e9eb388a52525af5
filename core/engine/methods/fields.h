// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/config/group.h"

#include <cstdint>

/// Settings that many methods have, declared once. Each returns the field's builder: a method may say more of its own.
namespace parallax::methods::fields {

template<class Options>
using Builder = typename config::Group<Options>::Builder;

template<class Options>
Builder<Options> temperature(config::Group<Options> &group, double Options::*member)
{
    return group.field("temperature", member)
        .label("Temperature")
        .range(0.01, 10)
        .help("Small values let the nearest other images count most.");
}

/// The weight of the moving average at the start and at the end of the run.
template<class Options>
void momentum(config::Group<Options> &group, double Options::*start, double Options::*end)
{
    group.field("momentum", start).label("Momentum").range(0, 1).help("Share of the momentum network that stays at a step.");
    group.field("momentum_end", end)
        .label("Momentum at the end")
        .range(0, 1)
        .advanced()
        .help("The momentum goes there over the run along half a cosine.");
}

template<class Options>
Builder<Options> hiddenDim(config::Group<Options> &group, std::int64_t Options::*member)
{
    return group.field("hidden_dim", member)
        .label("Hidden width")
        .range(2, 65536)
        .advanced()
        .help("Width of the hidden layers of the projection head.");
}

/// The same where 0 stands for the width of the features.
template<class Options>
Builder<Options> hiddenDimOrFeatures(config::Group<Options> &group, std::int64_t Options::*member)
{
    return hiddenDim(group, member)
        .range(0, 65536)
        .help("Width of the hidden layers of the projection head. 0: as wide as the features.");
}

template<class Options>
Builder<Options> projectionDim(config::Group<Options> &group, std::int64_t Options::*member)
{
    return group.field("projection_dim", member)
        .label("Projection width")
        .range(2, 65536)
        .advanced()
        .help("Width of the vectors that the loss compares.");
}

} // namespace parallax::methods::fields
