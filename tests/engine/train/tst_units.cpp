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

#include <filesystem>
#include <limits>
#include <map>
#include <numeric>

#include <unistd.h>

using namespace parallax;
using namespace parallax::train;

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
    Experiment experiment;
    experiment.train.batchSize = batch;
    experiment.distributed.syncBn = syncBn;
    return makePlan(experiment, {std::make_shared<Blank>(images, std::vector<std::string>{}), nullptr}, world);
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

    void healthSeesCollapseAndChance()
    {
        Health health(4.0);
        health.addStep(3.0, 0.9);
        QVERIFY(health.endEpoch(1).empty());
        health.addStep(3.0, 0.05);
        QVERIFY(contains(health.endEpoch(2).at(0), "collapsed"));
        health.addStep(4.001, 0.9);
        QVERIFY(contains(health.endEpoch(3).at(0), "chance"));
        health.addStep(4.001, std::numeric_limits<double>::quiet_NaN());
        QVERIFY(health.endEpoch(1).empty()); // the first epoch may start at chance
        QVERIFY(health.endEpoch(4).empty()); // no step, nothing to say
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
