// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/base/atomicfile.h"
#include "core/engine/data/loader.h"
#include "core/engine/train/arguments.h"
#include "core/engine/train/checkpoint.h"
#include "core/engine/train/commands.h"
#include "core/engine/train/devices.h"
#include "core/engine/train/failure.h"
#include "core/engine/train/health.h"
#include "core/engine/train/launchenv.h"
#include "core/engine/train/plan.h"

#include <QTemporaryDir>
#include <QTest>

#include <cmath>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <numeric>

#include <unistd.h>

using namespace parallax;
using namespace parallax::train;
using config::Json;

/// A figure by step.
using Series = std::function<double(int step)>;
Q_DECLARE_METATYPE(Series)

namespace {

bool contains(const std::string &text, const std::string &part) { return text.find(part) != std::string::npos; }

Machine machineWith(int devices, int cores = 2)
{
    Machine machine;
    machine.cores = cores;
    machine.cudaDevices = devices;
    if (devices == 0) machine.cudaError = "no driver";
    return machine;
}

Result<DeviceMap> mapped(const DistributedConfig &config, const Machine &machine)
{
    return mapDevices(config, 0, 0, machine);
}

std::string refusal(const DistributedConfig &config, const Machine &machine)
{
    const auto map = mapped(config, machine);
    return map ? std::string() : map.error().message();
}

/// So many images that nobody looks at.
class Blank : public data::Dataset
{
public:
    Blank(std::int64_t size, std::vector<std::string> classes) : m_size(size) { m_classes = std::move(classes); }
    std::int64_t size() const override { return m_size; }
    data::Item item(std::int64_t index) const override { return {std::uint64_t(index), std::to_string(index), -1}; }
    Result<cv::Mat> image(std::int64_t) const override { return cv::Mat(8, 8, CV_8UC3); }
    Result<data::DecodedImage> inspect(std::int64_t) const override { return Error{"not asked for", {}, {}}; }

private:
    std::int64_t m_size;
};

Result<Plan> planOf(std::int64_t images, std::int64_t batch, int world, bool syncBn = true)
{
    Experiment experiment = *Experiment::fromJson(Json::object());
    experiment.train.batchSize = batch;
    experiment.distributed.syncBn = syncBn;
    return makePlan(experiment, {std::make_shared<Blank>(images, std::vector<std::string>{}), nullptr}, world);
}

/// A plan of 1000 images for four ranks with these settings, or why there is none.
Result<Plan> planWith(const Json &settings)
{
    Json config = Json::object();
    for (const auto &[key, value] : settings.items()) config::assign(config, key, value);
    const auto experiment = Experiment::fromJson(config);
    if (!experiment) return experiment.error();
    return makePlan(*experiment, {std::make_shared<Blank>(1000, std::vector<std::string>{}), nullptr}, 4);
}

} // namespace

