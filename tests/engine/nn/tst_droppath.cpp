// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/nn/batchnorm.h"
#include "core/engine/nn/convnext.h"
#include "core/engine/nn/droppath.h"
#include "core/engine/nn/resnet.h"
#include "core/engine/nn/vit.h"
#include "core/engine/nn/weights.h"
#include "tests/support/rankprocesses.h"

#include <QTest>

#include <cmath>

using namespace parallax;
using rankprocesses::check;

namespace {

constexpr std::int64_t kBatch = 7; // no multiple of the ranks
constexpr double kRate = 0.5;

nn::Backbone make(const std::string &name)
{
    torch::manual_seed(4);
    nn::Backbone net;
    if (name == "vit")
        net = std::make_shared<nn::VitImpl>(nn::VitOptions{
            .imageSize = 16, .patchSize = 8, .layers = 4, .heads = 2, .dim = 8, .mlpDim = 16, .dropPath = kRate});
    else if (name == "convnext")
        net = nn::makeConvNext({{1, 1, 2, 1}, {4, 8, 8, 8}, kRate});
    else
        net = nn::makeResNet({.blocks = {1, 1, 1, 2}, .base = 2, .imagenetStem = false, .dropPath = kRate});
    nn::convertFloats(*net, torch::kFloat64);
    net->train();
    // ConvNeXt's branches start a millionth as large as its trunk: whether they are dropped must show.
    torch::NoGradGuard noGrad;
    for (auto &item : net->named_parameters())
        if (item.key().ends_with("layer_scale")) item.value().fill_(1);
    return net;
}

/// A network that is trained by plain gradient descent on a rank's share of the batch.
class Training
{
public:
    Training(const std::string &name, std::shared_ptr<dist::Ranks> ranks) : net(make(name)), m_ranks(std::move(ranks))
    {
        nn::enableSyncBatchNorm(*net, m_ranks);
        nn::drawForAllRanks(*net, m_ranks);
    }

    /// The features of the own rows.
    torch::Tensor step(int step)
    {
        torch::manual_seed(std::uint64_t(100 + step)); // images
        const torch::Tensor batch = torch::randn({kBatch, 3, 32, 32}, torch::kFloat64);
        const std::int64_t begin = kBatch * m_ranks->rank() / m_ranks->world(),
                           end = kBatch * (m_ranks->rank() + 1) / m_ranks->world();
        torch::manual_seed(std::uint64_t(200 + step)); // what is dropped
        const torch::Tensor features = net->forward(batch.narrow(0, begin, end - begin));
        net->zero_grad();
        (features.sin().sum() / kBatch).backward();
        torch::NoGradGuard noGrad;
        for (auto &parameter : net->parameters()) {
            if (!parameter.grad().defined()) continue;
            torch::Tensor gradient = parameter.grad().contiguous();
            m_ranks->allReduceSum(gradient);
            parameter.sub_(gradient, 0.05);
        }
        return features.detach();
    }

    nn::Backbone net;

private:
    std::shared_ptr<dist::Ranks> m_ranks;
};

const rankprocesses::Body asOneRank("asOneRank", [](const rankprocesses::Ranks &ranks, const std::string &name) {
    Training one(name, dist::localRanks(torch::kCPU)), many(name, ranks);
    for (int step = 0; step < 10; ++step) {
        const torch::Tensor want = one.step(step), got = ranks->allGatherRows(many.step(step));
        const double difference = (got - want).abs().max().item<double>();
        check(difference < 1e-9, "step " + std::to_string(step) + " differs by " + std::to_string(difference));
    }
    const auto want = nn::stateDict(*one.net), got = nn::stateDict(*many.net);
    for (std::size_t i = 0; i < want.size(); ++i)
        check((got[i].second - want[i].second).to(torch::kFloat64).abs().max().item<double>() < 1e-9, want[i].first);
});

} // namespace

class DropPathTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void manyRanksDropWhatOneDrops_data() { everyNetwork(); }
    void manyRanksDropWhatOneDrops()
    {
        QFETCH(QString, name);
        for (const int world : {2, 4}) {
            const QByteArray fault = rankprocesses::run("asOneRank", world, name.toStdString());
            QVERIFY2(fault.isEmpty(), fault);
        }
    }

    void imagesTakeDifferentPathsAndTheStateDictStays_data() { everyNetwork(); }
    void imagesTakeDifferentPathsAndTheStateDictStays()
    {
        QFETCH(QString, name);
        const auto net = make(name.toStdString());
        const torch::Tensor image = torch::randn({1, 3, 32, 32}, torch::kFloat64).expand({16, -1, -1, -1});
        const torch::Tensor features = net->forward(image);
        int others = 0;
        for (std::int64_t i = 1; i < 16; ++i) others += !torch::allclose(features[i], features[0]);
        QVERIFY(others > 3);
        net->eval(); // what was drawn for training is forgotten
        const torch::Tensor same = net->forward(image);
        QVERIFY(torch::allclose(same, same.narrow(0, 0, 1).expand_as(same)));
        for (const auto &entry : nn::stateDict(*net))
            QVERIFY2(entry.first.find("drop_path") == std::string::npos, entry.first.c_str());
    }

private:
    static void everyNetwork()
    {
        QTest::addColumn<QString>("name");
        for (const char *name : {"vit", "convnext", "resnet"}) QTest::newRow(name) << QString::fromLatin1(name);
    }
};

RANK_TEST_MAIN(DropPathTest)
#include "tst_droppath.moc"
