// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/runs/evaluation.h"

#include "core/base/atomicfile.h"

#include <QTemporaryDir>
#include <QTest>

#include <set>

using namespace parallax;
using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

namespace {

Json document(double top1)
{
    return {{"mode", "linear"},
            {"checkpoint", {{"epoch", 5}}},
            {"data", {{"val_images", 40}}},
            {"lr", 0.1},
            {"best", {{"epoch", 3}, {"top1", top1}, {"top5", 1.0}}},
            {"last", {{"epoch", 4}, {"top1", 0.5}, {"top5", 0.9}}}};
}

Status someWeights(const fs::path &file) { return writeFileAtomic(file, "weights"); }

} // namespace

class TestEvaluation : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init() { m_dir = std::make_unique<QTemporaryDir>(); }

    void nothingIsOverwritten()
    {
        QVERIFY(run().listEvaluations().empty());
        QVERIFY(runs::readEvaluations(run()).empty());
        std::set<fs::path> files;
        for (const double top1 : {0.6, 0.7, 0.8}) { // within one second, most likely
            const auto file = runs::storeEvaluation(run(), "linear", document(top1), someWeights);
            QVERIFY2(file.ok(), file ? "" : file.error().message().c_str());
            QVERIFY(files.insert(*file).second);
            const auto stored = Json::parse(*readFile(*file));
            QVERIFY(fs::exists(run().evaluations() / stored["weights"]["file"].get<std::string>()));
        }
        const auto all = runs::readEvaluations(run());
        QCOMPARE(all.size(), std::size_t(3));
        std::multiset<double> best;
        for (const auto &evaluation : all) {
            best.insert(evaluation.best.top1);
            QCOMPARE(evaluation.mode, std::string("linear"));
            QCOMPARE(evaluation.checkpointEpoch, std::int64_t(5));
            QCOMPARE(evaluation.images, std::int64_t(40));
            QVERIFY(evaluation.last == (runs::Evaluation::Score{4, 0.5, 0.9}));
            QCOMPARE(evaluation.toJson()["best"]["epoch"].get<int>(), 3);
        }
        QCOMPARE(best, (std::multiset<double>{0.6, 0.7, 0.8}));
    }

    void aFailedWriteLeavesNothing()
    {
        const auto file = runs::storeEvaluation(run(), "finetune", document(1), [](const fs::path &) -> Status {
            return Error{"no room", {}, {}};
        });
        QVERIFY(!file.ok());
        QVERIFY(fs::is_empty(run().evaluations()));
        fs::remove(run().evaluations());
        QVERIFY(writeFileAtomic(run().evaluations(), "a file").ok());
        const auto none = runs::storeEvaluation(run(), "finetune", document(1), someWeights);
        QVERIFY(!none.ok() && none.error().message().find("evals") != std::string::npos);
    }

    void whatIsNoEvaluationIsPassedOver()
    {
        QVERIFY(runs::storeEvaluation(run(), "linear", document(0.6), someWeights).ok());
        auto lacking = document(0.7);
        lacking["best"].erase("top5");
        const std::vector<std::pair<const char *, std::string>> files{
            {"20260101T000000Z-linear.json", lacking.dump()}, {"20260102T000000Z-linear.json", "{\"mode\": \"lin"},
            {"20260103T000000Z-linear.json", "[]"},           {"20260104T000000Z-linear.json", R"({"mode": 3})"},
            {".20260105T000000Z-linear.json.7.tmp", "{}"},    {"20260106T000000Z-linear.safetensors", "alone"}};
        for (const auto &[name, text] : files) QVERIFY(writeFileAtomic(run().evaluations() / name, text).ok());
        QCOMPARE(runs::readEvaluations(run()).size(), std::size_t(1));
    }

private:
    runs::RunFolder run() const { return runs::RunFolder(m_dir->path().toStdString()); }
    std::unique_ptr<QTemporaryDir> m_dir;
};

QTEST_GUILESS_MAIN(TestEvaluation)
#include "tst_evaluation.moc"
