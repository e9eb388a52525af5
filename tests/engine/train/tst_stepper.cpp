// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/losses/tensors.h"
#include "core/engine/train/failure.h"
#include "core/engine/train/lossscaler.h"
#include "core/engine/train/stepper.h"
#include "tests/support/rankprocesses.h"

#include <QTest>

#include <cmath>

using namespace parallax;
using namespace parallax::train;
using rankprocesses::check;

namespace {

constexpr std::int64_t kSize = 4, kValues = 3 * kSize * kSize;

/// A linear map of the pixels whose loss is a plain mean over images: its gradient can be written down.
class Linear final : public methods::Method
{
public:
    Linear() { weight = register_parameter("weight", torch::linspace(-1, 1, kValues, torch::kFloat64)); }

    std::vector<data::ViewSpec> views(const data::AugmentConfig &augment) const override { return {{augment}}; }
    methods::StepResult step(const std::vector<torch::Tensor> &views, const methods::Context &context) override
    {
        ++forwards;
        const torch::Tensor answer = torch::mv(views.at(0).flatten(1), weight);
        return {losses::rankMean((answer - 1).square(), *context.ranks), {{"answer", answer.mean().item<double>()}}, 0};
    }
    void beforeStep(const methods::Context &) override { ++begun; }
    void afterBackward(const methods::Context &) override { gradient = weight.grad().clone(); }
    void afterStep(const methods::Context &) override { ++ended; }
    torch::Tensor features(const torch::Tensor &images) override { return images.flatten(1); }
    double chanceLoss(std::int64_t) const override { return 1; }
    std::shared_ptr<torch::nn::Module> backbone() const override { return nullptr; }

    torch::Tensor weight, gradient;
    int forwards = 0, begun = 0, ended = 0;
};

/// Its gradient, `slope` for every weight, passes through float16, where scaled it may overflow.
class Steep final : public methods::Method
{
public:
    explicit Steep(double slope) : m_slope(slope) { weight = register_parameter("weight", torch::zeros({3})); }

    std::vector<data::ViewSpec> views(const data::AugmentConfig &augment) const override { return {{augment}}; }
    methods::StepResult step(const std::vector<torch::Tensor> &, const methods::Context &) override
    {
        return {(weight * m_slope).to(torch::kFloat16).to(torch::kFloat32).sum() / m_slope * slopeOfLoss, {}, 0};
    }
    torch::Tensor features(const torch::Tensor &images) override { return images.flatten(1); }
    double chanceLoss(std::int64_t) const override { return 0; }
    std::shared_ptr<torch::nn::Module> backbone() const override { return nullptr; }

    torch::Tensor weight;
    double slopeOfLoss = 1;

private:
    double m_slope;
};

/// One view [n, 3, size, size] of the images `begin` … `end` - 1.
std::vector<torch::Tensor> imagesOf(std::int64_t begin, std::int64_t end, torch::Dtype dtype = torch::kFloat64)
{
    const torch::Tensor places = torch::arange(begin * kValues, end * kValues, torch::kFloat64);
    return {torch::sin(places).to(dtype).view({end - begin, 3, kSize, kSize})};
}

struct Setting {
    Experiment experiment;
    Plan plan;
};

Setting settingOf(std::int64_t batch, std::int64_t parts, const std::string &precision)
{
    Setting setting;
    setting.experiment.method = "simclr";
    setting.experiment.train.precision = precision;
    setting.experiment.train.accumulate = parts;
    setting.experiment.optim.baseLr = 0.1;
    setting.experiment.optim.lrReferenceBatch = 0;
    setting.experiment.optim.momentum = 0;
    setting.experiment.optim.weightDecay = 0;
    setting.experiment.optim.schedule = "constant";
    setting.plan.batch = batch;
    setting.plan.part = batch / parts;
    setting.plan.stepsPerEpoch = 100;
    setting.plan.steps = 100;
    setting.plan.epochs = 1;
    return setting;
}

double gap(const torch::Tensor &a, const torch::Tensor &b) { return (a - b).abs().max().item<double>(); }

/// A step on 12 images in `parts` parts, over all ranks, against the formula over all 12.
void compareWithFormula(const std::shared_ptr<dist::Ranks> &ranks, std::int64_t parts)
{
    const Setting setting = settingOf(12, parts, "fp64");
    const auto method = std::make_shared<Linear>();
    Stepper stepper(setting.experiment, setting.plan, method, ranks);
    const auto all = imagesOf(0, 12);
    const torch::Tensor x = all[0].view({12, kValues});
    const torch::Tensor start = method->weight.detach().clone();
    const torch::Tensor error = torch::mv(x, start) - 1;
    const torch::Tensor gradient = torch::mv(x.t(), error) * (2.0 / 12);

    stepper.begin({});
    const std::int64_t part = setting.plan.part;
    for (std::int64_t p = 0; p < parts; ++p)
        stepper.add(imagesOf(p * part + part * ranks->rank() / ranks->world(),
                             p * part + part * (ranks->rank() + 1) / ranks->world()));
    const StepReport report = stepper.finish();
    check(std::abs(report.loss - error.square().mean().item<double>()) < 1e-12, "loss " + std::to_string(report.loss));
    check(std::abs(report.figures.at("answer") - (error + 1).mean().item<double>()) < 1e-12, "figure");
    check(gap(method->gradient, gradient) < 1e-12, "gradient");
    check(gap(method->weight.detach(), start - 0.1 * gradient) < 1e-12, "weight");
    check(std::abs(report.gradNorm - gradient.norm().item<double>()) < 1e-12, "norm");
    check(method->forwards == parts && method->begun == 1 && method->ended == 1, "calls");
}

const rankprocesses::Body partsOverRanks("partsOverRanks", [](const rankprocesses::Ranks &ranks, const std::string &parts) {
    compareWithFormula(ranks, std::stoi(parts));
});

} // namespace

