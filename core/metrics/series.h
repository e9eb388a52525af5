// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace parallax::metrics {

/// One figure over a run, as columns of equal length. Steps never go back: a resume from step s moves everything after s
/// to `superseded` (studio shows it faintly, exports leave it out); so does a step that is not beyond the last one. A line of
/// another log between those of this one replaces nothing: it goes to `superseded` by itself, once it is known by its time
/// (before the last two) or by the next line (beyond everything that it would have replaced). NaN values stay: they are
/// shown as gaps.
struct Series {
    std::vector<double> step, epoch, time, value;
    std::size_t size() const { return value.size(); }
    void append(double s, double e, double t, double v);

    /// Points that a later resume replaced, oldest first.
    std::vector<double> supersededStep, supersededValue;
    void resumeFrom(double s);

    bool hasFinite() const;
    double last() const; ///< last finite value; NaN when there is none
    double best(bool larger = true) const;

private:
    struct Aside; ///< what a step back has just put aside
    void putAside(double s);
    void takeBack();
    std::shared_ptr<const Aside> m_aside; ///< until the next line: that tells a stray line from a resume
};

/// Series by name; a figure of one rank is called "<name>/r<rank>" ("rss_mb/r1"), one of the whole run just "<name>".
using SeriesSet = std::map<std::string, Series>;

/// Debiased exponential moving average, 0 <= weight < 1 (TensorBoard's smoothing). Over the full series, before
/// decimation. A NaN gives NaN there and leaves the average as it was.
std::vector<double> smooth(const std::vector<double> &value, double weight);

struct Polyline {
    std::vector<double> x, y; ///< y may hold NaN: a gap
};
/// At most about 4 points a pixel column of [from, to]: first, smallest, largest, last of each. Keeps one point beyond each
/// edge so that lines leave the plot; keeps gaps.
Polyline decimate(const std::vector<double> &x, const std::vector<double> &y, double from, double to, int pixels);

/// Range for an axis that single outliers do not spoil: between the 1st and 99th percentile, widened by 5 %.
std::pair<double, double> robustRange(const std::vector<double> &value);

} // namespace parallax::metrics
