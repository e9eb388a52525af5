// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/nn/droppath.h"
#include "core/engine/nn/vit.h"

#include <QTest>

using namespace parallax;

namespace {

constexpr nn::VitOptions tiny{.imageSize = 16, .patchSize = 4, .layers = 2, .heads = 2, .dim = 8, .mlpDim = 16};

/// In float64, with every weight away from zero.
std::shared_ptr<nn::VitImpl> makeVit(const nn::VitOptions &options = tiny)
{
    torch::manual_seed(3);
    const auto net = std::make_shared<nn::VitImpl>(options);
    nn::convertFloats(*net, torch::kFloat64);
    torch::NoGradGuard noGrad;
    for (auto &parameter : net->parameters()) parameter.add_(torch::randn_like(parameter) * 0.1);
    return net;
}

torch::Tensor images(std::int64_t n, std::int64_t height, std::int64_t width)
{
    torch::manual_seed(4);
    return torch::randn({n, 3, height, width}, torch::kFloat64);
}

bool close(const torch::Tensor &a, const torch::Tensor &b) { return torch::allclose(a, b, 1e-9, 1e-10); }

} // namespace

class Vit : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void featuresAreTheClassToken()
    {
        const auto net = makeVit();
        const torch::Tensor x = images(2, 16, 16), tokens = net->tokens(x);
        QCOMPARE(tokens.sizes().vec(), (std::vector<std::int64_t>{2, 17, 8}));
        QVERIFY(net->forward(x).equal(tokens.select(1, 0)));
        QCOMPARE(net->features, std::int64_t(8));
    }

    /// Keeping every patch changes nothing; their order is that of the outputs alone.
    void keptTokensOfAllPatches()
    {
        const auto net = makeVit();
        const torch::Tensor x = images(2, 16, 16), all = net->tokens(x);
        const torch::Tensor order = torch::stack({torch::randperm(16, torch::kInt64), torch::arange(16)});
        const torch::Tensor kept = net->tokens(x, order);
        QVERIFY(close(kept.select(1, 0), all.select(1, 0)));
        for (std::int64_t image = 0; image < 2; ++image)
            for (std::int64_t i = 0; i < 16; ++i)
                QVERIFY(close(kept[image][1 + i], all[image][1 + order[image][i].item<std::int64_t>()]));
    }

    /// What an image does not keep has no influence, and no gradient.
    void droppedTokensDoNotCount()
    {
        const auto net = makeVit();
        torch::Tensor x = images(2, 16, 16).requires_grad_();
        const torch::Tensor kept = torch::tensor({{0, 5, 6}, {15, 2, 9}}, torch::kInt64);
        const torch::Tensor tokens = net->tokens(x, kept);
        QCOMPARE(tokens.sizes().vec(), (std::vector<std::int64_t>{2, 4, 8}));
        tokens.square().sum().backward();
        const torch::Tensor perPatch = torch::max_pool2d(x.grad().abs().sum(1, true), 4).flatten(1) > 0;
        torch::Tensor wanted = torch::zeros({2, 16}, torch::kBool);
        wanted.scatter_(1, kept, true);
        QVERIFY(perPatch.equal(wanted));
        QVERIFY_EXCEPTION_THROWN(net->tokens(x, kept.narrow(0, 0, 1)), c10::Error);
    }

    void maskedPatchesBecomeTheToken()
    {
        const auto net = makeVit();
        const torch::Tensor token = torch::randn({8}, torch::kFloat64);
        torch::Tensor mask = torch::zeros({2, 16}, torch::kBool);
        mask[0][3] = true;
        mask[1][8] = true;
        const torch::Tensor x = images(2, 16, 16), plain = net->embedPatches(x), masked = net->embedPatches(x, mask, token);
        QVERIFY((masked != plain).any(2).equal(mask));
        const torch::Tensor positions = net->named_parameters()["encoder.pos_embedding"][0];
        QVERIFY(close(masked[0][3], token + positions[1 + 3]));
        QVERIFY_EXCEPTION_THROWN(net->embedPatches(x, mask.narrow(1, 0, 4), token), c10::Error);
    }

    void otherImageSizes()
    {
        const auto net = makeVit();
        QCOMPARE(net->tokens(images(2, 24, 24)).size(1), std::int64_t(1 + 36));
        QCOMPARE(net->tokens(images(2, 8, 20)).size(1), std::int64_t(1 + 10));
        QVERIFY_EXCEPTION_THROWN(net->forward(images(2, 18, 18)), c10::Error);
        QVERIFY_EXCEPTION_THROWN(net->forward(images(2, 3, 16)), c10::Error);
        QVERIFY_EXCEPTION_THROWN(makeVit({.imageSize = 30, .patchSize = 4}), c10::Error);
        QVERIFY_EXCEPTION_THROWN(makeVit({.heads = 5, .dim = 8}), c10::Error);
    }

    /// Bicubic interpolation keeps what is constant and, nearly, what is linear; the grid is read row by row.
    void positionsAreInterpolated()
    {
        const torch::Tensor constant = torch::full({1, 49, 3}, 0.7, torch::kFloat64);
        QVERIFY(close(nn::interpolatePositions(constant, 5, 9), torch::full({1, 45, 3}, 0.7, torch::kFloat64)));
        QVERIFY(nn::interpolatePositions(constant, 7, 7).equal(constant));
        const torch::Tensor row = torch::arange(8, torch::kFloat64).view({8, 1}).expand({8, 8});
        const torch::Tensor grid = torch::stack({row, row.t()}, 2).reshape({1, 64, 2});
        const torch::Tensor larger = nn::interpolatePositions(grid, 16, 16).view({16, 16, 2});
        for (std::int64_t y = 4; y < 12; ++y)
            for (std::int64_t x = 4; x < 12; ++x) {
                QVERIFY(std::abs(larger[y][x][0].item<double>() - ((double(y) + 0.5) / 2 - 0.5)) < 0.05);
                QVERIFY(std::abs(larger[y][x][1].item<double>() - ((double(x) + 0.5) / 2 - 0.5)) < 0.05);
            }
        QVERIFY_EXCEPTION_THROWN(nn::interpolatePositions(torch::zeros({1, 48, 3}), 7, 7), c10::Error);
    }

    void startsAsTorchvisionDoes()
    {
        torch::manual_seed(1);
        const auto weights = std::make_shared<nn::VitImpl>(nn::VitOptions{.layers = 1})->named_parameters();
        const auto deviation = [&](const char *name) { return weights[name].std().item<double>(); };
        QVERIFY(std::abs(deviation("conv_proj.weight") * std::sqrt(768.0) - 1) < 0.01);
        QVERIFY(std::abs(deviation("encoder.pos_embedding") / 0.02 - 1) < 0.02);
        const std::string layer = "encoder.layers.encoder_layer_0.";
        QVERIFY(std::abs(weights[layer + "self_attention.in_proj_weight"].abs().max().item<double>() /
                             std::sqrt(6.0 / (768 + 3 * 768)) -
                         1) < 0.01);
        QVERIFY(weights[layer + "self_attention.out_proj.bias"].eq(0).all().item<bool>());
        QVERIFY(deviation((layer + "mlp.3.bias").c_str()) < 2e-6);
        QVERIFY(weights["class_token"].eq(0).all().item<bool>());
    }

    void dropPathKeepsTheExpectation()
    {
        torch::manual_seed(5);
        const torch::Tensor x = torch::full({20000, 2, 1}, 3.0, torch::kFloat64);
        nn::DropPath depth(std::vector<double>{0, 0.3});
        depth->draw(x);
        QVERIFY(depth->forward(x, 0).equal(x));
        const torch::Tensor dropped = depth->forward(x, 1);
        // An image is dropped as a whole.
        QVERIFY(dropped.select(1, 0).equal(dropped.select(1, 1)));
        QVERIFY((dropped.eq(0) | dropped.eq(3 / 0.7)).all().item<bool>());
        // Four standard errors: 3 · √(0.3 / 0.7 / 20000).
        QVERIFY(std::abs(dropped.mean().item<double>() - 3) < 4 * 3 * std::sqrt(0.3 / 0.7 / 20000));
        QVERIFY_EXCEPTION_THROWN(nn::DropPath(std::vector<double>{1}), c10::Error);
    }

    void dropPathIsOffInEvaluation()
    {
        nn::VitOptions options = tiny;
        const auto plain = makeVit(options);
        options.dropPath = 0.9;
        const auto net = makeVit(options);
        const torch::Tensor x = images(8, 16, 16);
        net->eval();
        QVERIFY(net->forward(x).equal(plain->forward(x)));
        net->train();
        QVERIFY(!net->forward(x).equal(plain->forward(x)));
        // With rate 0 nothing is drawn.
        torch::manual_seed(9);
        const torch::Tensor next = torch::rand({1});
        torch::manual_seed(9);
        plain->train();
        plain->forward(x);
        QVERIFY(torch::rand({1}).equal(next));
    }

    void dropPathRatesRiseEvenly()
    {
        QCOMPARE(nn::dropPathRates(0.2, 5), (std::vector<double>{0, 0.05, 0.1, 0.2 * 3 / 4, 0.2}));
        QCOMPARE(nn::dropPathRates(0.2, 2, 2), (std::vector<double>{0, 0, 0.2, 0.2}));
        QCOMPARE(nn::dropPathRates(0.2, 1), std::vector<double>{0});
    }
};

QTEST_GUILESS_MAIN(Vit)
#include "tst_vit.moc"