class TestUnits : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void devicesThatAreNotThereAreRefusedWithWhatThereIs()
    {
        DistributedConfig cuda;
        cuda.device = "cuda";
        QVERIFY(contains(refusal(cuda, machineWith(0)), "there is no CUDA device (no driver)"));
        QVERIFY(contains(refusal(cuda, machineWith(0)), "rank 0 on cpu")); // the map that would be used
        DistributedConfig listed;
        listed.devices = {1};
        QVERIFY(contains(refusal(listed, machineWith(0)), "no CUDA device"));
        listed.devices = {0, 7};
        const std::string missing = refusal(listed, machineWith(2));
        QVERIFY2(contains(missing, "device 7 is not there") && contains(missing, "2 visible CUDA devices, numbers 0 to 1"),
                 missing.c_str());
        QVERIFY(contains(missing, "rank 0 on cuda:0, rank 1 on cuda:1"));
        listed.devices = {0, 0};
        QVERIFY(contains(refusal(listed, machineWith(2)), "device 0 is listed twice"));
        listed.devices = {-1};
        QVERIFY(contains(refusal(listed, machineWith(2)), "device -1 is not there"));
        cuda.ranks = 4;
        QVERIFY(contains(refusal(cuda, machineWith(2)), "4 ranks, but there are 2 visible CUDA devices"));
        listed.devices = {0};
        listed.device = "cpu";
        QVERIFY(contains(refusal(listed, machineWith(2)), "distributed.device is cpu"));
        listed.device = "auto";
        listed.ranks = 2;
        QVERIFY(contains(refusal(listed, machineWith(2)), "2 ranks, but 1 devices"));
    }

    void devicesMapToRanks()
    {
        DistributedConfig config;
        QCOMPARE(mapped(config, machineWith(3))->devices, (std::vector<std::string>{"cuda:0", "cuda:1", "cuda:2"}));
        config.devices = {2, 0};
        QCOMPARE(mapped(config, machineWith(3))->devices, (std::vector<std::string>{"cuda:2", "cuda:0"}));
        const auto automatic = mapped({}, machineWith(0, 8));
        QCOMPARE(automatic->devices, std::vector<std::string>{"cpu"});
        QCOMPARE(automatic->threadsPerRank, 8);
        QVERIFY(contains(automatic->warnings.at(0), "Training on the CPU: there is no CUDA device"));
    }

    void manyRanksOnFewCoresGetOneThreadEachAndAWarning()
    {
        DistributedConfig config;
        config.device = "cpu";
        config.ranks = 64;
        const auto map = mapped(config, machineWith(0, 2));
        QCOMPARE(map->devices.size(), std::size_t(64));
        QCOMPARE(map->threadsPerRank, 1);
        QVERIFY(contains(map->warnings.at(0), "64 ranks with 1 compute thread each share 2 cores"));
        config.ranks = 2;
        QVERIFY(mapped(config, machineWith(0, 2))->warnings.empty());
    }

    void launchersDescribeARank()
    {
        std::map<std::string, std::string> variables{{"RANK", "3"},
                                                     {"WORLD_SIZE", "4"},
                                                     {"LOCAL_RANK", "1"},
                                                     {"LOCAL_WORLD_SIZE", "2"},
                                                     {"MASTER_ADDR", "10.0.0.7"},
                                                     {"MASTER_PORT", "1234"}};
        const Environment environment = [&](const std::string &name) -> std::optional<std::string> {
            const auto found = variables.find(name);
            if (found == variables.end()) return {};
            return found->second;
        };
        const runs::RunFolder run("run");
        const auto torchrun = launchFromEnvironment(run, {}, machineWith(2), environment);
        QVERIFY(torchrun.ok());
        QCOMPARE(torchrun->rank, 3);
        QCOMPARE(torchrun->world, 4);
        QCOMPARE(torchrun->ranksHere, 2);
        QCOMPARE(torchrun->store, std::string("tcp://10.0.0.7:1234"));
        QCOMPARE(torchrun->device, std::string("cuda:1"));
        QVERIFY(contains(launchFromEnvironment(run, {}, machineWith(1), environment).error().message(),
                         "local rank 1 has no CUDA device"));
        variables["RANK"] = "four";
        QVERIFY(contains(launchFromEnvironment(run, {}, machineWith(0), environment).error().message(), "RANK is four"));
        variables = {{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "2"}, {"SLURM_LAUNCH_NODE_IPADDR", "10.1.1.1"}};
        const auto slurm = launchFromEnvironment(run, {}, machineWith(0), environment);
        QVERIFY(slurm.ok());
        QCOMPARE(slurm->store, std::string("tcp://10.1.1.1:29500"));
        QCOMPARE(slurm->device, std::string("cpu"));
        variables = {};
        QVERIFY(contains(launchFromEnvironment(run, {}, machineWith(0), environment).error().message(), "RANK"));
    }

    void argumentsAreReadStrictly()
    {
        const std::vector<std::string> known{"--run", "--resume!", "--limit"};
        const auto good = Arguments::parse({"--run", "a b", "--resume", "--limit", "7"}, known);
        QVERIFY(good.ok());
        QCOMPARE(good->required("--run"), std::string("a b"));
        QVERIFY(good->has("--resume"));
        QCOMPARE(good->number("--limit", 3), std::int64_t(7));
        QCOMPARE(good->number("--other", 3), std::int64_t(3));
        QVERIFY(contains(Arguments::parse({"--rum", "x"}, known).error().message(), "Did you mean --run?"));
        QVERIFY(contains(Arguments::parse({"--run"}, known).error().message(), "needs a value"));
        QVERIFY(contains(Arguments::parse({"--run", "a", "--run", "b"}, known).error().message(), "twice"));
        const auto wrong = Arguments::parse({"--limit", "many"}, known);
        QVERIFY_EXCEPTION_THROWN(wrong->number("--limit", 0), Failure);
        QVERIFY_EXCEPTION_THROWN(wrong->required("--run"), Failure);
    }

    void commandsAreTakenInOrderAndStopOutranksThem()
    {
        int ends[2];
        QCOMPARE(pipe(ends), 0);
        const auto send = [&](const std::string &text) {
            QCOMPARE(::write(ends[1], text.data(), text.size()), ssize_t(text.size()));
        };
        Commands commands(ends[0]);
        QCOMPARE(commands.ticket(), std::int64_t(0));
        send("pause\nnonsense\ncheckp");
        send("oint\nresume\n");
        QTRY_COMPARE(commands.ticket(), std::int64_t(3));
        QCOMPARE(commands.take(2), (std::vector{Commands::Word::Pause, Commands::Word::Checkpoint}));
        QCOMPARE(commands.take(3), std::vector{Commands::Word::Resume});
        QVERIFY(commands.take(3).empty());
        send("pause\n");
        QCOMPARE(commands.take(4), std::vector{Commands::Word::Pause}); // waits for what another rank has heard already
        ::close(ends[1]);
        QTRY_VERIFY(Commands::isStop(commands.ticket()));
        QVERIFY(commands.take(commands.ticket()).empty());
        ::close(ends[0]);
    }

    void plansRefuseWhatCannotBeTrained()
    {
        QVERIFY(contains(planOf(145, 256, 1).error().message(), "a batch of 256 is larger than the 145 training images"));
        QVERIFY(contains(planOf(145, 2, 3).error().message(), "cannot be shared by 3 ranks"));
        QVERIFY(contains(planOf(145, 4, 3, false).error().message(), "single image"));
        QVERIFY(planOf(145, 4, 3).ok());
        QVERIFY(!planOf(0, 2, 1).ok());
        const auto plan = planOf(145, 48, 5);
        QCOMPARE(plan->stepsPerEpoch, std::int64_t(3));
        QCOMPARE(plan->batchPerRank.size(), std::size_t(5));
        QCOMPARE(std::accumulate(plan->batchPerRank.begin(), plan->batchPerRank.end(), std::int64_t(0)), std::int64_t(48));
        const auto order = data::permutation(145, 0, 0);
        for (int rank = 0; rank < 5; ++rank) // the plan shows what the loader cuts
            QCOMPARE(std::int64_t(data::rankBatches(order, 48, rank, 5)[0].size()), plan->batchPerRank[std::size_t(rank)]);
        QVERIFY(std::any_of(plan->warnings.begin(), plan->warnings.end(),
                            [](const auto &w) { return contains(w, "no labels"); }));
        QVERIFY(std::any_of(plan->warnings.begin(), plan->warnings.end(),
                            [](const auto &w) { return contains(w, "does not divide"); }));
    }

    void aNetworkThatCannotTakeTheViewsIsRefused_data()
    {
        QTest::addColumn<QByteArray>("settings");
        QTest::addColumn<QString>("where"); // empty: it can
        QTest::addColumn<QString>("hint");
        const char *vit = R"("backbone.name": "vit_tiny", )";
        const auto row = [](const char *name, const QByteArray &settings, const char *where, const char *hint) {
            QTest::newRow(name) << QByteArray('{' + settings + '}') << where << hint;
        };
        row("patches fit", vit + QByteArray(R"("backbone.patch_size": 8, "augment.size": 32)"), "", "");
        row("patches do not fit", vit + QByteArray(R"("backbone.patch_size": 16, "augment.size": 40)"), "augment.size",
            "Set augment.size to 32 or 48, or backbone.patch_size to 10");
        row("patch above view", vit + QByteArray(R"("backbone.patch_size": 16, "augment.size": 12)"), "augment.size",
            "Set augment.size to 16, or backbone.patch_size to 12");
        row("prime view", vit + QByteArray(R"("backbone.patch_size": 8, "augment.size": 37)"), "augment.size",
            "Set augment.size to 32 or 40");
        row("small views", vit + QByteArray(R"("method.name": "dino", "backbone.patch_size": 8, "augment.size": 32,
            "method.local_views": 2, "method.local_size": 20)"),
            "method.local_size", "Set method.local_size to 16 or 24");
        row("no small views", vit + QByteArray(R"("method.name": "dino", "backbone.patch_size": 8, "augment.size": 32,
            "method.local_views": 0, "method.local_size": 20)"),
            "", "");
        row("positions", vit + QByteArray(R"("backbone.patch_size": 8, "augment.size": 32, "backbone.image_size": 36)"),
            "backbone.image_size", "Set backbone.image_size to 32 or 40");
        row("mae", vit + QByteArray(R"("method.name": "mae", "backbone.patch_size": 16, "augment.size": 40)"),
            "augment.size", "32 or 48");
        row("msn", vit + QByteArray(R"("method.name": "msn", "backbone.patch_size": 8, "augment.size": 32,
            "method.local_views": 1, "method.local_size": 12)"),
            "method.local_size", "8 or 16");
        row("nothing to mask", vit + QByteArray(R"("method.name": "mae", "backbone.patch_size": 32, "augment.size": 32)"),
            "backbone.patch_size", "smaller");
        row("masks too little", vit + QByteArray(R"("method.name": "mae", "backbone.patch_size": 16, "augment.size": 32,
            "method.mask_ratio": 0.1)"),
            "method.mask_ratio", "at least 0.25");
        row("masks what is there", vit + QByteArray(R"("method.name": "mae", "backbone.patch_size": 16, "augment.size": 32,
            "method.mask_ratio": 0.25)"),
            "", "");
        row("masking without patches", R"("method.name": "msn", "backbone.name": "resnet18")", "backbone.name", "vit_tiny");
        row("convnext", R"("backbone.name": "convnext_tiny", "augment.size": 28)", "augment.size", "at least 32");
        row("convnext's small views", R"("backbone.name": "convnext_tiny", "augment.size": 32, "method.name": "swav",
            "method.local_views": 6, "method.local_size": 16)",
            "method.local_size", "at least 32");
        row("resnet", R"("backbone.name": "resnet18", "augment.size": 8)", "", "");
    }
    void aNetworkThatCannotTakeTheViewsIsRefused()
    {
        QFETCH(QByteArray, settings);
        QFETCH(QString, where);
        QFETCH(QString, hint);
        const Json parsed = Json::parse(settings.toStdString());
        const auto plan = planWith(parsed);
        QCOMPARE(plan ? QString() : QString::fromStdString(plan.error().where), where);
        if (!plan) QVERIFY2(contains(plan.error().hint, hint.toStdString()), plan.error().message().c_str());
        // What passes here can be built, and takes the views.
        if (plan) {
            Json config = Json::object();
            for (const auto &[key, value] : parsed.items()) config::assign(config, key, value);
            const auto experiment = Experiment::fromJson(config);
            const auto method = experiment->makeMethod();
            const torch::NoGradGuard noGrad;
            method->eval();
            for (const auto &view : method->views(experiment->augment))
                QVERIFY(method->features(torch::zeros({1, 3, view.augment.size, view.augment.size}))
                            .isfinite()
                            .all()
                            .item<bool>());
        }
    }

    void whatGatherAndTheBatchMeanForAMethodIsSaid()
    {
        const auto concern = [](const Json &settings, const char *key) {
            const auto plan = planWith(settings);
            if (!plan) return plan.error().message();
            const auto found = plan->concerns.find(key);
            if (found == plan->concerns.end()) return std::string();
            return std::ranges::count(plan->warnings, found->second) == 1 ? found->second : "not among the warnings";
        };
        const auto gather = [&](const char *method, bool on) {
            return concern({{"method.name", method},
                            {"distributed.gather", on},
                            {"train.batch_size", 512},
                            {"backbone.name", "vit_tiny"}},
                           "distributed.gather");
        };
        for (const char *method : {"simclr", "dcl", "nnclr", "barlowtwins", "vicreg", "swav", "msn"}) {
            QVERIFY2(contains(gather(method, false), "128 images of a rank"), method);
            QVERIFY2(gather(method, true).empty(), method);
        }
        for (const char *method : {"byol", "simsiam", "dino", "moco", "mae"})
            QVERIFY2(gather(method, false).empty(), method);
        const auto batch = [&](const char *method, int size, bool gathers = true) {
            return concern({{"method.name", method}, {"train.batch_size", size}, {"distributed.gather", gathers}},
                           "train.batch_size");
        };
        QVERIFY(contains(batch("simclr", 64), "64 images"));
        QVERIFY(batch("simclr", 128).empty()); // as published on CIFAR-10
        QVERIFY(contains(batch("simclr", 128, false), "32 images"));
        QVERIFY(batch("byol", 32).empty());
    }

    void healthSeesCollapseAndChance()
    {
        Health health(4.0);
        health.addStep(3.0, 0.9, 1);
        QVERIFY(health.endEpoch(1).empty());
        health.addStep(3.0, 0.05, 1);
        QVERIFY(contains(health.endEpoch(2).at(0), "collapsed"));
        health.addStep(4.001, 0.9, 1);
        QVERIFY(contains(health.endEpoch(3).at(0), "chance"));
        health.addStep(4.001, std::numeric_limits<double>::quiet_NaN(), 1);
        QVERIFY(health.endEpoch(1).empty()); // the first epoch may start at chance
        QVERIFY(health.endEpoch(4).empty()); // no step, nothing to say
    }

    void healthNamesAnExplosionWithinTheEpoch_data()
    {
        QTest::addColumn<double>("chance");
        QTest::addColumn<Series>("loss");
        QTest::addColumn<Series>("gradient");
        QTest::addColumn<int>("epoch"); // in which the explosion begins; 0: never
        const Series steady = [](int) { return 1.0; };
        const auto from = [](int step, const Series &before, const Series &after) -> Series {
            return [=](int t) { return t < step ? before(t) : after(t - step); };
        };
        const auto falling = [](double high, double low) -> Series {
            return [=](int t) { return low + (high - low) * std::exp(-t / 30.0); };
        };
        const Series doubling = [](int t) { return 2 * std::pow(2, t / 4.0); };
        const double unknown = std::nan("");
        // Steps of the explosion: an epoch has 20.
        QTest::newRow("mae") << unknown << from(45, falling(1.1, 0.4), doubling) << steady << 3;
        QTest::newRow("vicreg in the first epoch")
            << unknown << from(8, falling(40, 20), [](int t) { return 45 * std::pow(2, t); }) << steady << 1;
        QTest::newRow("barlow twins") << unknown << from(60, falling(300, 60), [](int) { return 5000.0; }) << steady << 4;
        QTest::newRow("at once") << unknown << from(2, steady, [](int t) { return 1000.0 * (t + 1); }) << steady << 1;
        QTest::newRow("negative") << unknown << from(50, falling(-0.1, -0.9), doubling) << steady << 3;
        QTest::newRow("above chance") << 4.0 << from(50, falling(4, 2), [](int) { return 40.0; }) << steady << 3;
        QTest::newRow("gradient") << unknown << from(45, falling(0, -0.9), [](int) { return -0.5; })
                                  << from(45, steady, [](int) { return 500.0; }) << 3;
        QTest::newRow("steps left out") << unknown << from(45, falling(1.1, 0.4), [=](int t) {
            return t % 2 ? doubling(t) : std::nan("");
        }) << steady << 3;

        QTest::newRow("moco fills its bank")
            << std::log(4097.0) << Series([](int t) { return 8.3 * (1 - std::exp(-t / 25.0)); }) << steady << 0;
        QTest::newRow("tico builds its covariance")
            << unknown << Series([](int t) { return 20 * (1 - std::pow(0.9, t + 1)) - 1; }) << steady << 0;
        QTest::newRow("dino starts high") << std::log(2048.0) << falling(7.6, 3) << steady << 0;
        QTest::newRow("around zero") << unknown << Series([](int t) { return 0.3 * std::sin(t); }) << steady << 0;
        QTest::newRow("collapse and back")
            << unknown << Series([](int t) { return -0.5 - 0.45 * std::cos(t / 15.0); }) << steady << 0;
        QTest::newRow("one odd batch") << unknown << Series([](int t) { return t == 47 || t == 51 ? 1e6 : 1.0; })
                                       << Series([](int t) { return t == 47 || t == 51 ? 1e9 : 1.0; }) << 0;
        QTest::newRow("resumed late") << unknown << falling(0.41, 0.4) << steady << 0;
        QTest::newRow("noise") << unknown << Series([](int t) { return 3 + 2 * std::sin(1.7 * t * t); }) << steady << 0;
        QTest::newRow("shrinking weights")
            << unknown << falling(4, 1) << Series([](int t) { return std::exp(t / 12.0); }) << 0;
    }
    void healthNamesAnExplosionWithinTheEpoch()
    {
        QFETCH(double, chance);
        QFETCH(Series, loss);
        QFETCH(Series, gradient);
        QFETCH(int, epoch);
        Health health(chance);
        int named = 0, times = 0;
        for (int e = 1; e <= 6; ++e) {
            for (int t = 20 * (e - 1); t < 20 * e; ++t) health.addStep(loss(t), 0.9, gradient(t));
            for (const auto &warning : health.endEpoch(e)) {
                QVERIFY2(contains(warning, "explodes") && contains(warning, "optim.base_lr"), warning.c_str());
                if (times++ == 0) named = e;
            }
        }
        QCOMPARE(named, epoch);
        QCOMPARE(times, epoch > 0 ? 1 : 0);
    }

    void checkpointsFallBackToTheLastGoodOne()
    {
        QTemporaryDir dir;
        const runs::RunFolder run(dir.path().toStdString());
        std::filesystem::create_directories(run.checkpoints());
        std::vector<std::string> warnings;
        QVERIFY(contains(readNewest(run, warnings).error().message(), "no checkpoint"));
        for (int step = 1; step <= 4; ++step) {
            Progress progress;
            progress.step = step;
            progress.epoch = step / 2;
            progress.batch = step % 2;
            progress.bestKnn = 0.5;
            const auto value = step == 3 ? std::numeric_limits<float>::quiet_NaN() : float(step);
            QVERIFY(saveCheckpoint(run, progress, {{"model.w", torch::full({2, 3}, value)}}, 3).ok());
        }
        QCOMPARE(run.listCheckpoints().size(), std::size_t(3)); // step 1 is pruned
        QCOMPARE(readNewest(run, warnings)->progress.step, std::int64_t(4));
        QVERIFY(warnings.empty());
        std::filesystem::resize_file(run.checkpoint(4).tensors, std::filesystem::file_size(run.checkpoint(4).tensors) - 1);
        const auto fallback = readNewest(run, warnings); // 4 is cut, 3 holds NaN
        QVERIFY(fallback.ok());
        QCOMPARE(fallback->progress.step, std::int64_t(2));
        QCOMPARE(fallback->progress.epoch, std::int64_t(1));
        QCOMPARE(fallback->progress.bestKnn, 0.5);
        QCOMPARE(warnings.size(), std::size_t(2));
        QVERIFY(contains(warnings[1], "NaN"));
        QVERIFY(writeFileAtomic(run.checkpoint(2).state, "{\"format\": 99}").ok());
        warnings.clear();
        QVERIFY(contains(readNewest(run, warnings).error().message(), "None of the run's checkpoints loads"));
    }

    void tensorsWithoutTheirStateAreRemoved()
    {
        QTemporaryDir dir;
        const runs::RunFolder run(dir.path().toStdString());
        std::filesystem::create_directories(run.checkpoints());
        QVERIFY(writeFileAtomic(run.checkpoint(7).tensors, "cut").ok()); // a run killed between the two files
        Progress progress;
        progress.step = 8;
        QVERIFY(saveCheckpoint(run, progress, {{"model.w", torch::zeros({1})}}, 1).ok());
        QVERIFY(!std::filesystem::exists(run.checkpoint(7).tensors));
        QCOMPARE(run.listCheckpoints().size(), std::size_t(1));
    }

    void theDigestFollowsEveryBit()
    {
        torch::nn::Linear a(3, 2);
        const std::string before = digest(*a);
        QCOMPARE(digest(*a), before);
        torch::NoGradGuard noGrad;
        a->weight[0][0] += 1e-6;
        QVERIFY(digest(*a) != before);
    }

    void everyPresetSuitsEveryMethod()
    {
        const config::Schema schema = buildSchema();
        int presets = 0;
        for (const auto &entry : std::filesystem::directory_iterator(PARALLAX_SOURCE_DIR "/resources/presets")) {
            auto preset = config::readFile(entry.path().string());
            QVERIFY2(preset, preset ? "" : preset.error().message().c_str());
            preset->erase("label");
            ++presets;
            for (const auto &info : methods::Registry::all()) {
                const auto config =
                    config::resolve(schema, {{"preset", *preset}}, {"method.name=" + info.name, "data.source=/images"});
                QVERIFY2(config, config ? "" : config.error().message().c_str());
                const auto experiment = Experiment::fromJson(*config);
                QVERIFY2(experiment, experiment ? "" : experiment.error().message().c_str());
                QVERIFY(data::checkAugment(experiment->augment).ok());
            }
        }
        QCOMPARE(presets, 4);
        auto cifar = config::readFile(PARALLAX_SOURCE_DIR "/resources/presets/cifar10.json");
        QVERIFY(cifar && cifar->erase("label") == 1);
        const auto swav = config::resolve(schema, {{"preset", *cifar}}, {"method.name=swav"});
        QCOMPARE((*swav)["optim"]["name"].get<std::string>(), std::string("adam"));
        QCOMPARE((*swav)["optim"]["base_lr"].get<double>(), 1e-3);
        QCOMPARE((*swav)["augment"]["crop_min"].get<double>(), 0.14);
        auto imagenet = config::readFile(PARALLAX_SOURCE_DIR "/resources/presets/imagenet.json");
        QVERIFY(imagenet && imagenet->erase("label") == 1);
        const auto moco = config::resolve(schema, {{"preset", *imagenet}}, {"method.name=moco"});
        QCOMPARE((*moco)["method"]["temperature"].get<double>(), 0.2);
        QCOMPARE((*moco)["method"]["momentum"].get<double>(), 0.999);
    }
};

QTEST_GUILESS_MAIN(TestUnits)
#include "tst_units.moc"
