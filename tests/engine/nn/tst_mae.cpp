// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/nn/kmeans.h"
#include "core/engine/nn/maedecoder.h"

#include <QTest>

#include <cmath>

using namespace parallax::nn;

/// What masked autoencoders and grouping are made of.
class Mae : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void patchesHoldTheirPixelsRowByRow()
    {
        const torch::Tensor images = torch::arange(2 * 3 * 4 * 6, torch::kFloat32).view({2, 3, 4, 6});
        const torch::Tensor patches = patchesOf(images, 2);
        QCOMPARE(patches.sizes(), torch::IntArrayRef({2, 6, 12}));
        for (int n = 0; n < 2; ++n)
            for (int patch = 0; patch < 6; ++patch)
                for (int y = 0; y < 2; ++y)
                    for (int x = 0; x < 2; ++x)
                        for (int c = 0; c < 3; ++c)
                            QCOMPARE(patches[n][patch][(y * 2 + x) * 3 + c].item<float>(),
                                     images[n][c][patch / 3 * 2 + y][patch % 3 * 2 + x].item<float>());
        QVERIFY_EXCEPTION_THROWN(patchesOf(images, 4), c10::Error);
    }

    void positionsTellPlacesApart()
    {
        const torch::Tensor positions = sineCosinePositions(3, 8);
        QCOMPARE(positions.sizes(), torch::IntArrayRef({1, 10, 8}));
        QCOMPARE(positions[0][0].abs().max().item<float>(), 0.0f);
        // Row 1, column 2: the first half tells the column, the second the row; frequencies 1 and 1/100.
        const std::vector<double> expected{std::sin(2), std::sin(0.02), std::cos(2), std::cos(0.02),
                                           std::sin(1), std::sin(0.01), std::cos(1), std::cos(0.01)};
        for (std::size_t i = 0; i < 8; ++i)
            QVERIFY(std::abs(positions[0][1 + 3 + 2][std::int64_t(i)].item<double>() - expected[i]) < 1e-6);
        QVERIFY_EXCEPTION_THROWN(sineCosinePositions(3, 6), c10::Error);
    }

    void theDecoderKnowsPatchesByTheirPlaces()
    {
        torch::manual_seed(4);
        MaeDecoder decoder(MaeDecoderOptions{.in = 6, .dim = 8, .layers = 2, .heads = 2, .patchSize = 4, .imageSize = 12});
        const torch::Tensor encoded = torch::randn({2, 5, 6}); // class token and four of nine patches
        const torch::Tensor kept = torch::tensor({{0, 3, 5, 8}, {1, 2, 4, 7}}),
                            masked = torch::tensor({{1, 2, 4, 6, 7}, {0, 3, 5, 6, 8}});
        const torch::Tensor out = decoder->forward(encoded, kept, masked);
        QCOMPARE(out.sizes(), torch::IntArrayRef({2, 5, 48}));
        // The order of the kept ones says nothing; that of the masked ones is the order of the answer.
        const torch::Tensor turn = torch::tensor({2, 0, 3, 1});
        const torch::Tensor turned = torch::cat({encoded.narrow(1, 0, 1), encoded.narrow(1, 1, 4).index_select(1, turn)}, 1);
        QVERIFY(torch::allclose(decoder->forward(turned, kept.index_select(1, turn), masked), out, 1e-4, 1e-6));
        QVERIFY(torch::allclose(decoder->forward(encoded, kept, masked.flip(1)), out.flip(1), 1e-4, 1e-6));
        QVERIFY(!torch::allclose(decoder->forward(turned, kept, masked), out, 1e-3, 1e-3));
        QVERIFY_EXCEPTION_THROWN(decoder->forward(encoded, kept, masked.narrow(1, 0, 4)), c10::Error);
    }

    void kMeansFindsWhatIsApart()
    {
        torch::manual_seed(7);
        const torch::Tensor corners = torch::eye(3).repeat_interleave(20, 0);
        const torch::Tensor rows = 5 * corners + 0.1 * torch::randn({60, 3});
        const torch::Tensor centres = kMeans(rows, 3, 20);
        QCOMPARE(centres.sizes(), torch::IntArrayRef({3, 3}));
        QVERIFY(torch::allclose(centres.norm(2, {1}), torch::ones({3})));
        const torch::Tensor nearest = torch::matmul(corners, centres.t()).amax(1);
        QVERIFY2(nearest.min().item<double>() > 0.99, qPrintable(QString::number(nearest.min().item<double>())));
    }

    void kMeansDependsOnRowsAndSeedAlone()
    {
        const torch::Tensor rows = torch::randn({30, 4});
        torch::manual_seed(1);
        const torch::Tensor once = kMeans(rows, 7, 5);
        torch::manual_seed(1);
        QVERIFY(torch::equal(kMeans(rows, 7, 5), once));
        const torch::Tensor few = kMeans(rows.narrow(0, 0, 2), 5, 3); // more centres than rows
        QVERIFY(few.isfinite().all().item<bool>() && few.size(0) == 5);
        QVERIFY_EXCEPTION_THROWN(kMeans(rows.narrow(0, 0, 0), 2, 1), c10::Error);
    }
};

QTEST_GUILESS_MAIN(Mae)
#include "tst_mae.moc"
