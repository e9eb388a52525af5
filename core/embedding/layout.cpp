// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/embedding/layout.h"

#include "core/base/parallel.h"
#include "core/base/simd.h"
#include "core/embedding/candidates.h"

#include <algorithm>
#include <chrono>

namespace parallax::embedding {
namespace {

constexpr int lanes = 8, negatives = 5;
using Lanes = float __attribute__((vector_size(lanes * sizeof(float))));
using Ints = std::int32_t __attribute__((vector_size(lanes * sizeof(float))));

constexpr std::int64_t groups = 4;  ///< of points that move at the same time
constexpr std::int64_t chunk = 256; ///< points a task
constexpr auto watchPause = std::chrono::milliseconds(50);

/// x := x^exponent for x >= 0, by polynomials for log2 on [1, 2) and 2^x on [0, 1): relative error below 1e-5, far below the
/// noise of a random gradient. 0 gives a value near 0.
PARALLAX_INLINE void raise(Lanes &x, float exponent)
{
    const Ints bits = reinterpret_cast<Ints>(x);
    const Ints mantissa = (bits & 0x7fffff) | 0x3f800000;
    const Lanes m = reinterpret_cast<Lanes>(mantissa) - 1.0F;
    Lanes log = (((((0.02001665F * m - 0.0946268097F) * m + 0.213943212F) * m - 0.338377198F) * m + 0.477496364F) * m -
                 0.721144092F) *
            m +
        1.44269298F;
    log = (log * m + __builtin_convertvector((bits >> 23) - 127, Lanes)) * exponent;
    log = log < -126.0F ? Lanes{} - 126.0F : (log > 126.0F ? Lanes{} + 126.0F : log);
    Ints whole = __builtin_convertvector(log, Ints);
    whole += __builtin_convertvector(whole, Lanes) > log; // a true lane is -1: rounds down
    const Lanes f = log - __builtin_convertvector(whole, Lanes);
    const Ints power = (whole + 127) << 23;
    x = (((((0.00189375406F * f + 0.00894959042F) * f + 0.0558603371F) * f + 0.240141818F) * f + 0.69315449F) * f + 1.0F) *
        reinterpret_cast<Lanes>(power);
}

/// One number after the other from (seed, epoch, point): SplitMix64 (Steele, Lea, Flood 2014).
class Draws
{
public:
    Draws(std::uint64_t seed, std::int64_t epoch, std::int64_t point)
        : m_state(mix(mix(seed + std::uint64_t(epoch) * step) + std::uint64_t(point) * step))
    {
    }
    std::uint64_t next() { return mix(m_state += step); }

private:
    static constexpr std::uint64_t step = 0x9e3779b97f4a7c15;
    static std::uint64_t mix(std::uint64_t z)
    {
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
        z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
        return z ^ (z >> 31);
    }
    std::uint64_t m_state;
};

struct Field {
    const float *other; ///< places that pull and push, [others, 2]
    std::uint32_t others;
    const Edges *edges;
    std::vector<float> share; ///< of the epochs in which an edge is drawn
    float a, b;
    bool mutual; ///< edges come twice, once from each end: each pulls its head for both
};

/// Pulls (lanes 0 and 1) and pushes (the next five) of an edge at a place; the last lane is idle. Lanes whose other point is the
/// place itself do nothing.
struct Forces {
    Lanes x, y;
    PARALLAX_INLINE void move(const Field &field, float rate, float &px, float &py) const
    {
        static constexpr Lanes pull{1, 1, 0, 0, 0, 0, 0, 0}, push{0, 0, 1, 1, 1, 1, 1, 0};
        const Lanes dx = px - x, dy = py - y, square = dx * dx + dy * dy;
        Lanes power = square;
        raise(power, field.b);
        const Lanes up = push * (2 * field.b) - pull * (2 * field.a * field.b) * power;
        Lanes factor = up / ((square + push * 0.001F) * (1.0F + field.a * power));
        factor = square > 0.0F ? factor : Lanes{};
        Lanes mx = factor * dx, my = factor * dy;
        mx = mx < -4.0F ? Lanes{} - 4.0F : (mx > 4.0F ? Lanes{} + 4.0F : mx);
        my = my < -4.0F ? Lanes{} - 4.0F : (my > 4.0F ? Lanes{} + 4.0F : my);
        px += rate * (((mx[0] + mx[1]) + (mx[2] + mx[3])) + ((mx[4] + mx[5]) + mx[6]));
        py += rate * (((my[0] + my[1]) + (my[2] + my[3])) + ((my[4] + my[5]) + my[6]));
    }
};

/// A point's moves of one epoch. The second pull of an edge happens one step later, from where the point then is: both at once
/// would overshoot.
PARALLAX_VECTORISED
void movePoint(const Field &field, std::int64_t point, std::int64_t epoch, std::uint64_t seed, float rate, float *place)
{
    float px = place[0], py = place[1];
    Draws draws(seed, epoch, point);
    Forces forces{};
    std::int64_t last = -1;
    for (std::int64_t e = field.edges->begin[point]; e < field.edges->begin[point + 1]; ++e) {
        const float share = field.share[e];
        if (int(share * float(epoch)) == int(share * float(epoch - 1))) continue;
        const auto set = [&](int lane, std::int64_t other) {
            forces.x[lane] = field.other[other * 2];
            forces.y[lane] = field.other[other * 2 + 1];
        };
        forces.x = Lanes{} + px;
        forces.y = Lanes{} + py;
        set(0, field.edges->target[e]);
        if (field.mutual && last >= 0) set(1, last);
        std::uint64_t number = 0;
        for (int n = 0; n < negatives; ++n) {
            number = n % 2 == 0 ? draws.next() : number >> 32;
            const auto other = std::int64_t((number & 0xffffffff) * field.others >> 32);
            if (!field.mutual || other != point) set(2 + n, other);
        }
        forces.move(field, rate, px, py);
        last = field.edges->target[e];
    }
    if (field.mutual && last >= 0) {
        forces.x = Lanes{} + px;
        forces.y = Lanes{} + py;
        forces.x[1] = field.other[last * 2];
        forces.y[1] = field.other[last * 2 + 1];
        forces.move(field, rate, px, py);
    }
    place[0] = px;
    place[1] = py;
}

Field makeField(const std::vector<float> &other, const Edges &edges, const LayoutOptions &options, bool mutual)
{
    Field field{other.data(),           std::uint32_t(other.size() / 2), &edges, {},
                float(options.curve.a), float(options.curve.b),          mutual};
    const float largest = edges.weight.empty() ? 1 : *std::max_element(edges.weight.begin(), edges.weight.end());
    for (const float weight : edges.weight) field.share.push_back(weight / largest);
    return field;
}

bool descend(std::vector<float> &xy, const Field &field, const LayoutOptions &options)
{
    const std::int64_t count = std::int64_t(xy.size() / 2);
    std::vector<float> moved(xy.size());
    auto watched = std::chrono::steady_clock::now();
    for (int epoch = 1; epoch <= options.epochs; ++epoch) {
        const float rate = float(options.rate * (1 - double(epoch - 1) / options.epochs));
        for (std::int64_t group = 0; group < std::min(groups, count); ++group) {
            if (isSet(options.cancel)) return false;
            const std::int64_t members = (count - group + groups - 1) / groups;
            parallelFor((members + chunk - 1) / chunk, options.threads, [&](std::int64_t part) {
                for (std::int64_t m = part * chunk; m < std::min(members, (part + 1) * chunk); ++m) {
                    const std::int64_t point = m * groups + group;
                    std::copy_n(xy.begin() + point * 2, 2, moved.begin() + point * 2);
                    movePoint(field, point, epoch, options.seed, rate, moved.data() + point * 2);
                }
            });
            for (std::int64_t point = group; point < count; point += groups)
                std::copy_n(moved.begin() + point * 2, 2, xy.begin() + point * 2);
        }
        const auto now = std::chrono::steady_clock::now();
        if (options.watch && (now - watched > watchPause || epoch == options.epochs)) {
            watched = now;
            options.watch(double(epoch) / options.epochs, xy);
        }
    }
    return true;
}

} // namespace

bool arrange(std::vector<float> &xy, const Edges &edges, const LayoutOptions &options)
{
    return descend(xy, makeField(xy, edges, options, true), options);
}

bool arrangeAround(std::vector<float> &xy, const std::vector<float> &fixed, const Edges &edges, const LayoutOptions &options)
{
    return descend(xy, makeField(fixed, edges, options, false), options);
}

} // namespace parallax::embedding
