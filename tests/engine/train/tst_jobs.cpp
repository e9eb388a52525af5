// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/base/atomicfile.h"
#include "core/embedding/store.h"
#include "core/engine/nn/weights.h"
#include "tests/engine/train/workerruns.h"

#include <QTemporaryDir>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <map>
#include <set>

using namespace parallax;
using namespace parallax::test;

namespace {

std::string what(const Answer &answer)
{
    return answer.exitCode == 1 && answer.json.contains("error") ? answer.json["error"].dump() : std::string();
}

} // namespace

class TestJobs : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase()
    {
        QVERIFY(m_dir.isValid());
        drawClasses(folder("images"), 4, 16);
    }

    void theSchemaIsWholeAndInOrder()
    {
        const auto answer = job({"schema"});
        QCOMPARE(answer.exitCode, 0);
        const auto schema = config::Schema::fromJson(answer.json);
        QVERIFY(schema.ok());
        std::vector<std::string> groups;
        for (const auto &group : schema->groups()) groups.push_back(group.name);
        QCOMPARE(groups,
                 (std::vector<std::string>{"data", "augment", "method", "backbone", "optim", "train", "distributed", "eval",
                                           "checkpoint", "output"}));
        QVERIFY(schema->find("method.temperature", {}) != nullptr);
        for (const auto &field : schema->fields()) {
            QVERIFY2(!field.label.empty() && !field.help.empty(), field.key.c_str()); // the form and the manual show them
            QVERIFY2(!schema->checkValue(field, field.defaultValue), field.key.c_str());
        }
    }

    void methodsAndDevicesSayWhatThereIs()
    {
        const auto methods = job({"methods"});
        QCOMPARE(methods.exitCode, 0);
        QVERIFY(std::any_of(methods.json.begin(), methods.json.end(),
                            [](const Json &m) { return m["name"] == "simclr" && !m["options"].empty(); }));
        const auto devices = job({"devices"});
        QCOMPARE(devices.exitCode, 0);
        QVERIFY(devices.json["torch"].get<std::string>().starts_with("2."));
        QVERIFY(devices.json["cpu_cores"].get<int>() >= 1);
        if (devices.json["devices"].empty()) QVERIFY(!devices.json["cuda_error"].get<std::string>().empty());
    }

    void aPlanShowsWhatWillRun()
    {
        const auto answer =
            job({"plan", "--config", write(with(smallConfig(folder("images")), {{"distributed.ranks", 2}}))});
        QCOMPARE(answer.exitCode, 0);
        QCOMPARE(answer.json["images"].get<int>(), 48);
        QCOMPARE(answer.json["val_images"].get<int>(), 16);
        QCOMPARE(answer.json["classes"].size(), std::size_t(4));
        QCOMPARE(answer.json["steps"].get<int>(), 6);
        QCOMPARE(answer.json["batch_per_rank"].get<std::vector<int>>(), (std::vector<int>{8, 8}));
        QCOMPARE(answer.json["devices"].get<std::vector<std::string>>(), (std::vector<std::string>{"cpu", "cpu"}));
        QVERIFY(answer.json["parameters"].get<int>() > 1000);
        QCOMPARE(answer.json["features"].get<int>(), 64);
    }

    void aPlanRefusesBeforeAnythingIsMade()
    {
        const auto refused = [&](const std::string &key, const Json &value) {
            return what(job({"plan", "--config", write(with(smallConfig(folder("images")), {{key, value}}))}));
        };
        QVERIFY(refused("train.batch_size", 1000).find("larger than the 48") != std::string::npos);
        QVERIFY(refused("data.source", folder("nowhere").string()).find("nowhere") != std::string::npos);
        QVERIFY(refused("train.batchsize", 8).find("batch_size") != std::string::npos);
        QVERIFY(refused("method.name", "simclear").find("simclr") != std::string::npos);
        Json uncut = smallConfig(folder("images"));
        uncut["backbone"] = {{"name", "vit_tiny"}, {"patch_size", 7}};
        QVERIFY(what(job({"plan", "--config", write(uncut)})).find("augment.size to 14 or 21") != std::string::npos);
        QVERIFY(refused("augment.mean", Json::array({0.5, 0.5})).find("augment.mean") != std::string::npos);
        QVERIFY(what(job({"plan"})).find("--config is missing") != std::string::npos);
        QVERIFY(what(job({"plan", "--confg", "x"})).find("--config") != std::string::npos);
        QVERIFY(what(job({"plam"})).find("plan") != std::string::npos);
    }

    void devicesHiddenFromCudaAreNotThere()
    {
        const QString config = write(with(smallConfig(folder("images")), {{"distributed.device", "cuda"}}));
        for (const char *visible : {"CUDA_VISIBLE_DEVICES=", "CUDA_VISIBLE_DEVICES=-1"})
            QVERIFY(what(job({"plan", "--config", config}, {visible})).find("there is no CUDA device") != std::string::npos);
    }

    void checkAndPreviewReadTheData()
    {
        const QString config = write(smallConfig(folder("images")));
        const auto check = job({"check", "--config", config});
        QCOMPARE(check.exitCode, 0);
        QCOMPARE(check.json["count"].get<int>(), 64);
        const auto stats = job({"stats", "--config", config});
        QCOMPARE(stats.exitCode, 0);
        QCOMPARE(stats.json["images"].get<int>(), 48);
        for (const double value : stats.json["std"]) QVERIFY(value > 0.05 && value < 0.5);
        const QString out = QString::fromStdString(folder("preview").string());
        const auto preview = job({"preview", "--config", config, "--images", "2", "--epochs", "2", "--out", out});
        QCOMPARE(preview.exitCode, 0);
        QCOMPARE(preview.json["images"].size(), std::size_t(2));
        std::set<std::string> digests; // 2 images, 2 epochs, 2 views: all different
        for (const auto &image : preview.json["digests"])
            for (const auto &epoch : image)
                for (const auto &view : epoch) digests.insert(view.get<std::string>());
        QCOMPARE(digests.size(), std::size_t(8));
        QVERIFY(
            QFile::exists(out + '/' + QString::fromStdString(preview.json["images"][0]["views"][0][0].get<std::string>())));
        const auto again = job({"preview", "--config", config, "--images", "2", "--epochs", "2", "--out", out});
        QVERIFY(again.json["digests"] == preview.json["digests"]);
    }

    void aRunIsMeasuredEmbeddedAndExported()
    {
        WorkerRun run(folder("run"),
                      with(smallConfig(folder("images")),
                           {{"eval.untrained", true}, {"output.embed_at_end", true}, {"output.embed_limit", 40}}));
        // As made by hand for torchrun: nothing but config.json.
        std::filesystem::remove_all(run.run.checkpoints());
        std::filesystem::remove_all(run.run.embeddings());
        QCOMPARE(run.train(1), std::vector<int>{0});
        QVERIFY(!run.run.listCheckpoints().empty());
        const auto evals = run.events("eval");
        QCOMPARE(evals.size(), std::size_t(3)); // untrained, and after both epochs
        QCOMPARE(evals[0].epoch, 0.0);
        QCOMPARE(evals[0].step, std::int64_t(0));
        QCOMPARE(evals[1].epoch, 1.0);
        std::int64_t step = 0; // measuring the untrained network takes no other figure back in time
        for (const auto &memory : run.events("memory")) {
            QVERIFY(memory.step >= step);
            step = memory.step;
        }
        for (const auto &eval : evals) {
            const double top1 = *runs::figure(eval.fields["knn_top1"]);
            QVERIFY(top1 >= 0 && top1 <= 1);
            QCOMPARE(eval.fields["k"].get<int>(), 5);
            QCOMPARE(eval.fields["bank"].get<int>(), 48);
            QCOMPARE(eval.fields["queries"].get<int>(), 16);
        }
        const auto stored = embedding::Store::open(run.run.embeddings(2));
        QVERIFY2(stored.ok(), stored ? "" : stored.error().message().c_str());
        QCOMPARE(stored->meta().count, std::int64_t(40));
        QCOMPARE(stored->meta().dim, std::int64_t(64));
        QVERIFY(!run.events("embedding").empty());

        const QString path = QString::fromStdString(run.run.path().string()),
                      file = QString::fromStdString(folder("backbone.safetensors").string());
        const auto exported = job({"export", "--run", path, "--out", file});
        QCOMPARE(exported.exitCode, 0);
        const auto tensors = runs::SafetensorsFile::open(file.toStdString());
        QVERIFY(tensors.ok());
        QVERIFY(tensors->tensors().contains("conv1.weight") && tensors->tensors().contains("layer4.1.bn2.running_var"));
        const auto again = job({"embed", "--run", path, "--weights", file, "--epoch", "9", "--limit", "40"});
        QCOMPARE(again.exitCode, 0);
        const auto same = embedding::Store::open(run.run.embeddings(9));
        QVERIFY(same.ok());
        double difference = 0; // rounding alone: the layout in memory need not be the trainer's
        for (std::size_t i = 0; i < 40 * 64; ++i)
            difference = std::max(difference, std::abs(double(same->vectors()[i]) - double(stored->vectors()[i])));
        QVERIFY2(difference < 1e-4, qPrintable(QString::number(difference)));
        QVERIFY(what(job({"embed", "--run", path, "--epoch", "77"})).find("no checkpoint of epoch 77") != std::string::npos);
        QVERIFY(what(job({"embed", "--run", QString::fromStdString(folder("images").string())})).find("not a run") !=
                std::string::npos);
        warnsOfUselessWeights(path, *tensors);
        embedsStrangeNames(path);
    }

    void anyNumberOfRanksAgreesOnThisMachine_data()
    {
        QTest::addColumn<QString>("method");
        for (const char *method : {"simclr", "swav", "mae"}) QTest::newRow(method) << QString::fromLatin1(method);
    }
    void anyNumberOfRanksAgreesOnThisMachine()
    {
        QFETCH(QString, method);
        const auto answer = job({"selftest", "--method", method, "--steps", "3"});
        QVERIFY2(answer.exitCode == 0, answer.json.dump().c_str());
        QVERIFY2(answer.json["ok"].get<bool>(), answer.json.dump().c_str());
        QCOMPARE(answer.json["rows"].size(), std::size_t(2));
        for (const int i : {0, 1}) {
            const auto &row = answer.json["rows"][std::size_t(i)];
            QCOMPARE(row["method"].get<std::string>(), method.toStdString());
            QCOMPARE(row["ranks"].get<int>(), i == 0 ? 2 : 4);
            QVERIFY(row["loss_difference"].get<double>() < 1e-9 && row["weight_difference"].get<double>() < 1e-9);
            // Ranks add up in another order: were they all bit for bit alike, nothing would have been compared.
            QVERIFY(row["weight_difference"].get<double>() > 0);
        }
    }

    void theSelftestRefusesWhatItCannotDo()
    {
        QVERIFY(what(job({"selftest", "--method", "simclear"})).find("Did you mean simclr") != std::string::npos);
        QVERIFY(what(job({"selftest", "--ranks", "2,x"})).find("--ranks takes") != std::string::npos);
        QVERIFY(what(job({"selftest", "--device", "tpu"})).find("cpu or cuda") != std::string::npos);
        QVERIFY(what(job({"selftest", "--device", "cuda"}, {"CUDA_VISIBLE_DEVICES="})).find("there is no CUDA device") !=
                std::string::npos);
    }

    void aRankThatDiesOrHangsEndsTheSelftestWithItsName_data()
    {
        QTest::addColumn<int>("signal");
        QTest::addColumn<QString>("fault");
        QTest::newRow("dies") << SIGKILL << "simclr: rank 1 of 2 was ended by SIGKILL";
        QTest::newRow("hangs") << SIGSTOP << "simclr: rank 1 of 2 hangs";
    }
    void aRankThatDiesOrHangsEndsTheSelftestWithItsName()
    {
        QFETCH(int, signal);
        QFETCH(QString, fault);
        QProcess selftest;
        selftest.start(worker(), {"selftest", "--method", "simclr", "--ranks", "2", "--steps", "200", "--timeout", "10"});
        QVERIFY(selftest.waitForStarted());
        std::map<int, qint64> ranks;
        QTRY_VERIFY_WITH_TIMEOUT((ranks = ranksOf(selftest.processId())).size() == 2, 120'000);
        QCOMPARE(::kill(pid_t(ranks.at(1)), signal), 0);
        QVERIFY(selftest.waitForFinished(120'000));
        const auto answer = Json::parse(selftest.readAllStandardOutput().toStdString(), nullptr, false);
        QVERIFY2(!answer.is_discarded() && answer.contains("error"), answer.dump().c_str());
        QCOMPARE(QString::fromStdString(answer["error"]["what"].get<std::string>()), fault);
        QVERIFY(ranksOf(selftest.processId()).empty()); // none is left behind
        for (const auto &[rank, pid] : ranks) QVERIFY(!QFile::exists(QStringLiteral("/proc/%1").arg(pid)));
    }

private:
    /// Process ids by rank of the training processes that this one has started.
    static std::map<int, qint64> ranksOf(qint64 parent)
    {
        std::map<int, qint64> ranks;
        QFile children(QStringLiteral("/proc/%1/task/%1/children").arg(parent));
        if (!children.open(QIODevice::ReadOnly)) return ranks;
        for (const QByteArray &child : children.readAll().split(' ')) {
            QFile command(QStringLiteral("/proc/%1/cmdline").arg(QString::fromLatin1(child.trimmed())));
            if (child.trimmed().isEmpty() || !command.open(QIODevice::ReadOnly)) continue;
            const auto words = command.readAll().split('\0');
            const auto place = words.indexOf("--rank");
            if (place > 0) ranks[words.value(place + 1).toInt()] = child.trimmed().toLongLong();
        }
        return ranks;
    }

    void warnsOfUselessWeights(const QString &run, const runs::SafetensorsFile &good)
    {
        for (const auto &[value, word] : {std::pair{std::nan(""), "NaN"}, std::pair{0.0, "all zero"}}) {
            nn::NamedTensors tensors;
            for (const auto &name : good.names()) tensors.emplace_back(name, *nn::readTensor(good, name));
            for (auto &[name, tensor] : tensors)
                if (tensor.is_floating_point()) tensor.fill_(value);
            const auto file = folder("useless.safetensors");
            QVERIFY(nn::saveTensors(file, tensors).ok());
            const auto answer =
                job({"embed", "--run", run, "--weights", QString::fromStdString(file.string()), "--epoch", "8"});
            QCOMPARE(answer.exitCode, 0);
            QVERIFY2(answer.json["warnings"].dump().find(word) != std::string::npos, answer.json.dump().c_str());
        }
    }

    /// File names with line breaks, tabs and quotes; equal base names in two classes keep their own pictures.
    void embedsStrangeNames(const QString &run)
    {
        const std::vector<std::string> names{"plain/0.png", "#hash/0.png", "plain/line\nbreak.png", "plain/tab\tin.png",
                                             "#hash/\"quoted\", comma.png"};
        const std::vector<cv::Scalar> colours{{0, 0, 255}, {0, 255, 0}, {255, 0, 0}, {0, 255, 255}, {255, 0, 255}};
        const auto strange = folder("strange");
        std::map<std::string, cv::Scalar> expected;
        for (std::size_t i = 0; i < names.size(); ++i) {
            std::filesystem::create_directories((strange / names[i]).parent_path());
            cv::imwrite((strange / names[i]).string(), cv::Mat(16, 16, CV_8UC3, colours[i]));
            expected[names[i]] = colours[i];
        }
        // A picture cut short must be left out, not stand there with a neighbour's features.
        const auto whole = readFile(strange / names[0]);
        QVERIFY(whole.ok());
        QVERIFY(writeFileAtomic(strange / "plain/broken.png", std::string_view(*whole).substr(0, whole->size() / 2)).ok());
        const auto answer = job({"embed", "--run", run, "--epoch", "2", "--data", QString::fromStdString(strange.string())});
        QVERIFY2(answer.exitCode == 0, answer.json.dump().c_str());
        QCOMPARE(answer.json["unreadable"].get<int>(), 1);
        QVERIFY(!answer.json["warnings"].empty());
        const auto store = embedding::Store::open(answer.json["folder"].get<std::string>());
        QVERIFY(store.ok());
        QCOMPARE(store->items().size(), names.size());
        for (std::size_t i = 0; i < names.size(); ++i) {
            const auto &item = store->items()[i];
            QVERIFY2(expected.contains(item.path), item.path.c_str());
            QCOMPARE(store->meta().classes.at(std::size_t(item.label)), item.path.substr(0, item.path.find('/')));
            const cv::Mat atlas = cv::imread(store->thumbFile(std::int64_t(i)).string());
            const auto [x, y] = store->thumbOrigin(std::int64_t(i));
            const cv::Vec3b middle = atlas.at<cv::Vec3b>(y + 24, x + 24);
            QCOMPARE(cv::Scalar(middle[0], middle[1], middle[2]), expected[item.path]);
        }
    }

    std::filesystem::path folder(const std::string &name) const
    {
        return std::filesystem::path(m_dir.path().toStdString()) / name;
    }
    QString write(const Json &config)
    {
        const auto file = folder("config-" + std::to_string(++m_files) + ".json");
        if (!writeFileAtomic(file, config.dump())) qFatal("cannot write the configuration");
        return QString::fromStdString(file.string());
    }
    QTemporaryDir m_dir;
    int m_files = 0;
};

QTEST_GUILESS_MAIN(TestJobs)
#include "tst_jobs.moc"
