// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/nn/weights.h"
#include "core/runs/evaluation.h"
#include "core/runs/runrecord.h"
#include "tests/engine/train/workerruns.h"

#include <QTemporaryDir>

#include <csignal>
#include <memory>

using namespace parallax;
using namespace parallax::test;
namespace fs = std::filesystem;

namespace {

QString text(const fs::path &path) { return QString::fromStdString(path.string()); }

/// "what where hint" of a refused job; empty for one that was not.
std::string refusal(const Answer &answer)
{
    return answer.exitCode == 1 && answer.json.contains("error") ? answer.json["error"].dump() : std::string();
}

} // namespace

/// `parallax-worker eval` on a small run that one rank has trained.
class TestEval : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase()
    {
        QVERIFY(m_dir.isValid());
        drawClasses(folder("images"), 4, 16);
        m_run = std::make_unique<WorkerRun>(folder("run"), smallConfig(folder("images")));
        QCOMPARE(m_run->train(1), std::vector<int>{0});
    }
    void cleanup() { fs::remove_all(m_run->run.evaluations()); }

    void aProbeIsStoredWithItsProtocol()
    {
        const auto answer = eval({"--set", "probe.epochs=12", "--set", "probe.lr=1,10", "--set", "probe.batch_size=16",
                                  "--set", "probe.crop_min=0.9", "--set", "probe.flip_p=0"}); // the place tells the class
        QVERIFY2(answer.exitCode == 0, answer.json.dump().c_str());
        const Json &document = answer.json;
        QCOMPARE(document["mode"].get<std::string>(), std::string("linear"));
        QCOMPARE(document["method"].get<std::string>(), std::string("simclr"));
        QCOMPARE(document["checkpoint"]["epoch"].get<int>(), 2);
        QCOMPARE(document["checkpoint"]["step"].get<int>(), 6);
        QCOMPARE(document["data"]["train_images"].get<int>(), 48);
        QCOMPARE(document["data"]["val_images"].get<int>(), 16);
        QCOMPARE(document["data"]["classes"].get<int>(), 4);
        QCOMPARE(document["data"]["split"]["kind"].get<std::string>(), std::string("fraction"));
        QCOMPARE(document["data"]["split"]["fraction"].get<double>(), 0.25);
        const Json &protocol = document["protocol"];
        QCOMPARE(protocol["lr_scaled"].get<std::vector<double>>(), (std::vector<double>{1.0 / 16, 10.0 / 16}));
        QCOMPARE(protocol["steps_per_epoch"].get<int>(), 3);
        QCOMPARE(protocol["augmentation"]["size"].get<int>(), 16);
        QVERIFY(protocol["chosen"]["lr"].get<std::string>().find("optimistic") != std::string::npos);
        QCOMPARE(document["settings"]["probe"]["epochs"].get<int>(), 12);
        QCOMPARE(document["curves"].size(), std::size_t(2));
        const std::size_t chosen = document["lr"] == 1 ? 0 : 1;
        QCOMPARE(document["curves"][chosen]["epochs"].size(), std::size_t(12));
        QVERIFY(document["curves"][chosen]["epochs"].back() == document["last"]);
        QCOMPARE(document["last"]["epoch"].get<int>(), 12);
        QVERIFY(document["best"]["top1"].get<double>() >= document["last"]["top1"].get<double>());
        QVERIFY2(document["last"]["top1"].get<double>() > 0.7, document["last"].dump().c_str()); // chance: 0.25
        QCOMPARE(document["last"]["top5"].get<double>(), 1.0);                                   // of 4 classes
        int images = 0, right = 0;
        for (std::size_t c = 0; c < 4; ++c) {
            for (const Json &count : document["confusion"][c]) images += count.get<int>();
            right += document["confusion"][c][c].get<int>();
            QCOMPARE(document["by_class"][c]["val_images"].get<int>(), 4);
        }
        QCOMPARE(images, 16);
        QCOMPARE(right / 16.0, document["last"]["top1"].get<double>());

        const fs::path file = document["file"].get<std::string>();
        QCOMPARE(file.parent_path(), m_run->run.evaluations());
        const auto stored = config::readFile(file.string());
        QVERIFY(stored.ok());
        QVERIFY((*stored)["curves"] == document["curves"]);
        const auto head = runs::SafetensorsFile::open(file.parent_path() / (*stored)["weights"]["file"].get<std::string>());
        QVERIFY(head.ok());
        QCOMPARE(nn::readTensor(*head, "weight")->sizes(), (torch::IntArrayRef{4, 64}));
        QCOMPARE(nn::readTensor(*head, "bias")->sizes(), torch::IntArrayRef{4});
    }

    void aSecondCallGivesTheSameNumbersInAnotherFile()
    {
        for (const char *mode : {"linear", "finetune"}) {
            const QStringList words{"--set", QString("probe.mode=") + mode, "--set", "probe.epochs=2"};
            const auto first = eval(words), second = eval(words);
            QVERIFY2(first.exitCode == 0 && second.exitCode == 0, first.json.dump().c_str());
            QVERIFY(first.json["curves"] == second.json["curves"]);
            QVERIFY(first.json["file"] != second.json["file"]);
        }
        QCOMPARE(m_run->run.listEvaluations().size(), std::size_t(4));
        for (const auto &files : m_run->run.listEvaluations()) QVERIFY(fs::exists(files.weights));
    }

    void fineTuningStoresTheWholeNetwork()
    {
        const auto answer = eval({"--epoch", "1", "--set", "probe.mode=finetune", "--set", "probe.epochs=3", "--set",
                                  "probe.batch_size=16", "--device", "cpu"});
        QVERIFY2(answer.exitCode == 0, answer.json.dump().c_str());
        QCOMPARE(answer.json["checkpoint"]["epoch"].get<int>(), 1);
        const auto evaluations = runs::readEvaluations(m_run->run);
        QCOMPARE(evaluations.size(), std::size_t(1));
        QCOMPARE(evaluations[0].mode, std::string("finetune"));
        const auto network = runs::SafetensorsFile::open(m_run->run.listEvaluations()[0].weights);
        QVERIFY(network.ok());
        for (const char *name : {"conv1.weight", "layer4.1.bn2.running_var", "fc.weight", "fc.bias"})
            QVERIFY2(network->tensors().contains(name), name);
        // It is a backbone's weights too, as torchvision's would be.
        const QString weights = text(m_run->run.listEvaluations()[0].weights);
        const auto again = eval({"--weights", weights, "--set", "probe.epochs=1"});
        QVERIFY2(again.exitCode == 0, again.json.dump().c_str());
        QCOMPARE(again.json["checkpoint"]["weights"].get<std::string>(), weights.toStdString());
    }

    void otherImagesBringTheirOwnSplit()
    {
        drawClasses(folder("other"), 3, 8);
        drawClasses(folder("judged"), 3, 5);
        const QStringList other{"--data", text(folder("other")), "--set", "probe.epochs=1"};
        const auto cut = eval(other + QStringList{"--set", "probe.val_fraction=0.5"});
        QVERIFY2(cut.exitCode == 0, cut.json.dump().c_str());
        QCOMPARE(cut.json["data"]["val_images"].get<int>(), 12);
        QCOMPARE(cut.json["data"]["split"]["fraction"].get<double>(), 0.5);
        const auto separate = eval(other + QStringList{"--val-data", text(folder("judged")), "--set", "probe.limit=6"});
        QVERIFY2(separate.exitCode == 0, separate.json.dump().c_str());
        QCOMPARE(separate.json["data"]["train_images"].get<int>(), 6);
        QCOMPARE(separate.json["data"]["val_images"].get<int>(), 15);
        QCOMPARE(separate.json["data"]["split"]["kind"].get<std::string>(), std::string("separate source"));
        const auto same = eval(other + QStringList{"--val-data", text(folder("other"))});
        QVERIFY(same.json["warnings"].dump().find("training images too") != std::string::npos);
        const auto seen = eval({"--set", "probe.val_fraction=0.5", "--set", "probe.epochs=1"});
        QVERIFY(seen.json["warnings"].dump().find("The run trained") != std::string::npos);
    }

    void refusesWhatCannotBeJudged()
    {
        fs::create_directories(folder("flat"));
        for (const auto &entry : fs::directory_iterator(folder("images") / "class0"))
            fs::copy_file(entry.path(), folder("flat") / entry.path().filename());
        drawClasses(folder("two"), 2, 8);
        drawClasses(folder("three"), 3, 8);
        drawClasses(folder("lonely"), 2, 8);
        fs::create_directories(folder("lonely") / "rare");
        fs::copy_file(folder("two") / "class0" / "100.png", folder("lonely") / "rare" / "1.png");
        const auto says = [&](const QStringList &words, const std::vector<std::string> &parts) {
            const std::string message = refusal(eval(words));
            for (const auto &part : parts)
                if (message.find(part) == std::string::npos) return message.empty() ? std::string("not refused") : message;
            return std::string();
        };
        const auto data = [&](const char *name) { return QStringList{"--data", text(folder(name))}; };
        const auto val = [&](const char *name) { return QStringList{"--val-data", text(folder(name))}; };
        QCOMPARE(says(data("flat"), {"no labels", "one folder a class"}), std::string());
        QCOMPARE(says({"--set", "probe.val_fraction=0"}, {"no validation images", "probe.val_fraction", "--val-data"}),
                 std::string());
        QCOMPARE(says(data("lonely"), {"without a validation image: rare", "probe.missing_classes"}), std::string());
        QCOMPARE(says(data("three") + val("two"), {"without a validation image: class2"}), std::string());
        QCOMPARE(says(data("two") + val("three"), {"only validation images", "class2"}), std::string());
        QCOMPARE(says(data("nowhere"), {"nowhere", "--data"}), std::string());
        QCOMPARE(says(data("two") + val("flat"), {"no labels", "--val-data"}), std::string());
        QCOMPARE(says({"--epoch", "77"}, {"no checkpoint of epoch 77", "1, 2"}), std::string());
        QCOMPARE(says({"--device", "tpu"}, {"tpu", "--device"}), std::string());
        QCOMPARE(says({"--set", "probe.epoch=3"}, {"probe.epochs"}), std::string());
        QCOMPARE(says({"--set", "probe.lr="}, {"probe.lr"}), std::string());
        QCOMPARE(says({"--sett", "probe.epochs=3"}, {"--set"}), std::string());
        QCOMPARE(says({"--set", "probe.mode=finetune", "--set", "probe.lr=1e9"}, {"NaN or infinite", "--lr 1e+08"}),
                 std::string());
        const auto hidden = job({"eval", "--run", text(m_run->run.path()), "--device", "cuda"}, {"CUDA_VISIBLE_DEVICES="});
        QVERIFY(refusal(hidden).find("0 visible CUDA devices") != std::string::npos);
        QVERIFY(!fs::exists(m_run->run.evaluations()));

        const auto allowed =
            eval(data("lonely") + QStringList{"--set", "probe.missing_classes=true", "--set", "probe.epochs=1"});
        QVERIFY2(allowed.exitCode == 0, allowed.json.dump().c_str());
        QVERIFY(allowed.json["warnings"].dump().find("rare") != std::string::npos);
        QVERIFY(allowed.json["by_class"].back()["top1"].is_null());
    }

    void refusesARunThatHasNothing()
    {
        const WorkerRun empty(folder("empty"), smallConfig(folder("images")));
        QVERIFY(refusal(job({"eval", "--run", text(empty.run.path())})).find("no checkpoint") != std::string::npos);
        QVERIFY(refusal(job({"eval", "--run", text(folder("images"))})).find("not a run") != std::string::npos);
        const WorkerRun other(folder("wide"), with(smallConfig(folder("images")), {{"backbone.width", 0.25}}));
        const QString weights = text(folder("narrow.safetensors"));
        QCOMPARE(job({"export", "--run", text(m_run->run.path()), "--out", weights}).exitCode, 0);
        const auto mismatch = refusal(job({"eval", "--run", text(other.run.path()), "--weights", weights}));
        QVERIFY2(mismatch.find("shape") != std::string::npos && mismatch.find("narrow.safetensors") != std::string::npos,
                 mismatch.c_str());
    }

    void anInterruptedOneLeavesNothing()
    {
        QProcess process;
        process.start(worker(), {"eval", "--run", text(m_run->run.path()), "--set", "probe.epochs=100000"});
        process.setReadChannel(QProcess::StandardError);
        QByteArray told;
        while (!told.contains("\"curves\"")) {
            QVERIFY(process.waitForReadyRead(60'000));
            told += process.readAllStandardError();
        }
        ::kill(pid_t(process.processId()), SIGINT);
        QVERIFY(process.waitForFinished(30'000));
        QVERIFY(process.exitStatus() == QProcess::CrashExit);
        QVERIFY(!fs::exists(m_run->run.evaluations()) || fs::is_empty(m_run->run.evaluations()));
    }

    /// With the real worker behind it.
    void theCommandLineShowsAndListsIt()
    {
        const QString run = text(m_run->run.path());
        const auto [code, out] = parallax({"eval", run, "--epochs", "2", "--lr", "0.1,1", "--set", "probe.batch_size=16"});
        QVERIFY2(code == 0, out.constData());
        for (const char *part : {"Linear probe of the checkpoint of epoch 2: 48 images to learn from, 16 for validation",
                                 "    lr 0.1      lr 1\n", "best  ", "last  ", ".json\n"})
            QVERIFY2(out.contains(part), out.constData());
        runs::RunRecord record; // the test stands in for the supervisor, who writes it
        record.id = record.name = "run";
        record.state = runs::State::Finished;
        QVERIFY(record.save(m_run->run).ok());
        const auto [listed, show] = parallax({"show", run, "--json"});
        QCOMPARE(listed, 0);
        const Json json = Json::parse(show.toStdString(), nullptr, false);
        QCOMPARE(json["evaluations"].size(), std::size_t(1));
        QCOMPARE(json["evaluations"][0]["val_images"].get<int>(), 16);
        const auto [refused, message] = parallax({"eval", run, "--epochs", "0"});
        QCOMPARE(refused, 1);
        QVERIFY2(message.contains("probe.epochs"), message.constData());
        const auto [settings, schema] = parallax({"schema", "eval"});
        QCOMPARE(settings, 0);
        QVERIFY(schema.contains("probe.lr") && schema.contains("only with probe.mode = finetune"));
    }

private:
    fs::path folder(const std::string &name) const { return fs::path(m_dir.path().toStdString()) / name; }
    Answer eval(const QStringList &words) const
    {
        return job(QStringList{"eval", "--run", text(m_run->run.path())} + words);
    }
    std::pair<int, QByteArray> parallax(const QStringList &words) const
    {
        QProcess process;
        QStringList environment = QProcess::systemEnvironment();
        environment << "PARALLAX_WORKER=" + worker() << "XDG_CACHE_HOME=" + text(folder("cache"));
        process.setEnvironment(environment);
        process.setProcessChannelMode(QProcess::MergedChannels);
        process.start(QStringLiteral(PARALLAX_BIN_DIR "/parallax"), words);
        if (!process.waitForFinished(120'000) || process.exitStatus() != QProcess::NormalExit)
            return {-1, process.readAll()};
        return {process.exitCode(), process.readAll()};
    }

    QTemporaryDir m_dir;
    std::unique_ptr<WorkerRun> m_run;
};

QTEST_GUILESS_MAIN(TestEval)
#include "tst_eval.moc"
