// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/embedding/project.h"

#include <Eigen/Dense>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

namespace parallax::embedding {
namespace {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;
using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr std::int64_t chunkRows = 512; ///< a cancel is seen after so many rows
/// Below this size all eigenvectors are computed at once; above it only a block of leading ones, step by step.
constexpr std::int64_t largestDense = 640;
/// A variance below this share of the largest is rounding: the axis does not exist.
constexpr double rounding = 1e-12;

Error cancelled() { return {"The projection was cancelled", {}, {}}; }
bool isSet(const std::atomic<bool> *cancel) { return cancel && cancel->load(std::memory_order_relaxed); }

struct Moments {
    std::vector<std::int64_t> rows; ///< those that are finite
    Vector origin, mean;            ///< mean is relative to origin
    Matrix covariance;              ///< lower triangle
    bool stopped = false;
};

/// Rows `from`… of the usable ones, relative to the origin.
Rows chunk(const Moments &moments, const float *vectors, std::int64_t dim, std::size_t from)
{
    const auto n = std::min<std::size_t>(chunkRows, moments.rows.size() - from);
    Rows block(n, dim);
    for (std::size_t i = 0; i < n; ++i)
        block.row(i) =
            Eigen::Map<const Eigen::VectorXf>(vectors + moments.rows[from + i] * dim, dim).cast<double>().transpose() -
            moments.origin.transpose();
    return block;
}

/// Differences to the first row are exact for equal rows, so that constant data has a variance of exactly 0.
Moments measure(const float *vectors, std::int64_t count, std::int64_t dim, const std::atomic<bool> *cancel)
{
    Moments moments;
    for (std::int64_t row = 0; row < count; ++row) {
        if (row % chunkRows == 0 && isSet(cancel)) return moments.stopped = true, moments;
        const float *v = vectors + row * dim;
        if (std::all_of(v, v + dim, [](float x) { return std::isfinite(x); })) moments.rows.push_back(row);
    }
    moments.origin = Vector::Zero(dim);
    moments.mean = Vector::Zero(dim);
    moments.covariance = Matrix::Zero(dim, dim);
    if (moments.rows.empty()) return moments;
    moments.origin = Eigen::Map<const Eigen::VectorXf>(vectors + moments.rows.front() * dim, dim).cast<double>();
    const double n = double(moments.rows.size());
    for (std::size_t from = 0; from < moments.rows.size(); from += chunkRows) {
        if (isSet(cancel)) return moments.stopped = true, moments;
        moments.mean += chunk(moments, vectors, dim, from).colwise().sum().transpose() / n;
    }
    for (std::size_t from = 0; from < moments.rows.size(); from += chunkRows) {
        if (isSet(cancel)) return moments.stopped = true, moments;
        Rows block = chunk(moments, vectors, dim, from);
        block.rowwise() -= moments.mean.transpose();
        moments.covariance.selfadjointView<Eigen::Lower>().rankUpdate(block.transpose(), 1 / n);
    }
    return moments;
}

struct Axes {
    Matrix directions; ///< [dim, 2]
    Vector variance;   ///< [2]
    bool stopped = false;
};

Axes denseAxes(const Matrix &covariance)
{
    const auto dim = covariance.rows();
    const Eigen::SelfAdjointEigenSolver<Matrix> solver(covariance); // ascending
    Axes axes{Matrix::Zero(dim, 2), Vector::Zero(2)};
    for (Eigen::Index k = 0; k < std::min<Eigen::Index>(2, dim); ++k) {
        axes.directions.col(k) = solver.eigenvectors().col(dim - 1 - k);
        axes.variance[k] = solver.eigenvalues()[dim - 1 - k];
    }
    return axes;
}

/// Orthogonal iteration with a Rayleigh-Ritz step on a block wider than what is asked for (Saad, Numerical Methods for
/// Large Eigenvalue Problems, ch. 5): converges with the ratio of the block's first neglected to the wanted eigenvalue.
Axes leadingAxes(const Matrix &covariance, const std::atomic<bool> *cancel)
{
    constexpr int width = 24, rounds = 400;
    constexpr double tolerance = 1e-7; // of the residual, relative to the largest eigenvalue
    const auto dim = covariance.rows();
    Matrix block(dim, width);
    std::mt19937 generator(1); // its bits are the same everywhere, unlike those of the standard's distributions
    for (auto &x : block.reshaped()) x = double(generator()) / 4294967296.0 - 0.5;
    Axes axes{Matrix::Zero(dim, 2), Vector::Zero(2)};
    for (int round = 0; round < rounds; ++round) {
        if (isSet(cancel)) return axes.stopped = true, axes;
        const Matrix basis = Eigen::HouseholderQR<Matrix>(block).householderQ() * Matrix::Identity(dim, width);
        const Matrix image = covariance.selfadjointView<Eigen::Lower>() * basis;
        const Eigen::SelfAdjointEigenSolver<Matrix> small(basis.transpose() * image);
        const Matrix turn = small.eigenvectors().rightCols(2).rowwise().reverse();
        axes.directions = basis * turn;
        axes.variance = small.eigenvalues().tail(2).reverse();
        const Matrix residual = image * turn - axes.directions * axes.variance.asDiagonal();
        if (residual.norm() <= tolerance * axes.variance[0]) break;
        block = image;
    }
    return axes;
}

void fixSign(Axes &axes)
{
    for (Eigen::Index k = 0; k < 2; ++k) {
        Eigen::Index largest = 0;
        axes.directions.col(k).cwiseAbs().maxCoeff(&largest);
        if (axes.directions(largest, k) < 0) axes.directions.col(k) *= -1;
    }
}

} // namespace

Result<Projection> pca(const float *vectors, std::int64_t count, std::int64_t dim, const std::atomic<bool> *cancel)
{
    Projection result;
    result.xy.assign(std::size_t(count * 2), std::numeric_limits<float>::quiet_NaN());
    result.explained = {0, 0};
    const Moments moments = measure(vectors, count, dim, cancel);
    if (moments.stopped) return cancelled();
    result.skipped = count - std::int64_t(moments.rows.size());
    for (const auto row : moments.rows) result.xy[row * 2] = result.xy[row * 2 + 1] = 0;
    const double total = moments.covariance.trace();
    if (!(total > 0)) return result;

    // Brought to a trace of 1, so that vectors near the ends of float's range neither overflow nor vanish.
    const Matrix covariance = moments.covariance / total;
    Axes axes = dim <= largestDense ? denseAxes(covariance) : leadingAxes(covariance, cancel);
    if (axes.stopped || isSet(cancel)) return cancelled();
    for (Eigen::Index k = 0; k < 2; ++k) {
        if (axes.variance[k] > rounding * axes.variance[0])
            result.explained[k] = std::min(1.0, axes.variance[k]);
        else
            axes.directions.col(k).setZero();
    }
    fixSign(axes);
    const Eigen::RowVectorXd shift = moments.mean.transpose() * axes.directions;
    for (std::size_t from = 0; from < moments.rows.size(); from += chunkRows) {
        if (isSet(cancel)) return cancelled();
        const Matrix xy = (chunk(moments, vectors, dim, from) * axes.directions).rowwise() - shift;
        for (Eigen::Index i = 0; i < xy.rows(); ++i)
            for (int k = 0; k < 2; ++k) result.xy[moments.rows[from + i] * 2 + k] = float(xy(i, k));
    }
    return result;
}

} // namespace parallax::embedding
