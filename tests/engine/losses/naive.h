// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/dist/ranks.h"

#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

/// Losses anew, number by number, for tests over random shapes.
namespace naive {

using Row = std::vector<double>;
using Rows = std::vector<Row>;

inline Row row(const torch::Tensor &x)
{
    const torch::Tensor flat = x.detach().to(torch::kFloat64).contiguous().flatten();
    return {flat.data_ptr<double>(), flat.data_ptr<double>() + flat.numel()};
}

/// Rows of [n, …].
inline Rows rows(const torch::Tensor &x)
{
    Rows all;
    for (std::int64_t i = 0; i < x.size(0); ++i) all.push_back(row(x[i]));
    return all;
}

inline double dot(const Row &a, const Row &b)
{
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    return sum;
}
inline double cosine(const Row &a, const Row &b) { return dot(a, b) / std::sqrt(dot(a, a) * dot(b, b)); }

inline double sum(const Row &a)
{
    double all = 0;
    for (const double value : a) all += value;
    return all;
}
inline double mean(const Row &a) { return sum(a) / double(a.size()); }

inline Row softmax(Row a, double temperature)
{
    double total = 0;
    for (double &value : a) total += value = std::exp(value / temperature);
    for (double &value : a) value /= total;
    return a;
}

/// −Σ p log q
inline double crossEntropy(const Row &p, const Row &q)
{
    double all = 0;
    for (std::size_t i = 0; i < p.size(); ++i) all -= p[i] * std::log(q[i]);
    return all;
}

inline bool near(double got, double expected)
{
    return std::abs(got - expected) < 1e-10 * std::max(1.0, std::abs(expected));
}
inline bool near(const torch::Tensor &got, double expected) { return near(got.item<double>(), expected); }

inline torch::Tensor random(std::initializer_list<std::int64_t> shape) { return torch::randn(shape, torch::kFloat64); }

/// Shapes [n, d] to try.
inline std::vector<std::pair<std::int64_t, std::int64_t>> shapes() { return {{2, 3}, {5, 2}, {7, 11}}; }

inline const parallax::dist::Ranks &alone()
{
    static const auto ranks = parallax::dist::localRanks(torch::kCPU);
    return *ranks;
}

} // namespace naive
