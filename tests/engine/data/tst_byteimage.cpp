// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/data/byteimage.h"

#include "core/engine/data/resample.h"
#include "core/engine/data/rotation.h"
#include "core/engine/data/transforms.h"
#include "tests/engine/data/datatest.h"

#include <QTest>

using namespace parallax::data;
using parallax::data::test::pattern;

namespace {

bool same(const cv::Mat &a, const cv::Mat &b)
{
    return a.size() == b.size() && std::equal(a.datastart, a.dataend, b.datastart, b.dataend);
}

cv::Mat changed(const cv::Mat &rgb, const std::function<void(cv::Mat &)> &change)
{
    cv::Mat copy = rgb.clone();
    change(copy);
    return copy;
}

} // namespace

class ByteImage : public QObject
{
    Q_OBJECT

private slots:
    void whatUndoesItself()
    {
        const cv::Mat image = pattern(13, 9);
        for (const auto &change : {std::function<void(cv::Mat &)>([](cv::Mat &m) { flipHorizontally(m); }),
                                   std::function<void(cv::Mat &)>([](cv::Mat &m) { flipVertically(m); }),
                                   std::function<void(cv::Mat &)>([](cv::Mat &m) { solarise(m, 0); }),
                                   std::function<void(cv::Mat &)>([](cv::Mat &m) { pil::rotate(m, 180); })}) {
            const cv::Mat once = changed(image, change);
            QVERIFY(!same(once, image));
            QVERIFY(same(changed(once, change), image));
        }
    }

    void whatChangesNothing()
    {
        const cv::Mat image = pattern(11, 8);
        QVERIFY(same(changed(image, [](cv::Mat &m) { adjustBrightness(m, 1); }), image));
        QVERIFY(same(changed(image, [](cv::Mat &m) { pil::adjustContrast(m, 1); }), image));
        QVERIFY(same(changed(image, [](cv::Mat &m) { pil::adjustSaturation(m, 1); }), image));
        QVERIFY(same(changed(image, [](cv::Mat &m) { bytes::adjustContrast(m, 1); }), image));
        QVERIFY(same(changed(image, [](cv::Mat &m) { bytes::adjustSaturation(m, 1); }), image));
        QVERIFY(same(changed(image, [](cv::Mat &m) { pil::blur(m, 0); }), image));
        QVERIFY(same(changed(image, [](cv::Mat &m) { pil::rotate(m, 360); }), image));
        QVERIFY(same(changed(image, [](cv::Mat &m) { bytes::rotate(m, -720); }), image));
        for (const auto filter : {Filter::Bilinear, Filter::Bicubic})
            for (const auto precision : {Precision::Pil, Precision::Torch})
                QVERIFY(same(resampleBytes(image, {0, 0, 11, 8}, {11, 8}, filter, precision), image));
    }

    void factorsOfZero()
    {
        const cv::Mat image = pattern(11, 8), black = cv::Mat::zeros(8, 11, CV_8UC3);
        QVERIFY(same(changed(image, [](cv::Mat &m) { adjustBrightness(m, 0); }), black));
        const cv::Mat flat = changed(image, [](cv::Mat &m) { pil::adjustContrast(m, 0); });
        QVERIFY(same(flat, cv::Mat(8, 11, CV_8UC3, cv::Scalar::all(flat.data[0]))));
        QVERIFY(same(changed(image, [](cv::Mat &m) { pil::adjustSaturation(m, 0); }),
                     changed(image, [](cv::Mat &m) { pil::toGray(m); })));
    }

    void blurKeepsWhatIsConstant_data()
    {
        QTest::addColumn<float>("sigma");
        for (const float sigma : {0.1f, 0.5f, 1.f, 3.f, 40.f}) QTest::addRow("%g", double(sigma)) << sigma;
    }
    void blurKeepsWhatIsConstant()
    {
        QFETCH(float, sigma);
        for (const auto &size : {cv::Size(9, 6), cv::Size(1, 1), cv::Size(2, 30)}) {
            const cv::Mat image(size, CV_8UC3, cv::Scalar(255, 3, 127));
            QVERIFY(same(changed(image, [&](cv::Mat &m) { pil::blur(m, sigma); }), image));
        }
    }

    /// Its variance is sigma², as far as 8 bits show it.
    void blurHasItsWidth()
    {
        cv::Mat image = cv::Mat::zeros(1, 101, CV_8UC3);
        image.at<cv::Vec3b>(0, 50) = {255, 255, 255};
        for (int x = 48; x <= 52; ++x) image.at<cv::Vec3b>(0, x) = {255, 255, 255}; // variance 2
        pil::blur(image, 4);
        double sum = 0, square = 0;
        for (int x = 0; x < 101; ++x) {
            sum += image.at<cv::Vec3b>(0, x)[0];
            square += image.at<cv::Vec3b>(0, x)[0] * double((x - 50) * (x - 50));
        }
        QVERIFY(std::abs(square / sum - (2 + 16)) < 1);
    }

    void quarterTurnsOfASquare()
    {
        const cv::Mat image = pattern(7, 7);
        for (const bool pillow : {false, true}) {
            const auto turn = [&](cv::Mat &m) { pillow ? pil::rotate(m, 90) : bytes::rotate(m, 90); };
            cv::Mat turned = changed(image, turn);
            QCOMPARE(turned.at<cv::Vec3b>(6, 0), image.at<cv::Vec3b>(0, 0)); // counter-clockwise
            for (int i = 0; i < 3; ++i) turn(turned);
            QVERIFY(same(turned, image));
        }
    }

    void turnsLeaveTheCanvas()
    {
        for (const auto &from : {rotatedFrom(4, 10, 90), rotatedFromPil(4, 10, 90)}) {
            QCOMPARE(int(std::count(from.begin(), from.end(), -1)), 40 - 16);
            QVERIFY(std::ranges::all_of(from, [](int i) { return i >= -1 && i < 40; }));
        }
    }

    /// A bicubic picture may leave 0 … 1; its hue then turns without leaving it further.
    void hueOutsideTheRange()
    {
        std::vector<float> values{1.1f, -0.1f, 0.5f};
        transforms::adjustHue({values.data(), 1, 1}, 1.f / 3);
        QVERIFY(std::abs(values[1] - 1.1f) < 1e-5f); // red has become green
        QVERIFY(values[0] >= 0 && values[0] <= 1 && values[2] >= 0 && values[2] <= 1);
    }

    void bicubicOvershoots()
    {
        cv::Mat image = cv::Mat::zeros(1, 8, CV_8UC3);
        image.colRange(4, 8).setTo(cv::Scalar::all(255));
        std::vector<float> out(3 * 16);
        resample(image, {0, 0, 8, 1}, {16, 1}, {0, 0, 16, 1}, out.data(), Filter::Bicubic);
        const auto [low, high] = std::minmax_element(out.begin(), out.end());
        QVERIFY(*low < -0.01f && *high > 1.01f);
        QCOMPARE(out[0], 0.f);
        QCOMPARE(out[15], 1.f);
    }
};

QTEST_GUILESS_MAIN(ByteImage)
#include "tst_byteimage.moc"