class TestStepper : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void partsOfABatchGiveTheBatchsGradient()
    {
        for (const std::int64_t parts : {1, 2, 3, 6}) compareWithFormula(dist::localRanks(torch::kCPU), parts);
    }

    void partsOfABatchGiveTheBatchsGradientOverRanks_data()
    {
        QTest::addColumn<int>("world");
        QTest::addColumn<QString>("parts");
        QTest::newRow("2 ranks, whole") << 2 << "1";
        QTest::newRow("2 ranks, uneven slices of 4 parts") << 2 << "4";
        QTest::newRow("4 ranks, 3 parts") << 4 << "3";
    }
    void partsOfABatchGiveTheBatchsGradientOverRanks()
    {
        QFETCH(int, world);
        QFETCH(QString, parts);
        const QByteArray fault = rankprocesses::run("partsOverRanks", world, parts.toStdString());
        QVERIFY2(fault.isEmpty(), fault);
    }

    void gradientsThatOverflowHalveTheScaleAndLeaveTheWeights()
    {
        const Setting setting = settingOf(2, 1, "fp16");
        const auto method = std::make_shared<Steep>(1.0);
        method->slopeOfLoss = 1000; // 65504 is the largest float16: fits from a scale of 64 down
        Stepper stepper(setting.experiment, setting.plan, method, dist::localRanks(torch::kCPU));
        double scale = 65536;
        int left = 0;
        while (true) {
            stepper.begin({});
            stepper.add(imagesOf(0, 2, torch::kFloat32));
            const StepReport report = stepper.finish();
            QCOMPARE(report.figures.at("loss_scale"), scale);
            if (report.applied) break;
            QVERIFY(!std::isfinite(report.gradNorm));
            QCOMPARE(method->weight.detach().abs().max().item<double>(), 0.0);
            scale /= 2;
            ++left;
        }
        QCOMPARE(scale, 64.0);
        QCOMPARE(left, 10);
        QCOMPARE(stepper.scaler().scale(), 64.0);
        QVERIFY(gap(method->weight.detach(), torch::full({3}, -100.0)) < 1e-3); // the slope itself, unscaled
    }

    void gradientsThatOverflowWithoutScaleEndTheRun()
    {
        const Setting setting = settingOf(2, 1, "fp16");
        const auto method = std::make_shared<Steep>(1.0);
        method->slopeOfLoss = 1e5;
        Stepper stepper(setting.experiment, setting.plan, method, dist::localRanks(torch::kCPU));
        int left = 0;
        const auto step = [&] {
            stepper.begin({});
            stepper.add(imagesOf(0, 2, torch::kFloat32));
            return stepper.finish().applied;
        };
        try {
            while (left < 100) {
                QVERIFY(!step());
                ++left;
            }
            QFAIL("no end");
        } catch (const Failure &failure) {
            QVERIFY2(failure.error().message().find("gradient is infinite") != std::string::npos,
                     failure.error().message().c_str());
        }
        QCOMPARE(left, 16);
    }

    void theScaleGrowsAfterManyGoodSteps()
    {
        LossScaler scaler(true);
        for (std::int64_t i = 0; i + 1 < LossScaler::kGrowAfter; ++i) QVERIFY(scaler.update(true));
        QCOMPARE(scaler.scale(), 65536.0);
        QVERIFY(scaler.update(true));
        QCOMPARE(scaler.scale(), 131072.0);
        QVERIFY(scaler.update(false));
        QCOMPARE(scaler.state().goodSteps, std::int64_t(0));
        QCOMPARE(LossScaler(false).scale(), 1.0);
    }
};

RANK_TEST_MAIN(TestStepper)
#include "tst_stepper.moc"
