// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/dist/reducer.h"
#include "core/engine/nn/precision.h"
#include "core/engine/nn/weights.h"
#include "core/engine/optim/sgd.h"
#include "tests/engine/methods/smallmethod.h"
#include "tests/support/rankprocesses.h"

#include <QTemporaryDir>
#include <QTest>

#include <cmath>

using namespace parallax;
using methods::Context;
using methods::Method;
using methods::MethodInfo;
using rankprocesses::check;

namespace {

constexpr std::int64_t kBatch = 12;

/// Trains a method as the trainer does: seeds each step, averages gradients over the ranks, takes the rank's slice.
class Training
{
public:
    Training(const MethodInfo &info, torch::Dtype dtype, std::shared_ptr<const dist::Ranks> ranks)
        : method(smallmethod::make(info)), m_dtype(dtype), m_ranks(std::move(ranks))
    {
        nn::convertFloats(*method, dtype);
        nn::enableSyncBatchNorm(*method, std::const_pointer_cast<dist::Ranks>(m_ranks));
        method->train();
        optim::OptimConfig config;
        config.weightDecay = 1e-3;
        m_sgd = std::make_unique<optim::Sgd>(optim::parametersOf(*method, config), optim::SgdOptions{0.9, false});
        m_reducer = std::make_unique<dist::GradientReducer>(*method, m_ranks);
    }

    /// The loss of the whole batch.
    double step(std::int64_t step, std::int64_t steps)
    {
        torch::manual_seed(std::uint64_t(1000 + step)); // views
        std::vector<torch::Tensor> views = smallmethod::drawViews(*method, kBatch, m_dtype);
        const std::int64_t begin = kBatch * m_ranks->rank() / m_ranks->world(),
                           end = kBatch * (m_ranks->rank() + 1) / m_ranks->world();
        for (auto &view : views) view = view.narrow(0, begin, end - begin);
        torch::manual_seed(std::uint64_t(2000 + step)); // what the method draws
        Context context;
        context.ranks = context.all = m_ranks;
        context.syncBatchNorm = true;
        context.step = step;
        context.steps = steps;
        context.epoch = step / 5;
        context.epochs = (steps + 4) / 5;
        m_sgd->zeroGrad();
        method->beforeStep(context);
        m_reducer->prepareForward();
        const torch::Tensor loss = method->step(views, context).loss;
        m_reducer->prepareBackward({loss});
        loss.backward();
        method->afterBackward(context);
        gradients.clear();
        for (const auto &parameter : method->parameters())
            if (parameter.grad().defined()) gradients.push_back(parameter.grad().detach().clone());
        m_sgd->step(0.05);
        method->afterStep(context);
        torch::Tensor sum = loss.detach().to(torch::kFloat64).reshape({1}).clone();
        m_ranks->allReduceSum(sum);
        return sum.item<double>() / m_ranks->world();
    }

    std::shared_ptr<Method> method;
    std::vector<torch::Tensor> gradients;

private:
    torch::Dtype m_dtype;
    std::shared_ptr<const dist::Ranks> m_ranks;
    std::unique_ptr<optim::Sgd> m_sgd;
    std::unique_ptr<dist::GradientReducer> m_reducer;
};

double relative(double got, double want) { return std::abs(got - want) / std::max(1.0, std::abs(want)); }

void compare(const std::string &what, const torch::Tensor &got, const torch::Tensor &want, double tolerance)
{
    const double scale = std::max(1.0, want.abs().max().item<double>());
    const double difference = (got - want).abs().max().item<double>() / scale;
    check(difference < tolerance, what + " differs by " + std::to_string(difference / tolerance) + " tolerances");
}

/// Many ranks give what one gives: in float64 over 20 steps, in float32 at the first one.
const rankprocesses::Body asOneRank("asOneRank", [](const rankprocesses::Ranks &ranks, const std::string &name) {
    const MethodInfo &info = *methods::Registry::find(name);
    const auto alone = dist::localRanks(torch::kCPU);
    {
        constexpr std::int64_t steps = 20;
        Training one(info, torch::kFloat64, alone), many(info, torch::kFloat64, ranks);
        for (std::int64_t step = 0; step < steps; ++step) {
            const double want = one.step(step, steps), got = many.step(step, steps);
            check(relative(got, want) < 1e-9,
                  "loss of step " + std::to_string(step) + ": " + std::to_string(got) + " instead of " +
                      std::to_string(want));
        }
        const auto want = nn::stateDict(*one.method), got = nn::stateDict(*many.method);
        for (std::size_t i = 0; i < want.size(); ++i)
            compare(want[i].first, got[i].second.to(torch::kFloat64), want[i].second.to(torch::kFloat64), 1e-9);
    }
    Training one(info, torch::kFloat32, alone), many(info, torch::kFloat32, ranks);
    const double want = one.step(0, 2), got = many.step(0, 2);
    check(relative(got, want) < 1e-5,
          "first loss in float32: " + std::to_string(got) + " instead of " + std::to_string(want));
    check(one.gradients.size() == many.gradients.size(), "number of gradients");
    for (std::size_t i = 0; i < one.gradients.size(); ++i)
        compare("gradient " + std::to_string(i), many.gradients[i], one.gradients[i], 1e-5);
});

} // namespace

