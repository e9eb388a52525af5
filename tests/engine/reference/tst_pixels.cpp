// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/data/resample.h"
#include "core/engine/data/rotation.h"

#include <torch/torch.h>

#include <QTest>

#include <numbers>

using namespace parallax;

namespace {

std::int64_t between(std::int64_t low, std::int64_t high)
{
    return torch::randint(low, high + 1, {1}, torch::kInt64).item<std::int64_t>();
}

/// [h, w, 3] noise of 8 bits.
torch::Tensor noise(std::int64_t height, std::int64_t width)
{
    return torch::randint(0, 256, {height, width, 3}, torch::kInt64).to(torch::kUInt8);
}

torch::Tensor torchResize(const torch::Tensor &planes, std::int64_t height, std::int64_t width, data::Filter filter)
{
    const std::vector<std::int64_t> size{height, width};
    const torch::Tensor batch = planes.unsqueeze(0);
    return (filter == data::Filter::Bicubic ? at::_upsample_bicubic2d_aa(batch, size, false)
                                            : at::_upsample_bilinear2d_aa(batch, size, false))
        .squeeze(0);
}

} // namespace

/// Pixel kernels that have no LibTorch, against LibTorch's own over random shapes.
class Pixels : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void resampling_data()
    {
        QTest::addColumn<int>("filter");
        QTest::newRow("bilinear") << int(data::Filter::Bilinear);
        QTest::newRow("bicubic") << int(data::Filter::Bicubic);
    }
    void resampling()
    {
        QFETCH(int, filter);
        const auto kind = data::Filter(filter);
        torch::manual_seed(8);
        for (int i = 0; i < 40; ++i) {
            const std::int64_t height = between(3, 150), width = between(3, 300);
            const std::int64_t h = between(2, height), w = between(2, width), outH = between(2, 90), outW = between(2, 90);
            const cv::Rect crop(int(between(0, width - w)), int(between(0, height - h)), int(w), int(h));
            const torch::Tensor image = noise(height, width);
            const cv::Mat rgb(int(height), int(width), CV_8UC3, image.data_ptr());
            const torch::Tensor bytes =
                image.narrow(0, crop.y, h).narrow(1, crop.x, w).permute({2, 0, 1}).contiguous(); // [3, h, w]
            const torch::Tensor planes = image.permute({2, 0, 1}).to(torch::kFloat32).div(255).contiguous();

            const torch::Tensor wanted = torchResize(bytes.to(torch::kFloat32).div(255), outH, outW, kind);
            torch::Tensor got = torch::empty({3, outH, outW});
            data::resamplePlanes(planes.data_ptr<float>(), rgb.size(), crop, {int(outW), int(outH)}, got.data_ptr<float>(),
                                 kind);
            QVERIFY((got - wanted).abs().max().item<double>() < 1.5e-6);
            data::resample(rgb, crop, {int(outW), int(outH)}, {0, 0, int(outW), int(outH)}, got.data_ptr<float>(), kind);
            QVERIFY((got - wanted).abs().max().item<double>() < 1.5e-6);

            const cv::Mat small = data::resampleBytes(rgb, crop, {int(outW), int(outH)}, kind, data::Precision::Torch);
            const torch::Tensor ours = torch::from_blob(small.data, {outH, outW, 3}, torch::kUInt8).permute({2, 0, 1});
            const torch::Tensor off =
                (ours.to(torch::kInt32) - torchResize(bytes, outH, outW, kind).to(torch::kInt32)).abs();
            QVERIFY(off.max().item<int>() <= 1); // machines without AVX2 round elsewhere
        }
    }

    /// By torch's grid_sample; a place in the middle between two pixels may fall to either.
    void rotation()
    {
        torch::manual_seed(9);
        for (int i = 0; i < 40; ++i) {
            const std::int64_t height = between(2, 60), width = between(2, 60);
            const double degrees = i < 8 ? 90.0 * (i - 3) : double(between(-400, 400)) + 0.3;
            const double angle = degrees * std::numbers::pi / 180;
            const torch::Tensor index = torch::arange(1, height * width + 1).to(torch::kFloat64).view({1, 1, height, width});
            const torch::Tensor x = (torch::arange(width, torch::kFloat64) + 0.5 - 0.5 * double(width)).unsqueeze(0);
            const torch::Tensor y = (torch::arange(height, torch::kFloat64) + 0.5 - 0.5 * double(height)).unsqueeze(1);
            const torch::Tensor gridX = (x * std::cos(angle) - y * std::sin(angle)) * 2 / double(width);
            const torch::Tensor gridY = (x * std::sin(angle) + y * std::cos(angle)) * 2 / double(height);
            const torch::Tensor wanted =
                torch::grid_sampler(index, torch::stack({gridX, gridY}, 2).unsqueeze(0), 1, 0, false).flatten() - 1;
            for (const auto &from : {data::rotatedFrom(int(width), int(height), degrees),
                                     data::rotatedFromPil(int(width), int(height), degrees)}) {
                const torch::Tensor got = torch::tensor(std::vector<double>(from.begin(), from.end()), torch::kFloat64);
                QCOMPARE(got.numel(), height * width);
                const double other = (got != wanted).to(torch::kFloat64).mean().item<double>();
                const bool quarter = std::fmod(degrees, 90) == 0;
                QVERIFY2(other <= (quarter && (width - height) % 2 == 0 ? 0
                                       : quarter                        ? 1
                                                                        : 0.03),
                         qPrintable(QString("%1 × %2, %3°: %4").arg(width).arg(height).arg(degrees).arg(other)));
            }
        }
    }
};

QTEST_GUILESS_MAIN(Pixels)
#include "tst_pixels.moc"
