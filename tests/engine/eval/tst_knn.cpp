// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/eval/knn.h"
#include "tests/support/rankprocesses.h"

#include <QTest>

#include <cmath>
#include <limits>

using namespace parallax;
using rankprocesses::check;

namespace {

/// Small images of a known colour: class = index modulo the classes; every `unlabelled`-th has no label.
class Colours : public data::Dataset
{
public:
    Colours(std::int64_t count, int classes, int unlabelled = 0) : m_count(count), m_unlabelled(unlabelled)
    {
        for (int i = 0; i < classes; ++i) m_classes.push_back("class " + std::to_string(i));
        m_source = "colours";
    }
    std::int64_t size() const override { return m_count; }
    data::Item item(std::int64_t index) const override
    {
        const bool hidden = m_classes.empty() || (m_unlabelled > 0 && index % m_unlabelled == 0);
        return {std::uint64_t(index), "colour " + std::to_string(index),
                hidden ? -1 : int(index % std::int64_t(m_classes.size()))};
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
        const int hue = int(index % 7) * 30;
        return cv::Mat(8, 8, CV_8UC3, cv::Scalar(hue, 255 - hue, double((index * 37) % 256)));
    }
    std::int64_t broken = -1; ///< this image cannot be read

private:
    std::int64_t m_count;
    int m_unlabelled;
};

/// A method whose features are a batch norm and a linear map of the pixels.
class Pixels : public methods::Method
{
public:
    Pixels()
    {
        torch::manual_seed(12);
        m_norm = register_module("norm", torch::nn::BatchNorm2d(3));
        m_frozen = register_module("frozen", torch::nn::BatchNorm2d(3));
        m_linear = register_module("linear", torch::nn::Linear(3 * 8 * 8, 10));
        m_frozen->eval();
    }
    std::vector<data::ViewSpec> views(const data::AugmentConfig &) const override { return {}; }
    methods::StepResult step(const std::vector<torch::Tensor> &, const methods::Context &) override { return {}; }
    torch::Tensor features(const torch::Tensor &images) override
    {
        ++calls;
        sawTraining |= is_training() || m_norm->is_training();
        return m_linear(m_frozen(m_norm(images)).flatten(1));
    }
    double chanceLoss(std::int64_t) const override { return 0; }
    std::shared_ptr<torch::nn::Module> backbone() const override { return m_linear.ptr(); }
    bool frozenTrains() const { return m_frozen->is_training(); }
    int calls = 0;
    bool sawTraining = false;

private:
    torch::nn::BatchNorm2d m_norm = nullptr, m_frozen = nullptr;
    torch::nn::Linear m_linear = nullptr;
};

data::AugmentConfig eightPixels()
{
    data::AugmentConfig augment;
    augment.size = 8;
    return augment;
}

eval::ExtractOptions extractOptions(std::int64_t count, bool gather)
{
    eval::ExtractOptions options;
    options.augment = eightPixels();
    options.index = eval::evenly(count, 0);
    options.batchSize = 4;
    options.gather = gather;
    return options;
}

eval::KnnResult accuracy(const dist::Ranks &ranks)
{
    Pixels method;
    eval::EvalConfig config;
    config.knnK = 3;
    config.batchSize = 4;
    config.queryLimit = 19;
    const auto bank = std::make_shared<Colours>(53, 7, 10), queries = std::make_shared<Colours>(23, 7);
    return eval::evaluateKnn(method, {bank, queries, eightPixels()}, config, ranks);
}

const rankprocesses::Body sharesWork("sharesWork", [](const rankprocesses::Ranks &ranks, const std::string &) {
    const auto local = dist::localRanks(torch::kCPU);
    Pixels method;
    const auto images = std::make_shared<Colours>(11, 7);
    const auto all = eval::extractFeatures(method, images, *ranks, extractOptions(11, true));
    const int own = method.calls;
    const auto alone = eval::extractFeatures(method, images, *local, extractOptions(11, true));
    check(own < method.calls - own, "each rank computed all features");
    check(torch::allclose(all.features, alone.features, 1e-5, 1e-6) && all.labels.equal(alone.labels),
          "gathered features differ");
    const auto share = eval::extractFeatures(method, images, *ranks, extractOptions(11, false));
    check(torch::allclose(share.features, all.features.narrow(0, share.begin, share.features.size(0)), 1e-5, 1e-6), "share");

    const auto few = eval::extractFeatures(method, std::make_shared<Colours>(1, 7), *ranks, extractOptions(1, true));
    check(few.features.size(0) == 1 && few.labels.size(0) == 1, "a rank without images");

    const auto together = accuracy(*ranks), single = accuracy(*local);
    check(together.top1 == single.top1 && together.top5 == single.top5 && together.queries == single.queries &&
              together.bank == single.bank,
          "accuracy differs between one and several ranks");
});

torch::Tensor predict(const torch::Tensor &queries, const torch::Tensor &bank, const std::vector<std::int64_t> &labels,
                      std::int64_t classes, const eval::KnnOptions &options)
{
    return eval::knnPredict(queries, bank, torch::tensor(labels), classes, options);
}

} // namespace

