// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/methods/parts.h"
#include "core/engine/methods/vitmethod.h"
#include "tests/engine/methods/smallmethod.h"
#include "tests/support/rankprocesses.h"

#include <QTest>

#include <set>

using namespace parallax;
using namespace parallax::methods;
using rankprocesses::check;

namespace {

/// This rank's rows of 0 … total - 1, unequal shares.
torch::Tensor ownRows(const dist::Ranks &ranks, std::int64_t total)
{
    const std::int64_t begin = total * ranks.rank() / ranks.world(), end = total * (ranks.rank() + 1) / ranks.world();
    return torch::arange(begin, end, torch::kFloat32).unsqueeze(1);
}

const rankprocesses::Body dealsAnew("dealsAnew", [](const rankprocesses::Ranks &ranks, const std::string &) {
    const torch::Tensor own = ownRows(*ranks, 11);
    Context context;
    context.ranks = context.all = ranks;
    bool moved = false;
    for (std::uint64_t step = 0; step < 5; ++step) {
        torch::manual_seed(step); // the trainer's: alike on all ranks
        torch::Tensor seen;
        const torch::Tensor out = shuffled(own, context, [&](const torch::Tensor &rows) {
            seen = rows.clone();
            return rows * 10;
        });
        check(torch::equal(out, own * 10), "every image has its own answer");
        check(seen.size(0) == own.size(0), "as many images as before");
        torch::Tensor all = ranks->allGatherRows(seen);
        check(torch::equal(std::get<0>(all.flatten().sort()), torch::arange(11, torch::kFloat32)), "each image once");
        moved = moved || !torch::equal(std::get<0>(seen.flatten().sort()), own.flatten());
    }
    check(moved, "images never change the rank");
    context.syncBatchNorm = true;
    torch::Tensor seen;
    shuffled(own, context, [&](const torch::Tensor &rows) {
        seen = rows.clone();
        return rows;
    });
    check(torch::equal(seen, own), "nothing is sent where batch norm sees all ranks");
});

const rankprocesses::Body drawsForTheBatch("drawsForTheBatch", [](const rankprocesses::Ranks &ranks, const std::string &) {
    torch::manual_seed(5);
    const torch::Tensor whole = randomRows(torch::empty({0}), 11, 4, *dist::localRanks(torch::kCPU));
    torch::manual_seed(5);
    const torch::Tensor own = randomRows(torch::empty({0}), ownRows(*ranks, 11).size(0), 4, *ranks);
    check(torch::equal(ranks->allGatherRows(own), whole), "an image's numbers depend on the number of ranks");
});

} // namespace

class Parts : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void onlyTheSecondViewIsSolarised()
    {
        data::AugmentConfig augment;
        augment.blurP = 0.7;
        augment.solarizeP = 0.2;
        auto views = twoViews(augment);
        QCOMPARE(views.size(), std::size_t(2));
        QCOMPARE(views[0].augment.solarizeP, 0.0);
        QCOMPARE(views[1].augment.solarizeP, 0.2);
        QCOMPARE(views[1].augment.blurP, 0.7); // below 0: as the first
        augment.secondBlurP = 0.1;
        views = twoViews(augment);
        QCOMPARE(views[0].augment.blurP, 0.7);
        QCOMPARE(views[1].augment.blurP, 0.1);
    }

    void smallViewsComeBehindTheLargeOnes()
    {
        data::AugmentConfig augment;
        augment.size = 64;
        augment.cropMin = 0.4;
        augment.solarizeP = 0.2;
        MultiCrop crops;
        QCOMPARE(crops.views(augment).size(), std::size_t(2));
        crops.localViews = 3;
        crops.localSize = 24;
        const auto views = crops.views(augment);
        QCOMPARE(views.size(), std::size_t(5));
        QCOMPARE(views[1].augment.size, std::int64_t(64));
        for (std::size_t i = 2; i < 5; ++i) {
            QCOMPARE(views[i].augment.size, std::int64_t(24));
            QCOMPARE(views[i].augment.cropMin, crops.localCropMin);
            QCOMPARE(views[i].augment.cropMax, crops.localCropMax);
            QCOMPARE(views[i].augment.solarizeP, 0.0);
        }
    }

    void momentumGoesFromStartToEnd()
    {
        Context context;
        context.steps = 11;
        QCOMPARE(momentumAt(0.9, 1, context), 0.9);
        context.step = 5;
        QVERIFY(std::abs(momentumAt(0.9, 1, context) - 0.95) < 1e-12);
        context.step = 10;
        QCOMPARE(momentumAt(0.9, 1, context), 1.0);
    }

    void shuffledOnTwoRanks() { onRanks("dealsAnew", 2); }
    void shuffledOnThreeRanks() { onRanks("dealsAnew", 3); }
    void randomRowsOnThreeRanks() { onRanks("drawsForTheBatch", 3); }

    void patchesAreKeptOrMasked()
    {
        const auto backbone = smallmethod::makeBackbone("mae");
        const auto &vit = visionTransformer(backbone, "MAE");
        const torch::Tensor images = torch::zeros({40, 3, smallmethod::kSize, smallmethod::kSize}); // nine patches
        const auto alone = dist::localRanks(torch::kCPU);
        const PatchChoice choice = randomPatches(vit, images, 0.25, *alone);
        QCOMPARE(choice.kept.size(1), std::int64_t(2));
        std::set<std::int64_t> first;
        for (std::int64_t i = 0; i < 40; ++i) {
            const torch::Tensor both = torch::cat({choice.kept[i], choice.masked[i]});
            QVERIFY(torch::equal(std::get<0>(both.sort()), torch::arange(9, torch::kInt64)));
            QVERIFY((choice.kept[i].diff() > 0).all().item<bool>());
            first.insert(choice.kept[i][0].item<std::int64_t>());
        }
        QVERIFY(first.size() > 3); // not the same for every image
        QCOMPARE(randomPatches(vit, images, 0, *alone).kept.size(1), std::int64_t(1));
        QCOMPARE(randomPatches(vit, images, 1, *alone).masked.size(1), std::int64_t(0));
    }

    void maskingNeedsATransformer()
    {
        try {
            visionTransformer(smallmethod::makeBackbone("simclr"), "MAE");
            QFAIL("a convolution has no patches");
        } catch (const std::runtime_error &error) {
            QVERIFY2(std::string(error.what()).find("backbone.name") != std::string::npos, error.what());
        }
    }

private:
    static void onRanks(const char *body, int world)
    {
        const QByteArray fault = rankprocesses::run(body, world);
        QVERIFY2(fault.isEmpty(), fault);
    }
};

RANK_TEST_MAIN(Parts)
#include "tst_parts.moc"
