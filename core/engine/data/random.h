// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/data/loader.h"

#include <array>
#include <cstdint>

/// Random numbers without state: Philox4x32-10 (Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3"), a
/// block cipher over a counter. Any number can be had without the ones before it, so threads and ranks share nothing.
namespace parallax::data {

/// The ten rounds: 128 random bits for a counter and a key.
std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key);

/// A 64-bit hash of two words in order (SplitMix64's finaliser, twice). Not symmetric.
std::uint64_t mix(std::uint64_t a, std::uint64_t b);

/// FNV-1a, 64 bits.
std::uint64_t fnv1a(const void *data, std::size_t bytes, std::uint64_t start = 0xcbf29ce484222325ULL);

/// A stream of numbers for one purpose. The key is a hash of (seed, epoch); the counter holds sample, view, purpose and
/// position as they are, so that within an epoch no two streams share a number.
class Random
{
public:
    /// What the numbers are for. Each has a stream of its own: turning one augmentation off moves no other.
    enum class Purpose : std::uint32_t { Crop, Flip, Jitter, Gray, Blur, Order, Split, Limit, Solarize };

    Random(const ViewKey &key, Purpose purpose);

    std::uint32_t bits();
    /// Uniform in [0, 1), 24 bits.
    float uniform();
    float uniform(float low, float high) { return low + (high - low) * uniform(); }
    /// Uniform in 0 … count-1; count from 1 to 2³².
    std::uint64_t below(std::uint64_t count);

private:
    std::array<std::uint32_t, 2> m_key;
    std::array<std::uint32_t, 4> m_counter, m_block{};
    int m_used = 4;
};

} // namespace parallax::data
