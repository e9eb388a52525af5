// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/data/duplicates.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <memory>

namespace parallax::data {

PixelHash hashOf(const cv::Mat &picture)
{
    const std::unique_ptr<XXH3_state_t, XXH_errorcode (*)(XXH3_state_t *)> state(XXH3_createState(), XXH3_freeState);
    XXH3_128bits_reset(state.get());
    const std::array<std::int32_t, 3> shape{picture.rows, picture.cols, picture.channels()};
    XXH3_128bits_update(state.get(), shape.data(), sizeof shape);
    for (int y = 0; y < picture.rows; ++y)
        XXH3_128bits_update(state.get(), picture.ptr(y), std::size_t(picture.cols) * picture.elemSize());
    const XXH128_hash_t hash = XXH3_128bits_digest(state.get());
    return {hash.low64, hash.high64};
}

DuplicateCount::Counted DuplicateCount::count()
{
    constexpr std::size_t mostExamples = 20;
    Counted counted;
    std::ranges::sort(m_pictures);
    for (auto begin = m_pictures.begin(); begin != m_pictures.end();) {
        const auto end = std::find_if(begin, m_pictures.end(), [&](const Picture &p) { return p.pixels != begin->pixels; });
        const std::int64_t copies = end - begin - 1;
        counted.copies += copies;
        if (std::any_of(begin, end, [&](const Picture &p) { return p.label != begin->label; }))
            counted.acrossLabels += copies;
        const auto trained = std::find_if(begin, end, [](const Picture &p) { return !p.evaluation; });
        for (auto it = begin; trained != end && it != end; ++it)
            if (it->evaluation) counted.examples.emplace_back(it->index, trained->index);
        begin = end;
    }
    counted.acrossSplits = std::int64_t(counted.examples.size());
    std::ranges::sort(counted.examples);
    counted.examples.resize(std::min(counted.examples.size(), mostExamples));
    return counted;
}

} // namespace parallax::data
