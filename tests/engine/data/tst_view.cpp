// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/data/view.h"

#include "core/engine/data/resample.h"
#include "tests/engine/data/datatest.h"

#include <QTest>

#include <algorithm>
#include <cmath>

using namespace parallax;
using namespace parallax::data;
using namespace parallax::data::test;

namespace {

/// No random operation at all.
AugmentConfig plain(int size)
{
    AugmentConfig augment;
    augment.size = size;
    augment.cropMin = augment.cropMax = 1;
    augment.flipP = augment.jitterP = augment.grayP = augment.blurP = 0;
    augment.mean = {0};
    augment.std = {1};
    return augment;
}

std::vector<float> view(const cv::Mat &rgb, const ViewSpec &spec, const ViewKey &key)
{
    std::vector<float> out(3 * std::size_t(spec.augment.size * spec.augment.size));
    makeView(rgb, spec, key, out.data());
    return out;
}

constexpr int draws = 4'000;

} // namespace

class TestView : public QObject
{
    Q_OBJECT

private slots:
    void cropAreaAndRatio()
    {
        AugmentConfig augment;
        augment.cropMin = 0.1;
        augment.cropMax = 0.7; // every ratio fits a square image, so that no draw is refused
        const cv::Size image(400, 400);
        std::array<int, 6> area{}, ratios{};
        for (int i = 0; i < draws; ++i) {
            const cv::Rect crop = drawCrop(image, augment, Random({1, 0, std::uint64_t(i), 0}, Random::Purpose::Crop));
            QVERIFY(crop.x >= 0 && crop.y >= 0 && crop.br().x <= image.width && crop.br().y <= image.height);
            const double share = double(crop.area()) / image.area(), ratio = double(crop.width) / crop.height;
            QVERIFY(share > 0.099 && share < 0.703);
            QVERIFY(ratio > 0.745 && ratio < 1.345);
            ++area[std::size_t(std::clamp((share - 0.1) / 0.1, 0.0, 5.0))];
            ++ratios[std::size_t(std::clamp((std::log(ratio) / std::log(4.0 / 3) + 1) * 3, 0.0, 5.0))];
        }
        for (const auto &bins : {area, ratios}) // uniform share, uniform logarithm of the ratio
            for (const int count : bins) QVERIFY2(std::abs(count - draws / 6) < 120, qPrintable(QString::number(count)));
    }

    void cropReachesEveryPlace()
    {
        AugmentConfig augment;
        augment.cropMin = augment.cropMax = 0.25;
        bool left = false, right = false, top = false, bottom = false;
        for (int i = 0; i < 500; ++i) {
            const cv::Rect crop = drawCrop({20, 20}, augment, Random({1, 0, std::uint64_t(i), 0}, Random::Purpose::Crop));
            left |= crop.x == 0;
            top |= crop.y == 0;
            right |= crop.br().x == 20;
            bottom |= crop.br().y == 20;
        }
        QVERIFY(left && right && top && bottom);
    }

    void cropsAreScaledAsTheSettingSays()
    {
        cv::Mat rgb(8, 8, CV_8UC3, cv::Scalar::all(0));
        rgb(cv::Rect(4, 0, 4, 8)) = cv::Scalar::all(255);
        const auto scaled = [&](Filter filter) {
            std::vector<float> out(3 * 16 * 16);
            resample(rgb, {0, 0, 8, 8}, {16, 16}, {0, 0, 16, 16}, out.data(), filter);
            return out;
        };
        ViewSpec spec{plain(16), true};
        QVERIFY(view(rgb, spec, {}) == scaled(Filter::Bilinear));
        const auto evaluated = view(rgb, {spec.augment, false}, {});
        spec.augment.interpolation = "bicubic";
        auto sharper = scaled(Filter::Bicubic);
        QVERIFY(*std::ranges::max_element(sharper) > 1 && *std::ranges::min_element(sharper) < 0);
        for (float &value : sharper) value = std::clamp(value, 0.f, 1.f);
        QVERIFY(view(rgb, spec, {}) == sharper);
        QVERIFY(view(rgb, {spec.augment, false}, {}) == evaluated);
    }

    void cropFallsBackToTheCentre()
    {
        AugmentConfig augment;
        augment.cropMin = augment.cropMax = 1; // never fits a strip
        const auto crop = [&](int w, int h) {
            return drawCrop({w, h}, augment, Random({1, 0, 0, 0}, Random::Purpose::Crop));
        };
        QVERIFY(crop(100, 10) == cv::Rect(43, 0, 13, 10)); // 10 * 4/3 wide
        QVERIFY(crop(10, 100) == cv::Rect(0, 43, 10, 13));
        QVERIFY(crop(1, 60'000) == cv::Rect(0, 29'999, 1, 1));
        QVERIFY(crop(1, 1) == cv::Rect(0, 0, 1, 1));
    }

