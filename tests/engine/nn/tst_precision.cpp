// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/nn/backbone.h"
#include "core/engine/nn/head.h"
#include "core/engine/nn/precision.h"

#include <ATen/autocast_mode.h>

#include <QTest>

using namespace parallax;

namespace {

double relative(const torch::Tensor &a, const torch::Tensor &b) { return ((a - b).norm() / b.norm()).item<double>(); }

} // namespace

class TestPrecision : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void networksComputeInHalfAndHandOnFloats_data()
    {
        QTest::addColumn<QString>("name");
        QTest::addColumn<int>("type");
        for (const char *name : {"resnet18", "vit_tiny", "convnext_tiny"}) {
            QTest::addRow("%s, bfloat16", name) << name << int(torch::kBFloat16);
            QTest::addRow("%s, float16", name) << name << int(torch::kFloat16);
        }
    }
    void networksComputeInHalfAndHandOnFloats()
    {
        QFETCH(QString, name);
        QFETCH(int, type);
        nn::BackboneConfig config;
        config.name = name.toStdString();
        config.stem = "cifar"; // batch norm over a few values would magnify the rounding
        config.width = 0.25;
        config.imageSize = 32;
        config.patchSize = 8;
        torch::manual_seed(3);
        const nn::Backbone network = nn::makeBackbone(config);
        const torch::Tensor images = torch::randn({4, 3, 32, 32});
        const torch::Tensor direction = torch::randn({4, network->features});
        const auto gradients = [&](const torch::Tensor &features) {
            network->zero_grad();
            (features * direction).sum().backward();
            std::vector<torch::Tensor> all;
            for (const auto &parameter : network->parameters()) all.push_back(parameter.grad().detach().flatten().clone());
            return torch::cat(all);
        };
        const torch::Tensor exact = network->forward(images), exactGradient = gradients(exact);
        // How ill-conditioned the gradient is: what rounding weights and images alone does to it.
        std::vector<torch::Tensor> weights;
        for (auto &parameter : network->parameters()) {
            weights.push_back(parameter.detach().clone());
            parameter.set_data(parameter.detach().to(torch::Dtype(type)).to(torch::kFloat32));
        }
        const torch::Tensor rounded = gradients(network->forward(images.to(torch::Dtype(type)).to(torch::kFloat32)));
        for (std::size_t i = 0; i < weights.size(); ++i) network->parameters()[i].set_data(weights[i]);
        const nn::MixedPrecision mixed{torch::Dtype(type)};
        const torch::Tensor half = network->forward(images), halfGradient = gradients(half);
        QCOMPARE(half.scalar_type(), torch::kFloat32);
        QCOMPARE(halfGradient.scalar_type(), torch::kFloat32);
        QVERIFY(!torch::equal(half, exact)); // it was computed with fewer digits
        QVERIFY2(relative(half, exact) < 0.03, qPrintable(QString::number(relative(half, exact))));
        const double error = relative(halfGradient, exactGradient), unavoidable = relative(rounded, exactGradient);
        QVERIFY2(error < 3 * unavoidable, qPrintable(QStringLiteral("%1, rounding alone %2").arg(error).arg(unavoidable)));
        QVERIFY(!at::autocast::is_autocast_enabled(torch::kCPU));
    }

    void theGradientSurvivesAnEarlierForwardWithoutOne()
    {
        nn::Head head = nn::twoLayerHead(8, 8, 4);
        const nn::MixedPrecision mixed{torch::kBFloat16};
        const torch::Tensor x = torch::randn({6, 8});
        {
            const torch::NoGradGuard noGrad;
            head->forward(x); // a cache of the cast weights would serve the next call, without a way back to them
        }
        head->forward(x).square().sum().backward();
        for (const auto &parameter : head->parameters()) QVERIFY(parameter.grad().defined());
    }

    void nothingChangesWithoutIt()
    {
        nn::Head head = nn::twoLayerHead(8, 8, 4);
        const torch::Tensor x = torch::randn({6, 8});
        const torch::Tensor before = head->forward(x);
        {
            const nn::MixedPrecision none{std::nullopt};
            QVERIFY(torch::equal(head->forward(x), before));
            {
                const nn::MixedPrecision mixed{torch::kBFloat16};
                QVERIFY(!torch::equal(head->forward(x), before));
            }
            QVERIFY(torch::equal(head->forward(x), before));
        }
        head->to(torch::kFloat64);
        QCOMPARE(head->forward(x.to(torch::kFloat64)).scalar_type(), torch::kFloat64);
    }
};

QTEST_APPLESS_MAIN(TestPrecision)
#include "tst_precision.moc"
