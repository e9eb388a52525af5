// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/metrics/comparison.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <limits>
#include <unordered_map>

namespace parallax::metrics {

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// Lower-case words of a name, split at everything that is no letter or digit.
std::vector<std::string> wordsOf(std::string_view name)
{
    std::vector<std::string> words(1);
    for (const char c : name) {
        const auto byte = static_cast<unsigned char>(c);
        if (std::isalnum(byte))
            words.back() += static_cast<char>(std::tolower(byte));
        else if (!words.back().empty())
            words.emplace_back();
    }
    return words;
}

template<std::size_t N>
bool anyOf(const std::vector<std::string> &words, const std::array<std::string_view, N> &wanted)
{
    return std::ranges::any_of(
        words, [&](const std::string &word) { return std::find(wanted.begin(), wanted.end(), word) != wanted.end(); });
}

/// The curve at `x`; NaN outside it and beside a gap.
class Reader
{
public:
    explicit Reader(const Curve &curve) : m_curve(curve) { }
    /// `x` must not go back between calls.
    double at(double x)
    {
        const auto &xs = m_curve.x;
        while (m_next < xs.size() && xs[m_next] < x) ++m_next;
        if (m_next == xs.size()) return nan;
        const double right = m_curve.y[m_next];
        if (xs[m_next] == x) return std::isfinite(right) ? right : nan;
        if (m_next == 0) return nan;
        const double left = m_curve.y[m_next - 1];
        if (!std::isfinite(left) || !std::isfinite(right)) return nan;
        const double share = (x - xs[m_next - 1]) / (xs[m_next] - xs[m_next - 1]);
        return left * (1 - share) + right * share;
    }

private:
    const Curve &m_curve;
    std::size_t m_next = 0;
};

std::vector<double> gridOf(const std::vector<Curve> &curves, std::size_t most)
{
    std::vector<double> grid;
    for (const Curve &curve : curves) {
        const auto middle = static_cast<std::ptrdiff_t>(grid.size());
        std::ranges::copy_if(curve.x, std::back_inserter(grid), [](double x) { return std::isfinite(x); });
        std::inplace_merge(grid.begin(), grid.begin() + middle, grid.end());
        grid.erase(std::unique(grid.begin(), grid.end()), grid.end());
    }
    if (most < 2 || grid.size() <= most) return grid;
    const double from = grid.front(), to = grid.back();
    grid.resize(most);
    for (std::size_t i = 0; i < most; ++i) {
        const double share = double(i) / double(most - 1);
        grid[i] = from * (1 - share) + to * share;
    }
    grid.back() = to;
    return grid;
}

} // namespace

Direction direction(std::string_view name)
{
    // Smaller first: "error_top1" is an error.
    static constexpr std::array<std::string_view, 19> smaller{
        "loss", "error", "err",  "seconds", "time",   "ms",         "mb",         "memory", "wait",    "nll",
        "mae",  "mse",   "rmse", "fid",     "cosine", "perplexity", "uniformity", "bytes",  "duration"};
    static constexpr std::array<std::string_view, 18> larger{"knn",  "top1",   "top5",   "acc",    "accuracy",  "map",
                                                             "f1",   "auc",    "auroc",  "iou",    "miou",      "psnr",
                                                             "ssim", "images", "rankme", "spread", "precision", "recall"};
    const std::vector<std::string> words = wordsOf(name);
    if (anyOf(words, smaller)) return Direction::Smaller;
    return anyOf(words, larger) ? Direction::Larger : Direction::Neither;
}

Band band(const std::vector<Curve> &curves, Spread spread, std::size_t most)
{
    Band result;
    result.x = gridOf(curves, most);
    std::vector<Reader> readers(curves.begin(), curves.end());
    std::vector<double> values;
    for (const double x : result.x) {
        values.clear();
        for (Reader &reader : readers)
            if (const double value = reader.at(x); std::isfinite(value)) values.push_back(value);
        const Moments all = moments(values);
        double low = all.mean - all.deviation, high = all.mean + all.deviation;
        if (spread == Spread::Range && !values.empty()) {
            const auto [smallest, largest] = std::ranges::minmax(values);
            low = smallest;
            high = largest;
        }
        result.mean.push_back(all.mean);
        result.low.push_back(low);
        result.high.push_back(high);
        result.count.push_back(int(values.size()));
    }
    return result;
}

std::optional<double> timeToReach(const Curve &curve, double target, Direction better)
{
    if (better == Direction::Neither || std::isnan(target)) return {};
    for (std::size_t i = 0; i < curve.y.size(); ++i)
        if (better == Direction::Larger ? curve.y[i] >= target : curve.y[i] <= target) return curve.x[i];
    return {};
}

Moments moments(const std::vector<double> &values)
{
    // Two passes: the deviation of seeds is often a ten-thousandth of their mean.
    double sum = 0;
    std::size_t count = 0;
    for (const double v : values) {
        if (!std::isfinite(v)) continue;
        sum += v;
        ++count;
    }
    if (count == 0) return {nan, nan, 0};
    const double mean = sum / double(count);
    double squares = 0;
    for (const double v : values)
        if (std::isfinite(v)) squares += (v - mean) * (v - mean);
    return {mean, count > 1 ? std::sqrt(squares / double(count - 1)) : 0, count};
}

std::optional<std::size_t> bestOf(const std::vector<double> &values, Direction better)
{
    std::optional<std::size_t> best;
    std::size_t finite = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (!std::isfinite(values[i])) continue;
        ++finite;
        if (!best || (better == Direction::Larger ? values[i] > values[*best] : values[i] < values[*best])) best = i;
    }
    return finite < 2 || better == Direction::Neither ? std::nullopt : best;
}

std::vector<double> activeSeconds(const std::vector<double> &times, double start, std::vector<double> resumes)
{
    std::ranges::sort(resumes);
    std::vector<double> result;
    result.reserve(times.size());
    double paused = 0, before = start;
    std::size_t next = 0;
    for (const double time : times) {
        for (; next < resumes.size() && resumes[next] <= time; ++next) {
            paused += std::max(0.0, resumes[next] - before);
            before = std::max(before, resumes[next]);
        }
        before = std::max(before, time);
        result.push_back(time - start - paused);
    }
    return result;
}

std::vector<Difference> compareSettings(const std::vector<Settings> &runs)
{
    std::vector<Difference> result;
    std::unordered_map<std::string_view, std::size_t> rows;
    for (std::size_t run = 0; run < runs.size(); ++run)
        for (const auto &[key, value] : runs[run]) {
            const auto [row, isNew] = rows.try_emplace(key, result.size());
            if (isNew) result.push_back({key, std::vector<std::optional<std::string>>(runs.size()), false});
            result[row->second].values[run] = value;
        }
    for (Difference &row : result)
        row.differs = std::ranges::any_of(row.values, [&](const auto &value) { return value != row.values.front(); });
    return result;
}

} // namespace parallax::metrics
