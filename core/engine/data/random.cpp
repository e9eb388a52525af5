// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/data/random.h"

namespace parallax::data {

std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key)
{
    for (int round = 0; round < 10; ++round) {
        const std::uint64_t left = std::uint64_t(0xD2511F53) * counter[0];
        const std::uint64_t right = std::uint64_t(0xCD9E8D57) * counter[2];
        counter = {std::uint32_t(right >> 32) ^ counter[1] ^ key[0], std::uint32_t(right),
                   std::uint32_t(left >> 32) ^ counter[3] ^ key[1], std::uint32_t(left)};
        key[0] += 0x9E3779B9;
        key[1] += 0xBB67AE85;
    }
    return counter;
}

namespace {

std::uint64_t finalise(std::uint64_t z)
{
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
}

} // namespace

std::uint64_t mix(std::uint64_t a, std::uint64_t b)
{
    return finalise(finalise(a + 0x9E3779B97F4A7C15ULL) + b * 0xD6E8FEB86659FD93ULL + 0x9E3779B97F4A7C15ULL);
}

std::uint64_t fnv1a(const void *data, std::size_t bytes, std::uint64_t start)
{
    const auto *p = static_cast<const unsigned char *>(data);
    std::uint64_t hash = start;
    for (std::size_t i = 0; i < bytes; ++i) hash = (hash ^ p[i]) * 0x100000001b3ULL;
    return hash;
}

Random::Random(const ViewKey &key, Purpose purpose)
{
    const std::uint64_t run = mix(key.seed, std::uint64_t(key.epoch));
    m_key = {std::uint32_t(run), std::uint32_t(run >> 32)};
    // The low 24 bits of the first word count blocks, the high 8 bits are the purpose.
    m_counter = {std::uint32_t(purpose) << 24, std::uint32_t(key.view), std::uint32_t(key.sample),
                 std::uint32_t(key.sample >> 32)};
}

std::uint32_t Random::bits()
{
    if (m_used == 4) {
        m_block = philox(m_counter, m_key);
        ++m_counter[0];
        m_used = 0;
    }
    return m_block[std::size_t(m_used++)];
}

float Random::uniform() { return float(bits() >> 8) * 0x1p-24f; }

std::uint64_t Random::below(std::uint64_t count)
{
    // Multiply and shift; values that would fall into an incomplete last interval are drawn again, so there is no bias.
    const std::uint32_t range = std::uint32_t(count); // 2³² wraps to 0: every value is kept
    if (range == 0) return bits();
    const std::uint32_t unfair = (0u - range) % range;
    for (;;) {
        const std::uint64_t product = std::uint64_t(bits()) * range;
        if (std::uint32_t(product) >= unfair) return product >> 32;
    }
}

} // namespace parallax::data
