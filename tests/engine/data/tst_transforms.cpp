// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/data/transforms.h"

#include "core/engine/data/resample.h"
#include "core/runs/safetensors.h"
#include "tests/engine/data/datatest.h"

#include <QTest>

using namespace parallax;
using namespace parallax::data;
using namespace parallax::data::test;
using transforms::Planes;

namespace {

/// Planes that own their memory.
struct Picture {
    std::vector<float> values;
    int width = 0, height = 0;
    Planes planes() { return {values.data(), width, height}; }
};

Picture whole(const cv::Mat &rgb)
{
    Picture picture{std::vector<float>(rgb.total() * 3), rgb.cols, rgb.rows};
    const std::size_t n = rgb.total();
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t c = 0; c < 3; ++c) picture.values[c * n + i] = float(rgb.data[3 * i + c]) / 255;
    return picture;
}

Picture resized(const cv::Mat &rgb, const nlohmann::json &op)
{
    const int width = op.at(6), height = op.at(5);
    Picture picture{std::vector<float>(std::size_t(width * height) * 3), width, height};
    resample(rgb, {op.at(2), op.at(1), op.at(4), op.at(3)}, {width, height}, {0, 0, width, height}, picture.values.data());
    return picture;
}

void applyOperation(Picture &picture, const nlohmann::json &op)
{
    const std::string name = op.at(0);
    if (name == "hflip")
        transforms::flipHorizontally(picture.planes());
    else if (name == "brightness")
        transforms::adjustBrightness(picture.planes(), op.at(1));
    else if (name == "contrast")
        transforms::adjustContrast(picture.planes(), op.at(1));
    else if (name == "saturation")
        transforms::adjustSaturation(picture.planes(), op.at(1));
    else if (name == "hue")
        transforms::adjustHue(picture.planes(), op.at(1));
    else if (name == "grayscale")
        transforms::toGray(picture.planes());
    else if (name == "tv_blur")
        transforms::blur(picture.planes(), op.at(1).get<int>() / 2, op.at(2));
    else
        qFatal("no such operation: %s", name.c_str());
}

/// Antialiased bilinear resize in double, pixel by pixel, straight from its definition.
std::vector<double> naiveResize(const cv::Mat &rgb, int outWidth, int outHeight)
{
    const auto weights = [](int in, int out, int i) {
        const double scale = double(in) / out, support = std::max(1.0, scale), center = (i + 0.5) * scale;
        std::vector<double> w(static_cast<std::size_t>(in));
        double sum = 0;
        for (int j = 0; j < in; ++j) sum += w[std::size_t(j)] = std::max(0.0, 1 - std::abs(j + 0.5 - center) / support);
        for (double &value : w) value /= sum;
        return w;
    };
    std::vector<double> result;
    for (int c = 0; c < 3; ++c)
        for (int y = 0; y < outHeight; ++y)
            for (int x = 0; x < outWidth; ++x) {
                const auto rows = weights(rgb.rows, outHeight, y), columns = weights(rgb.cols, outWidth, x);
                double value = 0;
                for (int j = 0; j < rgb.rows; ++j)
                    for (int i = 0; i < rgb.cols; ++i)
                        value += rows[std::size_t(j)] * columns[std::size_t(i)] * rgb.at<cv::Vec3b>(j, i)[c];
                result.push_back(value / 255);
            }
    return result;
}

} // namespace

class TestTransforms : public QObject
{
    Q_OBJECT

private slots:
    /// torchvision's float tensor operations, at the tolerance that is stored with them.
    void equalTorchvision_data()
    {
        QTest::addColumn<QString>("file");
        const auto files = QDir(dataPath("transforms")).entryList({"*.safetensors"});
        QVERIFY(files.size() > 25);
        for (const auto &file : files) QTest::newRow(qPrintable(file)) << dataPath("transforms/" + file);
    }
    void equalTorchvision()
    {
        QFETCH(QString, file);
        const auto opened = runs::SafetensorsFile::open(file.toStdString());
        QVERIFY2(opened.ok(), opened ? "" : opened.error().message().c_str());
        const auto params = nlohmann::json::parse(opened->metadata().at("params"));
        const auto tolerance = nlohmann::json::parse(opened->metadata().at("expect")).at("tolerance");
        const auto &image = opened->tensors().at("input.image");
        const cv::Mat rgb(int(image.shape[0]), int(image.shape[1]), CV_8UC3, const_cast<std::byte *>(opened->data(image)));

        Picture picture = whole(rgb);
        for (const auto &op : params.at("ops"))
            if (op.at(0) == "resized_crop")
                picture = resized(rgb, op);
            else
                applyOperation(picture, op);
        const auto compare = [&](const std::string &name) {
            const auto &info = opened->tensors().at(name);
            QCOMPARE(std::size_t(info.shape[0] * info.shape[1] * info.shape[2]), picture.values.size());
            const auto *wanted = reinterpret_cast<const float *>(opened->data(info));
            const double absolute = tolerance.at(name).at("atol"), relative = tolerance.at(name).at("rtol");
            for (std::size_t i = 0; i < picture.values.size(); ++i)
                QVERIFY2(std::abs(picture.values[i] - wanted[i]) <= absolute + relative * std::abs(wanted[i]),
                         qPrintable(
                             QString("%1 [%2]: %3, not %4").arg(name.c_str()).arg(i).arg(picture.values[i]).arg(wanted[i])));
        };
        compare("output.float");
        if (!params.contains("normalize")) return;
        const std::vector<double> mean = params.at("normalize").at("mean"), std = params.at("normalize").at("std");
        transforms::normalise(picture.planes(), mean.data(), std.data());
        compare("output.float_normalized");
    }

