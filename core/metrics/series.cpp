// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/metrics/series.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

namespace parallax::metrics {

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// A gap before what is superseded next: two resumes put aside two curves, not one.
void separate(std::vector<double> &steps, std::vector<double> &values, double nextStep)
{
    if (values.empty() || std::isnan(values.back())) return;
    steps.push_back(nextStep);
    values.push_back(nan);
}

} // namespace

struct Series::Aside {
    std::vector<double> step, epoch, time, value;
    std::size_t supersededBefore = 0; ///< how many there were before these
};

void Series::append(double s, double e, double t, double v)
{
    if (m_aside && !m_aside->step.empty() && s > m_aside->step.back()) takeBack();
    m_aside.reset();
    if (!step.empty() && s <= step.back()) {
        // Older than the last two, not only than the last: that one may be the stray itself.
        if (step.size() > 1 && s < step.back() && t < time[time.size() - 2]) {
            separate(supersededStep, supersededValue, s);
            supersededStep.push_back(s);
            supersededValue.push_back(v);
            return;
        }
        // A step again, or an earlier one: what the log says from here on replaces what it said before.
        putAside(s);
    }
    step.push_back(s);
    epoch.push_back(e);
    time.push_back(t);
    value.push_back(v);
}

void Series::putAside(double s)
{
    const double before = std::nextafter(s, -std::numeric_limits<double>::infinity());
    if (s < step.back()) {
        const auto from = std::upper_bound(step.begin(), step.end(), before) - step.begin();
        const auto tail = [from](const std::vector<double> &column) {
            return std::vector<double>(column.begin() + from, column.end());
        };
        m_aside =
            std::make_shared<const Aside>(Aside{tail(step), tail(epoch), tail(time), tail(value), supersededValue.size()});
    }
    const auto aside = m_aside;
    resumeFrom(before);
    m_aside = aside;
}

/// The one line since then was a stray: it changes places with what it had replaced.
void Series::takeBack()
{
    supersededStep.resize(m_aside->supersededBefore);
    supersededValue.resize(m_aside->supersededBefore);
    separate(supersededStep, supersededValue, step.back());
    supersededStep.push_back(step.back());
    supersededValue.push_back(value.back());
    const auto restore = [](std::vector<double> &column, const std::vector<double> &tail) {
        column.pop_back();
        column.insert(column.end(), tail.begin(), tail.end());
    };
    restore(step, m_aside->step);
    restore(epoch, m_aside->epoch);
    restore(time, m_aside->time);
    restore(value, m_aside->value);
}

void Series::resumeFrom(double s)
{
    m_aside.reset();
    const auto kept = std::upper_bound(step.begin(), step.end(), s) - step.begin();
    if (kept == std::ptrdiff_t(step.size())) return;
    separate(supersededStep, supersededValue, step[std::size_t(kept)]);
    supersededStep.insert(supersededStep.end(), step.begin() + kept, step.end());
    supersededValue.insert(supersededValue.end(), value.begin() + kept, value.end());
    for (std::vector<double> *column : {&step, &epoch, &time, &value}) column->resize(static_cast<std::size_t>(kept));
}

bool Series::hasFinite() const
{
    return std::ranges::any_of(value, [](double v) { return std::isfinite(v); });
}

double Series::last() const
{
    const auto found = std::find_if(value.rbegin(), value.rend(), [](double v) { return std::isfinite(v); });
    return found == value.rend() ? nan : *found;
}

double Series::best(bool larger) const
{
    double found = nan;
    for (const double v : value)
        if (std::isfinite(v) && (std::isnan(found) || (larger ? v > found : v < found))) found = v;
    return found;
}

std::vector<double> smooth(const std::vector<double> &value, double weight)
{
    const double w = std::clamp(std::isfinite(weight) ? weight : 0.0, 0.0, 1 - 1e-9);
    std::vector<double> out;
    out.reserve(value.size());
    // The average starts at 0; dividing by the weights seen so far (1 - w^n) takes that start out again. Kept by its own
    // recurrence: for w near 1, 1 - pow(w, n) would lose its digits.
    double average = 0, seen = 0;
    for (const double v : value) {
        if (!std::isfinite(v)) {
            out.push_back(nan);
            continue;
        }
        average = w * average + (1 - w) * v;
        seen = w * seen + (1 - w);
        out.push_back(average / seen);
    }
    return out;
}

std::pair<double, double> robustRange(const std::vector<double> &value)
{
    std::vector<double> finite;
    finite.reserve(value.size());
    std::ranges::copy_if(value, std::back_inserter(finite), [](double v) { return std::isfinite(v); });
    if (finite.empty()) return {0, 1};
    // Below 20 points a percentile says nothing of outliers: all are shown.
    const double cut = finite.size() < 20 ? 0 : 0.01;
    const double end = double(finite.size() - 1);
    const auto nth = [&finite](double rank) {
        const auto at = finite.begin() + static_cast<std::ptrdiff_t>(rank);
        std::nth_element(finite.begin(), at, finite.end());
        return *at;
    };
    const double low = nth(std::ceil(cut * end)), high = nth(std::floor((1 - cut) * end));
    // Halved first: the difference of two large values may be beyond a double.
    const double margin = 2 * (high / 2 - low / 2) * 0.05;
    if (margin > 0) return {low - margin, high + margin};
    const double around = low == 0 ? 1 : std::abs(low) * 0.05;
    return {low - around, high + around};
}

} // namespace parallax::metrics