/// What every method of the registry must keep, so that the trainer can rely on it.
class Contract : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void trains_data() { everyMethod(); }
    void trains()
    {
        const auto &info = method();
        Training training(info, torch::kFloat64, m_alone);
        double first = 0, last = 0;
        for (std::int64_t step = 0; step < 30; ++step) {
            last = training.step(step, 30);
            if (step == 0) first = last;
            QVERIFY2(std::isfinite(last), qPrintable(QString::number(step)));
        }
        QVERIFY(first != last);
        const torch::Tensor features =
            training.method->features(torch::randn({3, 3, smallmethod::kSize, smallmethod::kSize}, torch::kFloat64));
        QCOMPARE(features.dim(), std::int64_t(2));
        QVERIFY(features.isfinite().all().item<bool>());
    }

    void gradientsReachWhatLearnsAndNothingElse_data() { everyMethod(); }
    void gradientsReachWhatLearnsAndNothingElse()
    {
        const auto &info = method();
        Training training(info, torch::kFloat64, m_alone);
        training.step(0, 30);
        training.step(1, 30);
        for (const auto &item : training.method->named_parameters()) {
            const std::string &name = item.key();
            const torch::Tensor gradient = item.value().grad();
            const bool average = name.find("momentum") != std::string::npos || name.find("teacher") != std::string::npos;
            QVERIFY2(item.value().requires_grad() == gradient.defined(), name.c_str());
            if (average) QVERIFY2(!gradient.defined(), name.c_str());
            if (!gradient.defined()) continue;
            QVERIFY2(gradient.isfinite().all().item<bool>(), name.c_str());
            if (gradient.dim() >= 2) QVERIFY2(gradient.abs().max().item<double>() > 0, name.c_str());
        }
    }

    void goesOnAfterACheckpointBitForBit_data() { everyMethod(); }
    void goesOnAfterACheckpointBitForBit()
    {
        const auto &info = method();
        QTemporaryDir folder;
        const auto file = std::filesystem::path(folder.path().toStdString()) / "model.safetensors";
        Training first(info, torch::kFloat32, m_alone), second(info, torch::kFloat32, m_alone);
        for (std::int64_t step = 0; step < 9; ++step) first.step(step, 30);
        QVERIFY(nn::saveTensors(file, nn::stateDict(*first.method)).ok());
        const auto saved = runs::SafetensorsFile::open(file);
        QVERIFY(saved.ok());
        const auto loaded = nn::loadState(*second.method, *saved);
        QVERIFY2(loaded.ok(), loaded ? "" : loaded.error().message().c_str());
        // The optimisers differ in their momentum, so only what one step computes is compared.
        QCOMPARE(second.step(9, 30), first.step(9, 30));
        QCOMPARE(second.gradients.size(), first.gradients.size());
        for (std::size_t i = 0; i < first.gradients.size(); ++i)
            QVERIFY(torch::equal(first.gradients[i], second.gradients[i]));
    }

    /// Losses see float32 alone: they differ from full precision by what the networks' rounding makes of them.
    void halfPrecisionStaysClose_data() { everyMethod(); }
    void halfPrecisionStaysClose()
    {
        const auto &info = method();
        Training exact(info, torch::kFloat32, m_alone);
        const double want = exact.step(0, 30);
        for (const auto type : {torch::kBFloat16, torch::kFloat16}) {
            Training half(info, torch::kFloat32, m_alone);
            const nn::MixedPrecision mixed{type};
            const double got = half.step(0, 30);
            QVERIFY2(relative(got, want) < 0.05, qPrintable(QString::number(got) + " for " + QString::number(want)));
            QCOMPARE(half.gradients.size(), exact.gradients.size());
            for (const auto &gradient : half.gradients) {
                QCOMPARE(gradient.scalar_type(), torch::kFloat32);
                QVERIFY(gradient.isfinite().all().item<bool>());
            }
        }
    }

    void manyRanksAreOne_data() { everyMethod(); }
    void manyRanksAreOne()
    {
        for (const int world : {2, 4}) {
            const QByteArray fault = rankprocesses::run("asOneRank", world, method().name);
            QVERIFY2(fault.isEmpty(), fault);
        }
    }

    void isDescribed_data() { everyMethod(); }
    void isDescribed()
    {
        const auto &info = method();
        QVERIFY(!info.label.empty() && info.paper.size() > 10 && info.use.size() > 20);
        QVERIFY(info.gatherAdvice.starts_with(info.usesGather ? "Needed" : "No effect") && !info.syncBnAdvice.empty());
        config::Schema options;
        info.declareOptions(options);
        QVERIFY(!options.fields().empty());
        for (const auto &field : options.fields()) {
            QVERIFY2(!field.label.empty() && !field.help.empty(), field.key.c_str());
            QVERIFY2(!options.checkValue(field, field.defaultValue), field.key.c_str());
        }
    }

private:
    static void everyMethod()
    {
        QTest::addColumn<QString>("name");
        for (const auto &info : methods::Registry::all())
            QTest::newRow(info.name.c_str()) << QString::fromStdString(info.name);
    }
    static const MethodInfo &method()
    {
        QFETCH(QString, name);
        return *methods::Registry::find(name.toStdString());
    }
    const std::shared_ptr<dist::Ranks> m_alone = dist::localRanks(torch::kCPU);
};

RANK_TEST_MAIN(Contract)
#include "tst_contract.moc"