    void resampleEqualsItsDefinition_data()
    {
        QTest::addColumn<QSize>("from");
        QTest::addColumn<QSize>("to");
        QTest::newRow("same") << QSize(9, 7) << QSize(9, 7);
        QTest::newRow("smaller") << QSize(37, 23) << QSize(8, 8);
        QTest::newRow("larger") << QSize(5, 3) << QSize(16, 16);
        QTest::newRow("one pixel") << QSize(1, 1) << QSize(8, 8);
        QTest::newRow("mixed") << QSize(3, 40) << QSize(11, 11);
    }
    void resampleEqualsItsDefinition()
    {
        QFETCH(QSize, from);
        QFETCH(QSize, to);
        const cv::Mat rgb = pattern(from.width(), from.height());
        std::vector<float> got(std::size_t(to.width() * to.height()) * 3);
        resample(rgb, {0, 0, rgb.cols, rgb.rows}, {to.width(), to.height()}, {0, 0, to.width(), to.height()}, got.data());
        const auto wanted = naiveResize(rgb, to.width(), to.height());
        for (std::size_t i = 0; i < got.size(); ++i) QVERIFY(std::abs(got[i] - wanted[i]) < 1e-6);
    }

    void aWindowIsAPartOfTheWhole()
    {
        const cv::Mat rgb = pattern(50, 40);
        std::vector<float> all(3 * 20 * 16), part(3 * 6 * 5);
        resample(rgb, {4, 2, 40, 32}, {20, 16}, {0, 0, 20, 16}, all.data());
        resample(rgb, {4, 2, 40, 32}, {20, 16}, {9, 7, 6, 5}, part.data());
        for (int c = 0; c < 3; ++c)
            for (int y = 0; y < 5; ++y)
                for (int x = 0; x < 6; ++x)
                    QCOMPARE(part[std::size_t((c * 5 + y) * 6 + x)], all[std::size_t((c * 16 + y + 7) * 20 + x + 9)]);
    }

    /// In the middle of an empty picture the blur leaves its own kernel: outer product of two normal densities.
    void blurIsGaussian()
    {
        constexpr int side = 21, radius = 6;
        constexpr double sigma = 1.7;
        Picture picture{std::vector<float>(3 * side * side), side, side};
        for (int c = 0; c < 3; ++c) picture.values[std::size_t(c * side * side + 10 * side + 10)] = 1;
        transforms::blur(picture.planes(), radius, sigma);
        double norm = 0;
        for (int k = -radius; k <= radius; ++k) norm += std::exp(-k * k / (2 * sigma * sigma));
        for (int y = 0; y < side; ++y)
            for (int x = 0; x < side; ++x) {
                const int dx = x - 10, dy = y - 10;
                const bool inside = std::abs(dx) <= radius && std::abs(dy) <= radius;
                const double wanted = inside ? std::exp(-(dx * dx + dy * dy) / (2 * sigma * sigma)) / (norm * norm) : 0;
                QVERIFY(std::abs(picture.values[std::size_t(y * side + x)] - wanted) < 1e-7);
            }
    }

    void hueOfGrayStays()
    {
        Picture picture{std::vector<float>(3 * 4, 0.3f), 2, 2};
        transforms::adjustHue(picture.planes(), 0.3f);
        for (const float value : picture.values) QCOMPARE(value, 0.3f);
        Picture black{std::vector<float>(3 * 4), 2, 2};
        transforms::adjustHue(black.planes(), 0.3f);
        for (const float value : black.values) QCOMPARE(value, 0.f);
    }

    void aFullTurnOfTheHueIsNone()
    {
        Picture picture = whole(pattern(8, 8)), turned = picture;
        for (int i = 0; i < 4; ++i) transforms::adjustHue(turned.planes(), 0.25f);
        for (std::size_t i = 0; i < picture.values.size(); ++i)
            QVERIFY(std::abs(picture.values[i] - turned.values[i]) < 1e-5);
    }
};

QTEST_GUILESS_MAIN(TestTransforms)
#include "tst_transforms.moc"