    void probabilities()
    {
        const cv::Mat rgb = pattern(16, 16);
        const auto share = [&](auto change) {
            ViewSpec spec{plain(16), true};
            const auto untouched = view(rgb, spec, {});
            change(spec.augment);
            int changed = 0;
            for (int i = 0; i < draws; ++i) changed += view(rgb, spec, {5, 0, std::uint64_t(i), 0}) != untouched;
            return double(changed) / draws;
        };
        const auto is = [](double got, double wanted) { return std::abs(got - wanted) < 0.04; };
        QVERIFY(is(share([](AugmentConfig &a) { a.flipP = 0.5; }), 0.5));
        QVERIFY(is(share([](AugmentConfig &a) { a.jitterP = 0.8; }), 0.8));
        QVERIFY(is(share([](AugmentConfig &a) { a.grayP = 0.2; }), 0.2));
        QVERIFY(is(share([](AugmentConfig &a) {
                       a.blurP = 0.3;
                       a.blurSigmaMin = 0.5;
                   }),
                   0.3));
        QCOMPARE(share([](AugmentConfig &a) { a.flipP = 1; }), 1.0);
        QCOMPARE(share([](AugmentConfig &) {}), 0.0);
    }

    void jitterStaysInItsRange()
    {
        ViewSpec spec{plain(8), true};
        spec.augment.jitterP = 1;
        spec.augment.brightness = 0.4;
        spec.augment.contrast = spec.augment.saturation = spec.augment.hue = 0;
        const cv::Mat gray(8, 8, CV_8UC3, cv::Scalar(102, 102, 102)); // 0.4
        double low = 1, high = 0, sum = 0;
        for (int i = 0; i < draws; ++i) {
            const double value = view(gray, spec, {1, 0, std::uint64_t(i), 0}).front() / 0.4;
            low = std::min(low, value), high = std::max(high, value), sum += value;
        }
        QVERIFY(low >= 0.6 - 1e-5 && low < 0.62);
        QVERIFY(high <= 1.4 + 1e-5 && high > 1.38);
        QVERIFY(std::abs(sum / draws - 1) < 0.02);
    }

    void allOrdersOfTheJitterOccur()
    {
        // On a coloured picture the four operations do not commute: with factors drawn per key, equal pictures are rare,
        // so the orders are counted with strong fixed factors instead, by the values that brightness and contrast leave.
        ViewSpec spec{plain(8), true};
        spec.augment.jitterP = 1;
        spec.augment.brightness = 2;
        spec.augment.contrast = 2;
        spec.augment.saturation = spec.augment.hue = 0;
        const cv::Mat rgb = pattern(8, 8);
        std::set<std::vector<float>> seen;
        for (int i = 0; i < 200; ++i) seen.insert(view(rgb, spec, {1, 0, std::uint64_t(i), 0}));
        QVERIFY(seen.size() > 190);
    }

    /// Bytes follow from (seed, epoch, sample, view) and nothing else.
    void keysDecide()
    {
        const cv::Mat rgb = pattern(40, 30);
        ViewSpec spec;
        spec.augment.blurP = 0.5;
        std::set<std::vector<float>> seen;
        int count = 0;
        for (std::uint64_t seed : {1, 2})
            for (std::int64_t epoch : {0, 1, 2})
                for (std::uint64_t sample : {10, 11})
                    for (int v : {0, 1}) {
                        const ViewKey key{seed, epoch, sample, v};
                        const auto made = view(rgb, spec, key);
                        QVERIFY(made == view(rgb, spec, key));
                        seen.insert(made);
                        ++count;
                    }
        QCOMPARE(int(seen.size()), count);
    }

    void oneAugmentationDoesNotMoveAnother()
    {
        const cv::Mat rgb = pattern(40, 30);
        ViewSpec with{plain(16), true}, without{plain(16), true};
        with.augment.cropMin = without.augment.cropMin = 0.2;
        with.augment.flipP = without.augment.flipP = 0.5;
        with.augment.jitterP = 1; // of strength 0: draws its numbers, changes nothing
        with.augment.brightness = with.augment.contrast = with.augment.saturation = with.augment.hue = 0;
        for (std::uint64_t i = 0; i < 20; ++i) QVERIFY(view(rgb, with, {1, 0, i, 0}) == view(rgb, without, {1, 0, i, 0}));
    }