class Knn : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void chunksChangeNothing()
    {
        torch::manual_seed(2);
        const torch::Tensor queries = torch::randn({25, 8}), bank = torch::randn({60, 8});
        const torch::Tensor labels = torch::randint(0, 7, {60}, torch::kInt64);
        eval::KnnOptions options{.k = 20, .t = 0.1};
        const torch::Tensor ranked = eval::knnPredict(queries, bank, labels, 7, options);
        options.memoryLimit = std::size_t(3 * bank.size(0) * 4); // three queries at a time
        QVERIFY(eval::knnPredict(queries, bank, labels, 7, options).equal(ranked));
    }

    void nearestVotesCountMost()
    {
        const torch::Tensor bank = torch::tensor({{1.0, 0.0}, {0.8, 0.6}, {0.8, -0.6}}), query = torch::tensor({{5.0, 0.0}});
        // One exact neighbour of class 0 against two of class 1 at similarity 0.8: e^(1/t) against 2 e^(0.8/t).
        QCOMPARE(predict(query, bank, {0, 1, 1}, 2, {.k = 3, .t = 0.1})[0][0].item<int>(), 0);
        QCOMPARE(predict(query, bank, {0, 1, 1}, 2, {.k = 3, .t = 1})[0][0].item<int>(), 1);
        QCOMPARE(predict(query, bank, {0, 1, 1}, 2, {.k = 3, .t = 0.001})[0][0].item<int>(), 0); // e^1000 would be infinite
    }

    void aBankThatIsTooSmall()
    {
        try {
            predict(torch::ones({1, 2}), torch::ones({3, 2}), {0, 0, 0}, 1, {.k = 4});
            QFAIL("k above the bank was taken");
        } catch (const std::runtime_error &error) {
            QCOMPARE(
                QString(error.what()),
                QString(
                    "eval.knn_k is 4, but only 3 labelled training images can vote. Set eval.knn_k to at most that many"));
        }
        QVERIFY_EXCEPTION_THROWN(predict(torch::ones({1, 2}), torch::ones({2, 2}), {0, 2}, 2, {.k = 1}), std::runtime_error);
    }

    void zeroFeaturesAreFiniteAndCounted()
    {
        const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
        const torch::Tensor odd = torch::tensor({{0.0, 0.0}, {nan, 1.0}, {inf, 0.0}, {0.0, 2.0}});
        QCOMPARE(eval::degenerateRows(odd), std::int64_t(3));
        QCOMPARE(eval::degenerateRows(torch::zeros({5, 3})), std::int64_t(5));
        // A bank row without direction is nobody's best match.
        const torch::Tensor ranked = predict(torch::tensor({{0.1, 1.0}}), odd, {1, 1, 1, 0}, 2, {.k = 1});
        QCOMPARE(ranked[0][0].item<int>(), 0);
        QCOMPARE(predict(odd, odd, {0, 1, 0, 1}, 2, {.k = 2}).sizes(), torch::IntArrayRef({4, 2}));
    }

    void evenlyKeepsTheBalance()
    {
        QCOMPARE(eval::evenly(4, 0), (std::vector<std::int64_t>{0, 1, 2, 3}));
        QCOMPARE(eval::evenly(4, 9), (std::vector<std::int64_t>{0, 1, 2, 3}));
        QCOMPARE(eval::evenly(10, 3), (std::vector<std::int64_t>{0, 3, 6}));
        QVERIFY(eval::evenly(0, 5).empty());
    }

    void nothingIsChanged()
    {
        Pixels method;
        method.features(torch::randn({4, 3, 8, 8}));
        method.sawTraining = false;
        std::vector<torch::Tensor> before;
        for (const auto &[name, tensor] : nn::stateDict(method)) before.push_back(tensor.detach().clone());
        const auto set = eval::extractFeatures(method, std::make_shared<Colours>(9, 7), *m_alone, extractOptions(9, true));
        std::size_t i = 0;
        for (const auto &[name, tensor] : nn::stateDict(method)) QVERIFY2(tensor.equal(before[i++]), name.c_str());
        QVERIFY(!method.sawTraining);
        QVERIFY(method.is_training() && !method.frozenTrains());
        QCOMPARE(set.features.sizes(), torch::IntArrayRef({9, 10}));
        QVERIFY(!set.features.requires_grad());
        QVERIFY(set.labels.equal(torch::tensor({0, 1, 2, 3, 4, 5, 6, 0, 1}, torch::kInt64)));
    }

    void accuracyOfColours()
    {
        const auto result = accuracy(*m_alone);
        QCOMPARE(result.k, std::int64_t(3));
        QCOMPARE(result.t, 0.1);
        QCOMPARE(result.classes, std::int64_t(7));
        QCOMPARE(result.queries, std::int64_t(19));
        QCOMPARE(result.bank, std::int64_t(53 - 6)); // six without label have no vote
        QCOMPARE(result.degenerate, std::int64_t(0));
        QVERIFY(result.top1 > 0.5 && result.top5 >= result.top1 && result.top5 <= 1);
    }

    void unreadableImagesAreLeftOut()
    {
        Pixels method;
        const auto bank = std::make_shared<Colours>(12, 7), queries = std::make_shared<Colours>(9, 7);
        bank->broken = 5;
        queries->broken = 8;
        const auto set = eval::extractFeatures(method, bank, *m_alone, extractOptions(12, true));
        QCOMPARE(set.replaced.sum().item<int>(), 1);
        QCOMPARE(set.replaced[5].item<int>(), 1);
        QCOMPARE(set.unreadable.size(), std::size_t(1));
        eval::EvalConfig config;
        config.knnK = 100;
        const auto result = eval::evaluateKnn(method, {bank, queries, eightPixels()}, config, *m_alone);
        QCOMPARE(result.bank, std::int64_t(11));
        QCOMPARE(result.k, std::int64_t(11)); // all that there are
        QCOMPARE(result.queries, std::int64_t(8));
    }

    void dataWithoutLabels()
    {
        Pixels method;
        const auto nothing = std::make_shared<Colours>(9, 0);
        QVERIFY_EXCEPTION_THROWN(eval::evaluateKnn(method, {nothing, nothing, eightPixels()}, {}, *m_alone),
                                 std::runtime_error);
    }

    void twoRanksShareTheWork() { onRanks("sharesWork", 2); }
    void threeRanksShareTheWork() { onRanks("sharesWork", 3); }

private:
    static void onRanks(const char *body, int world)
    {
        const QByteArray fault = rankprocesses::run(body, world);
        QVERIFY2(fault.isEmpty(), fault);
    }
    const std::shared_ptr<dist::Ranks> m_alone = dist::localRanks(torch::kCPU);
};

RANK_TEST_MAIN(Knn)
#include "tst_knn.moc"
