// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// What several runs say together: means over seeds, when a value was reached, which figure is the best, which settings
/// differ. Missing values are NaN throughout and take part in nothing.
namespace parallax::metrics {

/// Which way a figure is better.
enum class Direction { Larger, Smaller, Neither };
/// By the words of a figure's name, ours and other tools' ("knn_top1", "val/accuracy", "rss_mb/r1"); Neither where more or less
/// is no merit by itself ("lr", "temperature"; "alignment", which is 0 in a collapse).
Direction direction(std::string_view name);

/// One figure of one run over steps, epochs or seconds; x ascends, y may hold NaN: a gap.
struct Curve {
    std::vector<double> x, y;
};

enum class Spread {
    Range,    ///< smallest to largest
    Deviation ///< mean ± sample standard deviation (n - 1); of one curve no spread at all
};

/// Several curves as one: columns of equal length, x ascending.
struct Band {
    std::vector<double> x, mean, low, high;
    std::vector<int> count; ///< curves that have a value there; 0: a gap, the other columns are NaN
};

/// The mean and spread of `curves` at every x that one of them has; at `most` evenly spaced ones when there are more. Between
/// its own points a curve counts by linear interpolation, beyond its ends and beside its gaps not at all.
Band band(const std::vector<Curve> &curves, Spread spread, std::size_t most = 4000);

/// The first x at which the curve is at least `target` (at most, when smaller is better): a recorded point, none made up in
/// between. Nothing: never, or `better` is Neither.
std::optional<double> timeToReach(const Curve &curve, double target, Direction better);

/// Mean and sample standard deviation of the finite ones of `values`; NaN where there is none, 0 deviation of a single one.
struct Moments {
    double mean, deviation;
    std::size_t count;
};
Moments moments(const std::vector<double> &values);

/// Index of the best finite value; nothing when fewer than two can be compared, or `better` is Neither. The first of equals.
std::optional<std::size_t> bestOf(const std::vector<double> &values, Direction better);

/// Seconds of training at each of `times` (seconds since 1970, ascending): since `start`, without the pauses before the
/// resumes at `resumes`. The time from the last kept point to a resume counts as pause, work that the resume threw away too.
std::vector<double> activeSeconds(const std::vector<double> &times, double start, std::vector<double> resumes);

/// A run's settings as text, in their own order: "optim.base_lr" → "0.05".
using Settings = std::vector<std::pair<std::string, std::string>>;

struct Difference {
    std::string key;
    std::vector<std::optional<std::string>> values; ///< one a run; nothing: that run has no such setting
    bool differs = false;
};
/// Every key that some run has, in the order of first appearance.
std::vector<Difference> compareSettings(const std::vector<Settings> &runs);

} // namespace parallax::metrics