    void evaluationSeesTheMiddle()
    {
        const ViewSpec spec{plain(10), false};
        cv::Mat wide(10, 31, CV_8UC3, cv::Scalar::all(0));
        wide(cv::Rect(10, 0, 10, 10)) = cv::Scalar::all(255); // offset (31 - 10) / 2 = 10.5, to the even neighbour
        for (const float value : view(wide, spec, {})) QCOMPARE(value, 1.f);
        cv::Mat tall;
        cv::transpose(wide, tall);
        for (const float value : view(tall, spec, {})) QCOMPARE(value, 1.f);
        const cv::Mat rgb = pattern(10, 10);
        const auto same = view(rgb, spec, {9, 9, 9, 9});
        for (int y = 0; y < 10; ++y)
            for (int x = 0; x < 10; ++x)
                QVERIFY(std::abs(same[std::size_t(y * 10 + x)] - rgb.at<cv::Vec3b>(y, x)[0] / 255.f) < 1e-6f);
    }

    /// Resize to 256, crop of 224: what is usual on large images.
    void evaluationMayLeaveOutTheBorder()
    {
        QCOMPARE(centreSide(224, 0.875), 256);
        QCOMPARE(centreSide(224, 1), 224);
        const ViewSpec spec{plain(8), false, 0.5};
        cv::Mat wide(16, 25, CV_8UC3, cv::Scalar::all(0));
        wide(cv::Rect(8, 4, 8, 8)) = cv::Scalar::all(255); // offsets (25 - 8) / 2 = 8.5 and (16 - 8) / 2
        for (const float value : view(wide, spec, {})) QCOMPARE(value, 1.f);
        cv::Mat tall;
        cv::transpose(wide, tall);
        for (const float value : view(tall, spec, {})) QCOMPARE(value, 1.f);
    }

    void normalisationByOneOrThreeValues()
    {
        const cv::Mat rgb(8, 8, CV_8UC3, cv::Scalar(51, 102, 153)); // 0.2, 0.4, 0.6
        ViewSpec spec{plain(8), false};
        spec.augment.mean = {0.1, 0.2, 0.3};
        spec.augment.std = {0.5};
        const auto made = view(rgb, spec, {});
        QVERIFY(std::abs(made[0] - 0.2f) < 1e-6f);
        QVERIFY(std::abs(made[64] - 0.4f) < 1e-6f);
        QVERIFY(std::abs(made[128] - 0.6f) < 1e-6f);
    }

    void solariseInvertsBrightValues()
    {
        cv::Mat rgb(8, 8, CV_8UC3);
        for (int i = 0; i < 64; ++i) rgb.at<cv::Vec3b>(i / 8, i % 8) = cv::Vec3b(uchar(4 * i), uchar(255 - 4 * i), 90);
        ViewSpec spec{plain(8), true};
        const auto as = view(rgb, spec, {1, 0, 1, 0});
        spec.augment.solarizeP = 1;
        const auto turned = view(rgb, spec, {1, 0, 1, 0});
        int bright = 0;
        for (std::size_t i = 0; i < as.size(); ++i) {
            QCOMPARE(turned[i], as[i] >= 0.5f ? 1 - as[i] : as[i]);
            bright += as[i] >= 0.5f;
        }
        QVERIFY(bright > 0 && bright < int(as.size()));
        spec.augment.solarizeP = 0.3;
        int count = 0;
        for (std::uint64_t sample = 0; sample < draws; ++sample) count += view(rgb, spec, {1, 0, sample, 1}) == turned;
        QVERIFY(std::abs(count / double(draws) - 0.3) < 0.03);
    }

    void tinyAndThinImages()
    {
        ViewSpec spec;
        spec.augment.blurP = 1;
        spec.augment.blurSigmaMin = spec.augment.blurSigmaMax = 50;
        for (const auto &[w, h] : {std::pair(1, 1), std::pair(1, 500), std::pair(3'000, 1), std::pair(2, 3)})
            for (const bool random : {true, false}) {
                spec.random = random;
                for (const float value : view(pattern(w, h), spec, {1, 0, 1, 0})) QVERIFY(std::isfinite(value));
            }
    }

    void settingsThatContradictEachOther()
    {
        QVERIFY(checkAugment({}).ok());
        AugmentConfig augment;
        augment.mean = {0.5, 0.5};
        QCOMPARE(checkAugment(augment).error().where, std::string("augment.mean"));
        augment = {};
        augment.std.clear();
        QCOMPARE(checkAugment(augment).error().where, std::string("augment.std"));
        augment = {};
        augment.cropMin = 0.9, augment.cropMax = 0.5;
        QCOMPARE(checkAugment(augment).error().where, std::string("augment.crop_min"));
        augment = {};
        augment.blurSigmaMin = 3;
        QCOMPARE(checkAugment(augment).error().where, std::string("augment.blur_sigma_min"));
    }
};

QTEST_GUILESS_MAIN(TestView)
#include "tst_view.moc"
