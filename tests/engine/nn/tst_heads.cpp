// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/nn/dinohead.h"
#include "core/engine/nn/prototypes.h"

#include <QTest>

using namespace parallax;

class Heads : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void aHeadNeedsTwoLayers()
    {
        QVERIFY_EXCEPTION_THROWN(nn::simclrProjectionHead(4, 4, 4, 1), c10::Error);
        QVERIFY_EXCEPTION_THROWN(nn::vicregProjectionHead(4, 4, 4, 1), c10::Error);
        QVERIFY_EXCEPTION_THROWN(nn::mmcrProjectionHead(4, 4, 4, 0), c10::Error);
    }

    void everyBatchNormCanBeSynchronised()
    {
        int norms = 0;
        nn::simsiamProjectionHead(4, 6, 8)->apply([&](const torch::nn::Module &part) {
            norms += dynamic_cast<const nn::BatchNormImpl *>(&part) != nullptr;
            QVERIFY(dynamic_cast<const torch::nn::BatchNorm1dImpl *>(&part) == nullptr);
        });
        QCOMPARE(norms, 3);
    }

    /// The rows of the last layer have length weight_g whatever weight_v is.
    void weightNorm()
    {
        nn::WeightNormLinear layer(5, 3);
        torch::NoGradGuard noGrad;
        layer->weight_g.copy_(torch::tensor({1.0, 2.0, 0.5}).view({3, 1}));
        const torch::Tensor rows = layer->forward(torch::eye(5)).t();
        QVERIFY(torch::allclose(rows.norm(2, 1), torch::tensor({1.0, 2.0, 0.5}).to(torch::kFloat32)));
        const torch::Tensor before = rows.clone();
        layer->weight_v.mul_(7);
        QVERIFY(torch::allclose(layer->forward(torch::eye(5)).t(), before));
    }

    void dinoSeesDirectionsOnly()
    {
        torch::manual_seed(2);
        nn::DinoHead head(nn::DinoHeadOptions{.in = 6, .hidden = 8, .bottleneck = 4, .out = 10});
        const torch::Tensor out = head->forward(torch::randn({7, 6}));
        QVERIFY(out.abs().le(1 + 1e-6).all().item<bool>()); // cosines
        out.sum().backward();
        for (const auto &item : head->named_parameters())
            QCOMPARE(item.value().grad().defined(), item.key() != "last_layer.weight_g");
        head->dropLastLayerGradient();
        for (const auto &item : head->named_parameters())
            QCOMPARE(item.value().grad().defined(), !QString::fromStdString(item.key()).startsWith("last_layer"));
        QVERIFY(head->named_parameters()["last_layer.weight_v"].requires_grad()); // frozen by its gradient alone
    }

    void aDinoHeadTrainsAndEvaluates()
    {
        nn::DinoHead head(nn::DinoHeadOptions{.in = 6, .hidden = 8, .bottleneck = 4, .out = 10, .batchNorm = true});
        const torch::Tensor x = torch::randn({7, 6});
        head->eval();
        QVERIFY(head->forward(x).narrow(0, 0, 3).allclose(head->forward(x.narrow(0, 0, 3)), 1e-4, 1e-6));
        head->train();
        head->forward(x);
        QCOMPARE(head->named_buffers()["layers.1.num_batches_tracked"].item<int>(), 1);
    }

    void prototypes()
    {
        torch::manual_seed(3);
        nn::Prototypes prototypes(4, std::vector<std::int64_t>{5, 7});
        prototypes->normalise();
        const auto weights = prototypes->named_parameters();
        for (const char *name : {"heads.0.weight", "heads.1.weight"})
            QVERIFY(torch::allclose(weights[name].norm(2, 1), torch::ones({weights[name].size(0)})));
        const torch::Tensor x = torch::randn({3, 4});
        const auto scores = prototypes->scores(x);
        QCOMPARE(scores.size(), std::size_t(2));
        QCOMPARE(scores[1].sizes().vec(), (std::vector<std::int64_t>{3, 7}));
        QVERIFY_EXCEPTION_THROWN(prototypes->forward(x), c10::Error);
        QVERIFY_EXCEPTION_THROWN(nn::Prototypes(4, std::vector<std::int64_t>{}), c10::Error);
        (scores[0].sum() + scores[1].sum()).backward();
        prototypes->dropGradient();
        for (const auto &parameter : prototypes->parameters()) QVERIFY(!parameter.grad().defined());
        QVERIFY(nn::Prototypes(4, 5)->forward(x).size(1) == 5);
    }
};

QTEST_GUILESS_MAIN(Heads)
#include "tst_heads.moc"
