// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/eval/probe.h"
#include "core/engine/nn/batchnorm.h"
#include "core/engine/nn/weights.h"
#include "core/engine/optim/schedule.h"

#include <QTest>

#include <cmath>
#include <limits>
#include <map>

using namespace parallax;

namespace {

/// Small images of one colour a class, a little noise on it; perhaps one that cannot be read.
class Colours : public data::Dataset
{
public:
    Colours(std::int64_t count, int classes, std::uint64_t first = 0) : m_count(count), m_first(first)
    {
        for (int i = 0; i < classes; ++i) m_classes.push_back("class " + std::to_string(i));
        m_source = "colours";
    }
    std::int64_t size() const override { return m_count; }
    data::Item item(std::int64_t index) const override
    {
        return {m_first + std::uint64_t(index), "colour " + std::to_string(index),
                int(index % std::int64_t(m_classes.size()))};
    }
    Result<data::DecodedImage> inspect(std::int64_t index) const override
    {
        auto rgb = image(index);
        if (!rgb) return rgb.error();
        return data::DecodedImage{*rgb, {}};
    }
    Result<cv::Mat> image(std::int64_t index) const override
    {
        if (index == broken) return Error{"not an image", item(index).name, {}};
        const int label = wrongFrom >= 0 && index >= wrongFrom ? 0 : item(index).label;
        const int noise = int((m_first + std::uint64_t(index)) * 7 % 20);
        return cv::Mat(8, 8, CV_8UC3,
                       cv::Scalar(label % 2 * 200 + noise, label / 2 % 2 * 200 + noise, label / 4 % 2 * 200 + noise));
    }
    std::int64_t broken = -1;    ///< this image cannot be read
    std::int64_t wrongFrom = -1; ///< from here on every image has the colour of class 0

private:
    std::int64_t m_count;
    std::uint64_t m_first;
};

/// A convolution, batch norm and ReLU, averaged over the image.
class Network final : public nn::BackboneImpl
{
public:
    Network()
    {
        features = 16;
        m_conv = register_module(
            "conv", torch::nn::Conv2d(torch::nn::Conv2dOptions(3, features, 3).stride(2).padding(1).bias(false)));
        m_norm = register_module("norm", nn::BatchNorm(features));
    }
    torch::Tensor compute(const torch::Tensor &images) override
    {
        sawTraining |= is_training();
        return torch::relu(m_norm->forward(m_conv->forward(images))).mean({2, 3});
    }
    bool sawTraining = false;

private:
    torch::nn::Conv2d m_conv = nullptr;
    nn::BatchNorm m_norm = nullptr;
};

class Small final : public methods::Method
{
public:
    Small()
    {
        torch::manual_seed(5);
        network = register_module("backbone", std::make_shared<Network>());
        m_head = register_module("projection_head", torch::nn::Linear(16, 4)); // has no part in any of this
    }
    std::vector<data::ViewSpec> views(const data::AugmentConfig &) const override { return {}; }
    methods::StepResult step(const std::vector<torch::Tensor> &, const methods::Context &) override { return {}; }
    torch::Tensor features(const torch::Tensor &images) override { return network->forward(images); }
    double chanceLoss(std::int64_t) const override { return 0; }
    std::shared_ptr<torch::nn::Module> backbone() const override { return network; }
    std::map<std::string, torch::Tensor> state() const
    {
        std::map<std::string, torch::Tensor> copies;
        for (const auto &[name, tensor] : nn::stateDict(*this)) copies[name] = tensor.detach().clone();
        return copies;
    }
    std::shared_ptr<Network> network;

private:
    torch::nn::Linear m_head = nullptr;
};

eval::LabelledData colours(std::int64_t train = 48, std::int64_t val = 20, int classes = 4)
{
    eval::LabelledData data{std::make_shared<Colours>(train, classes), std::make_shared<Colours>(val, classes, 1000), {}};
    data.augment.size = 8;
    data.threads = 2;
    return data;
}

eval::ProbeConfig quick(const std::string &mode, std::vector<double> lr, std::int64_t epochs = 8)
{
    eval::ProbeConfig config;
    config.mode = mode;
    config.batchSize = 16;
    config.epochs = epochs;
    config.lr = std::move(lr);
    return config;
}

eval::ProbeResult probed(methods::Method &method, const eval::LabelledData &data, const eval::ProbeConfig &config,
                         const eval::ProbeProgress &progress = {})
{
    const auto result = eval::probe(method, data, config, *dist::Ranks::connect({}), progress);
    if (!result) qFatal("%s", result.error().message().c_str());
    return *result;
}

bool same(const std::vector<eval::EpochScore> &a, const std::vector<eval::EpochScore> &b)
{
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i)
        if (a[i].epoch != b[i].epoch || a[i].loss != b[i].loss || a[i].top1 != b[i].top1 || a[i].top5 != b[i].top5)
            return false;
    return true;
}

} // namespace

