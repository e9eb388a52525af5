// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/data/view.h"

#include "core/engine/data/jpegdecoder.h"
#include "core/engine/data/keptdataset.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace parallax::data {

namespace {

using Purpose = Random::Purpose;
using transforms::ColourSteps;
using transforms::Planes;

constexpr double lowestRatio = 3.0 / 4, highestRatio = 4.0 / 3;
constexpr int cropTries = 10;

double valueOf(const std::vector<double> &values, std::size_t channel, double fallback)
{
    return values.empty() ? fallback : values[std::min(channel, values.size() - 1)];
}

void normalise(ColourSteps &steps, const AugmentConfig &augment)
{
    const Normalisation normalisation(augment);
    steps.normalise(normalisation.mean, normalisation.std);
}

/// Brightness, contrast, saturation and hue in random order, each by a factor of its own.
std::vector<DrawnView::ColourStep> drawJitter(const AugmentConfig &augment, Random random)
{
    using transforms::ColourOperation;
    std::vector<DrawnView::ColourStep> steps;
    if (random.uniform() >= float(augment.jitterP)) return steps;
    const auto factor = [&](double strength) {
        return random.uniform(float(std::max(0.0, 1 - strength)), float(1 + strength));
    };
    const float brightness = factor(augment.brightness), contrast = factor(augment.contrast);
    const float saturation = factor(augment.saturation), hue = random.uniform(float(-augment.hue), float(augment.hue));
    std::array<int, 4> order{0, 1, 2, 3};
    for (std::size_t i = 3; i > 0; --i) std::swap(order[i], order[random.below(i + 1)]);
    for (const int operation : order) {
        if (operation == 0 && augment.brightness > 0) steps.push_back({ColourOperation::Brightness, brightness});
        if (operation == 1 && augment.contrast > 0) steps.push_back({ColourOperation::Contrast, contrast});
        if (operation == 2 && augment.saturation > 0) steps.push_back({ColourOperation::Saturation, saturation});
        if (operation == 3 && augment.hue > 0) steps.push_back({ColourOperation::Hue, hue});
    }
    return steps;
}

/// The kernel reaches three standard deviations to each side, or as far as mirrored edges allow.
std::optional<DrawnView::Blur> drawBlur(const AugmentConfig &augment, Random random)
{
    if (random.uniform() >= float(augment.blurP)) return {};
    const float sigma = random.uniform(float(augment.blurSigmaMin), float(augment.blurSigmaMax));
    if (sigma < 0.01f) return {}; // its kernel is 1 in the middle and 0 beside it
    return DrawnView::Blur{std::min(int(std::ceil(3 * sigma)), int(augment.size) - 1), sigma};
}

void randomView(const cv::Mat &rgb, const DrawnView &drawn, const AugmentConfig &augment, Planes view)
{
    resample(rgb, drawn.crop, {view.width, view.height}, {0, 0, view.width, view.height}, view.rgb, drawn.filter,
             drawn.flipped);
    if (drawn.filter == Filter::Bicubic) transforms::clip(view); // it overshoots at edges
    ColourSteps steps;
    for (const auto &step : drawn.jitter) steps.add(step.operation, step.value);
    if (drawn.gray) steps.add(transforms::ColourOperation::Gray, 0);
    if (drawn.blur) {
        steps.apply(view);
        steps = {};
        transforms::blur(view, drawn.blur->radius, drawn.blur->sigma);
    }
    if (drawn.solarised) steps.add(transforms::ColourOperation::Solarise, solariseThreshold);
    normalise(steps, augment);
    steps.apply(view);
}

/// Shorter side to size / centre, the longer one in proportion; of that the middle.
void centreView(const cv::Mat &rgb, const AugmentConfig &augment, double centre, Planes view)
{
    const int size = view.width, shorter = centreSide(size, centre);
    const bool wide = rgb.cols > rgb.rows;
    const int longer = int(std::int64_t(shorter) * (wide ? rgb.cols : rgb.rows) / (wide ? rgb.rows : rgb.cols));
    const cv::Size full = wide ? cv::Size(longer, shorter) : cv::Size(shorter, longer);
    const int left = int(std::nearbyint((full.width - size) / 2.0)), top = int(std::nearbyint((full.height - size) / 2.0));
    resample(rgb, {0, 0, rgb.cols, rgb.rows}, full, {left, top, size, size}, view.rgb);
    ColourSteps steps;
    normalise(steps, augment);
    steps.apply(view);
}

/// How often the view's size fits into the shorter side of the smallest crop of `image` that can be drawn.
double spareOf(const ViewSpec &spec, const cv::Size &image)
{
    const double shorter = std::min(image.width, image.height);
    if (!spec.random) return shorter / centreSide(int(spec.augment.size), spec.centre);
    const double smallest = std::sqrt(double(image.area()) * spec.augment.cropMin * lowestRatio);
    return std::min(shorter, smallest) / double(spec.augment.size);
}

} // namespace

