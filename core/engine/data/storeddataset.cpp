// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/data/storeddataset.h"

#include "core/engine/data/filestate.h"
#include "core/engine/data/jpegdecoder.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace parallax::data {

namespace {

PixelKey keyOf(const std::string &identity)
{
    const std::string whole = identity + '\0' + programState();
    const XXH128_hash_t hash = XXH3_128bits(whole.data(), whole.size());
    return {hash.high64, hash.low64};
}

} // namespace

StoredDataset::StoredDataset(std::shared_ptr<const Dataset> inner, PixelStore::Options options)
    : WrappedDataset(std::move(inner)), m_store(std::move(options))
{
}

Result<cv::Mat> StoredDataset::imageFor(std::int64_t index, const DemandFor &demand) const
{
    const auto identity = m_inner->identity(index);
    if (!identity) return m_inner->imageFor(index, demand);
    const PixelKey key = keyOf(*identity);
    if (auto pixels = m_store.find(key, demand)) return *pixels;
    if (m_store.full()) return m_inner->imageFor(index, demand);
    cv::Size stored;
    int shrink = 0; // not asked for: the picture comes whole, whatever is wanted of it
    auto image = m_inner->imageFor(index, [&](const cv::Size &size) {
        stored = size;
        shrink = demand ? demand(size).shrink : 1;
        return Demand{shrink, {{}, shrunk(size, shrink)}};
    });
    if (image) m_store.add(key, *image, stored, shrink);
    return image;
}

} // namespace parallax::data