class TestProbe : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase() { torch::set_num_threads(1); }

    void theSchemaHasItsDefaultsByMode()
    {
        const auto schema = eval::probeSchema();
        for (const auto &field : schema.fields()) {
            QVERIFY2(!field.label.empty() && !field.help.empty(), field.key.c_str());
            QVERIFY2(!schema.checkValue(field, field.defaultValue), field.key.c_str());
        }
        const auto read = [&](const std::vector<std::string> &assignments) {
            const auto settings = config::resolve(schema, {}, assignments);
            if (!settings) qFatal("%s", settings.error().message().c_str());
            return eval::readProbe(*settings);
        };
        const auto linear = read({});
        QCOMPARE(linear.mode, std::string("linear"));
        QCOMPARE(linear.epochs, std::int64_t(90));
        QCOMPARE(linear.lr, std::vector<double>{0.1});
        QCOMPARE(linear.weightDecay, 0.0);
        const auto finetune = read({"probe.mode=finetune"});
        QCOMPARE(finetune.epochs, std::int64_t(30));
        QCOMPARE(finetune.lr, std::vector<double>{0.05});
        QCOMPARE(read({"probe.lr=0.1,1"}).lr, (std::vector<double>{0.1, 1}));
        QVERIFY(!config::resolve(schema, {}, {"probe.mode=finetune", "probe.lr=0.1,1"}).ok()); // one network, one rate
        QVERIFY(!config::resolve(schema, {}, {"probe.lr=0"}).ok());
    }

    void aProbeOnSeparableFeaturesIsAlwaysRight()
    {
        Small method;
        int told = 0;
        const auto result = probed(method, colours(), quick("linear", {30}, 30),
                                   [&](const auto &curves) { QCOMPARE(curves.front().epochs.size(), std::size_t(++told)); });
        QCOMPARE(told, 30);
        QCOMPARE(result.curve().last().epoch, std::int64_t(30));
        QCOMPARE(result.curve().last().top1, 1.0);
        QVERIFY(result.curve().last().loss < result.curve().epochs.front().loss);
        QCOMPARE(result.batch, std::int64_t(16));
        QCOMPARE(result.stepsPerEpoch, std::int64_t(3));
        QCOMPARE(result.curve().scaled, 30.0 * 16 / 256);
        QVERIFY(torch::equal(result.labels, result.guesses));
        QCOMPARE(result.weight.sizes(), (torch::IntArrayRef{4, 16}));
        QCOMPARE(result.bias.sizes(), torch::IntArrayRef{4});
    }

    /// Weights and batch norm's statistics, bit for bit; nobody ever saw the network in training mode.
    void aProbeLeavesTheNetworkAsItIs()
    {
        Small method;
        method.train();
        const auto before = method.state();
        probed(method, colours(), quick("linear", {1, 10}, 3));
        const auto after = method.state();
        QCOMPARE(after.size(), before.size());
        for (const auto &[name, tensor] : before) QVERIFY2(torch::equal(tensor, after.at(name)), name.c_str());
        QVERIFY(!method.network->sawTraining);
        QVERIFY(method.network->is_training()); // as it was
        for (const auto &parameter : method.parameters()) QVERIFY(!parameter.grad().defined());
    }

    void fineTuningMovesAllOfTheNetwork()
    {
        Small method;
        const auto before = method.state();
        const auto result = probed(method, colours(), quick("finetune", {1}, 10));
        for (const auto &[name, tensor] : method.state()) {
            const bool moves = name.starts_with("backbone.");
            QVERIFY2(torch::equal(tensor, before.at(name)) != moves, name.c_str());
        }
        QVERIFY(method.network->sawTraining);
        QCOMPARE(result.curve().last().top1, 1.0);
        QVERIFY(result.curve().last().loss < 0.9 * result.curve().epochs.front().loss);
    }

    void anyRateGoesAsIfItWereAlone()
    {
        Small method;
        const auto together = probed(method, colours(), quick("linear", {0.3, 3, 30}));
        for (std::size_t i = 0; i < 3; ++i) {
            const auto alone = probed(method, colours(), quick("linear", {together.curves[i].lr}));
            QVERIFY(same(alone.curve().epochs, together.curves[i].epochs));
            if (i == together.chosen) QVERIFY(torch::equal(alone.weight, together.weight));
        }
        for (const auto &curve : together.curves) {
            QVERIFY(curve.best().top1 >= curve.last().top1);
            QVERIFY(curve.last().top1 <= together.curve().last().top1);
        }
    }

    void theSameSeedGivesTheSameNumbers()
    {
        for (const char *mode : {"linear", "finetune"}) {
            std::vector<eval::ProbeResult> results;
            for (const std::int64_t seed : {3, 3, 4}) {
                Small method;
                auto config = quick(mode, {1}, 3);
                config.seed = seed;
                results.push_back(probed(method, colours(), config));
            }
            QVERIFY(same(results[0].curve().epochs, results[1].curve().epochs));
            QVERIFY(torch::equal(results[0].weight, results[1].weight));
            QVERIFY(results[0].curve().last().loss != results[2].curve().last().loss);
        }
    }

    /// By hand, with torch's own pieces: the first epoch of a probe without augmentation.
    void theStepsAreThoseOfTorch()
    {
        Small method;
        auto data = colours(40);
        auto config = quick("linear", {5}, 2);
        config.cropMin = 1;
        config.flipP = 0;
        config.weightDecay = 0.01;
        const auto result = probed(method, data, config);
        QCOMPARE(result.stepsPerEpoch, std::int64_t(2)); // 8 images are left over

        method.eval();
        torch::manual_seed(0);
        torch::nn::Linear head(16, 4);
        torch::optim::SGD sgd(head->parameters(), torch::optim::SGDOptions(1).momentum(0.9).weight_decay(0.01));
        std::vector<double> losses(2);
        for (std::int64_t step = 0; step < 4; ++step) {
            const auto order = data::permutation(40, 0, step / 2);
            torch::Tensor images = torch::empty({16, 3, 8, 8});
            std::vector<std::int64_t> labels;
            for (std::int64_t i = 0; i < 16; ++i) {
                const std::int64_t index = order[std::size_t(step % 2 * 16 + i)];
                data::Loader loader(data.train, {{data.augment, false}}, {{index}}, {});
                auto batch = loader.next();
                images[i] = torch::from_blob((*batch)->views[0].data(), {3, 8, 8});
                labels.push_back((*batch)->label[0]);
            }
            const auto loss =
                torch::cross_entropy_loss(head->forward(method.features(images).detach()), torch::tensor(labels));
            sgd.zero_grad();
            loss.backward();
            static_cast<torch::optim::SGDOptions &>(sgd.param_groups()[0].options())
                .lr(optim::cosineSchedule(step, 4, 5.0 * 16 / 256, 0));
            sgd.step();
            losses[std::size_t(step / 2)] += loss.item<double>() / 2;
        }
        for (std::size_t epoch = 0; epoch < 2; ++epoch)
            QVERIFY(std::abs(result.curve().epochs[epoch].loss - losses[epoch]) < 1e-5);
        QVERIFY(torch::allclose(result.weight, head->weight, 1e-4, 1e-6));
    }

    /// 10 images in batches of 4: each counts once, also those of the batch of two, and one that cannot be read not at all.
    void everyValidationImageCountsOnce()
    {
        Small method;
        auto data = colours(48, 10, 4);
        auto val = std::make_shared<Colours>(10, 4, 1000);
        val->wrongFrom = 8; // labels 0 and 1, both with the colour of class 0
        data.val = val;
        auto config = quick("linear", {30}, 30);
        config.batchSize = 4;
        QCOMPARE(probed(method, data, config).curve().last().top1, 0.9);
        val->broken = 9;
        const auto result = probed(method, data, config);
        QCOMPARE(result.curve().last().top1, 1.0);
        QCOMPARE(result.labels.size(0), std::int64_t(9));
        QCOMPARE(result.unreadable.size(), std::size_t(1));
        val->broken = 0;
        QCOMPARE(probed(method, data, config).curve().last().top1, 8.0 / 9);
    }

    void topFiveCountsToo()
    {
        Small method;
        QCOMPARE(probed(method, colours(48, 20, 3), quick("linear", {0.001}, 1)).curve().last().top5, 1.0);
        QCOMPARE(probed(method, colours(48, 20, 5), quick("linear", {0.001}, 1)).curve().last().top5, 1.0);
        const auto result = probed(method, colours(64, 64, 8), quick("linear", {1e-6}, 1));
        const auto &score = result.curve().last();
        QVERIFY(score.top5 < 1 && score.top1 <= score.top5);
    }

    void fewerImagesThanABatchAreOneBatch()
    {
        Small method;
        auto config = quick("linear", {1}, 1);
        config.batchSize = 256;
        const auto result = probed(method, colours(10), config);
        QCOMPARE(result.batch, std::int64_t(10));
        QCOMPARE(result.stepsPerEpoch, std::int64_t(1));
        QVERIFY(result.bias.abs().sum().item<double>() > 0);
        torch::manual_seed(0);
        QVERIFY(!torch::equal(torch::nn::Linear(16, 4)->weight, result.weight)); // a single step is a step
    }

    void aRateThatDivergesEndsAlone()
    {
        Small method;
        const auto result = probed(method, colours(), quick("linear", {4e39, 3}));
        QVERIFY(result.curves[0].diverged);
        QVERIFY(result.curves[0].epochs.size() < result.curves[1].epochs.size());
        QCOMPARE(result.chosen, std::size_t(1));
        for (const char *mode : {"linear", "finetune"}) {
            const auto error = eval::probe(method, colours(), quick(mode, {4e39}), *dist::Ranks::connect({}));
            QVERIFY(!error.ok());
            QVERIFY2(error.error().message().find("--lr") != std::string::npos, error.error().message().c_str());
        }
    }

    void brokenWeightsAreNamed()
    {
        Small method;
        {
            torch::NoGradGuard noGrad;
            method.network->parameters()[0].fill_(std::numeric_limits<float>::quiet_NaN());
        }
        for (const char *mode : {"linear", "finetune"}) {
            const auto error = eval::probe(method, colours(), quick(mode, {1}), *dist::Ranks::connect({}));
            QVERIFY(!error.ok());
            QVERIFY2(error.error().message().find("features are NaN") != std::string::npos, error.error().message().c_str());
        }
    }
};

QTEST_GUILESS_MAIN(TestProbe)
#include "tst_probe.moc"