int centreSide(int size, double centre) { return std::max(size, int(std::lround(size / centre))); }

Demand wholeFor(const std::vector<ViewSpec> &views, const cv::Size &stored)
{
    int shrink = 1;
    if (!isSmall(stored))
        for (const int by : {2, 4, 8})
            if (std::ranges::all_of(views, [&](const ViewSpec &spec) { return spareOf(spec, stored) >= by; })) shrink = by;
    return {shrink, {{}, shrunk(stored, shrink)}};
}

Demand demandOf(const std::vector<ViewSpec> &views, ViewKey key, const cv::Size &stored)
{
    Demand demand = wholeFor(views, stored);
    cv::Rect region;
    for (std::size_t v = 0; v < views.size(); ++v) {
        if (!views[v].random) return demand;
        key.view = int(v);
        region |= drawCrop(demand.region.size(), views[v].augment, Random(key, Purpose::Crop));
    }
    demand.region = region;
    return demand;
}

Normalisation::Normalisation(const AugmentConfig &augment)
{
    for (std::size_t c = 0; c < 3; ++c) {
        mean[c] = valueOf(augment.mean, c, 0);
        std[c] = valueOf(augment.std, c, 1);
    }
}

cv::Rect drawCrop(const cv::Size &image, const AugmentConfig &augment, Random random)
{
    const double area = double(image.width) * image.height;
    for (int i = 0; i < cropTries; ++i) {
        const double target = area * random.uniform(float(augment.cropMin), float(augment.cropMax));
        const double ratio = std::exp(random.uniform(float(std::log(lowestRatio)), float(std::log(highestRatio))));
        const auto width = std::llrint(std::sqrt(target * ratio)), height = std::llrint(std::sqrt(target / ratio));
        if (width < 1 || height < 1 || width > image.width || height > image.height) continue;
        const int y = int(random.below(std::uint64_t(image.height - height + 1)));
        const int x = int(random.below(std::uint64_t(image.width - width + 1)));
        return {x, y, int(width), int(height)};
    }
    int width = image.width, height = image.height;
    const double ratio = double(width) / height;
    if (ratio < lowestRatio)
        height = std::max(1, int(std::lrint(width / lowestRatio)));
    else if (ratio > highestRatio)
        width = std::max(1, int(std::lrint(height * highestRatio)));
    return {(image.width - width) / 2, (image.height - height) / 2, width, height};
}

DrawnView drawView(const cv::Size &image, const AugmentConfig &augment, const ViewKey &key)
{
    const auto happens = [&](Purpose purpose, double share) { return Random(key, purpose).uniform() < float(share); };
    return {.crop = drawCrop(image, augment, Random(key, Purpose::Crop)),
            .filter = augment.interpolation == "bicubic" ? Filter::Bicubic : Filter::Bilinear,
            .flipped = happens(Purpose::Flip, augment.flipP),
            .jitter = drawJitter(augment, Random(key, Purpose::Jitter)),
            .gray = happens(Purpose::Gray, augment.grayP),
            .blur = drawBlur(augment, Random(key, Purpose::Blur)),
            .solarised = happens(Purpose::Solarize, augment.solarizeP)};
}

void makeView(const cv::Mat &rgb, const ViewSpec &spec, const ViewKey &key, float *out)
{
    const Planes view{out, int(spec.augment.size), int(spec.augment.size)};
    if (spec.random)
        randomView(rgb, drawView(rgb.size(), spec.augment, key), spec.augment, view);
    else
        centreView(rgb, spec.augment, spec.centre, view);
}

Status checkAugment(const AugmentConfig &augment)
{
    for (const auto &[key, values] : {std::pair("augment.mean", augment.mean), std::pair("augment.std", augment.std)})
        if (values.size() != 1 && values.size() != 3)
            return Error{"has " + std::to_string(values.size()) + " values", key,
                         "Give one value for all channels, or three: red, green, blue."};
    if (augment.cropMin > augment.cropMax)
        return Error{"is above augment.crop_max", "augment.crop_min", "Exchange the two."};
    if (augment.blurSigmaMin > augment.blurSigmaMax)
        return Error{"is above augment.blur_sigma_max", "augment.blur_sigma_min", "Exchange the two."};
    return {};
}

} // namespace parallax::data
