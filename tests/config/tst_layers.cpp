// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "sample.h"

#include <QTest>

using namespace parallax;
using config::Json;
using config::Layer;

class Layers : public QObject
{
    Q_OBJECT

private:
    const config::Schema m_schema = sample::schema();

    Result<Json> resolve(const std::vector<Layer> &layers, const std::vector<std::string> &assignments = {}) const
    {
        return config::resolve(m_schema, layers, assignments);
    }
    static Layer layer(const char *origin, const char *json) { return {origin, Json::parse(json)}; }

private Q_SLOTS:
    void laterLayersWin()
    {
        const auto resolved = resolve({layer("preset demo", R"({"train": {"epochs": 5, "batch_size": 64}})"),
                                       layer("config.json", R"({"train": {"epochs": 6}})")},
                                      {"train.batch_size=32", "optim.lr=0.5", "data.path=/a b=c"});
        QVERIFY2(resolved, resolved ? "" : resolved.error().message().c_str());
        QCOMPARE((*resolved)["train"].dump(), std::string(R"({"epochs":6,"batch_size":32})"));
        QCOMPARE((*resolved)["data"]["path"].get<std::string>(), std::string("/a b=c"));
        QCOMPARE((*resolved)["method"].dump(), std::string(R"({"name":"simclr","temperature":0.5})"));
        QVERIFY(resolve({}));
    }

    void anotherMethodDropsTheOptionsOfTheFormer()
    {
        const Layer preset = layer("preset demo", R"({"method": {"name": "simclr", "temperature": 0.2}})");
        const auto byol = resolve({preset}, {"method.name=byol"});
        QVERIFY2(byol, byol ? "" : byol.error().message().c_str());
        QCOMPARE((*byol)["method"].dump(), std::string(R"({"name":"byol","tau":0.99})"));

        // MoCo has a temperature of its own: the preset's was chosen for SimCLR.
        const auto moco = resolve({preset, layer("config.json", R"({"method": {"name": "moco"}})")});
        QVERIFY(moco);
        QCOMPARE((*moco)["method"]["temperature"].get<double>(), 0.07);

        const auto same = resolve({preset}, {"method.name=simclr"});
        QCOMPARE((*same)["method"]["temperature"].get<double>(), 0.2);
    }

    void casesFollowWhatIsChosenInTheEnd()
    {
        const Layer preset = layer("preset", R"({"train": {"epochs": 5}, "cases": {"method.name": {
            "simclr|moco": {"train": {"batch_size": 64}, "method": {"temperature": 0.3}},
            "byol": {"train": {"epochs": 9}, "method": {"tau": 0.5}}}}})");
        const auto plain = resolve({preset});
        QVERIFY2(plain, plain ? "" : plain.error().message().c_str());
        QCOMPARE((*plain)["train"]["batch_size"].get<int>(), 64);
        QCOMPARE((*plain)["method"]["temperature"].get<double>(), 0.3);
        QVERIFY(!plain->contains("cases"));
        const auto byol = resolve({preset}, {"method.name=byol"});
        QVERIFY2(byol, byol ? "" : byol.error().message().c_str());
        QCOMPARE((*byol)["train"]["epochs"].get<int>(), 9);
        QCOMPARE((*byol)["method"]["tau"].get<double>(), 0.5);
        // Every method has a temperature of its own by the same key.
        const auto moco =
            resolve({layer("preset", R"({"cases": {"method.name": {"moco": {"method": {"temperature": 0.2}}}}})")},
                    {"method.name=moco"});
        QVERIFY2(moco, moco ? "" : moco.error().message().c_str());
        QCOMPARE((*moco)["method"]["temperature"].get<double>(), 0.2);
        // What comes later wins over the case, and may choose it.
        const auto later =
            resolve({preset, layer("config.json", R"({"method": {"name": "byol"}, "train": {"epochs": 2}})")});
        QCOMPARE((*later)["train"]["epochs"].get<int>(), 2);
        QCOMPARE((*later)["method"]["tau"].get<double>(), 0.5);
        const auto wrong = resolve({layer("preset", R"({"cases": {"method.name": {"simclr": {"train": {"epoch": 1}}}}})")});
        QVERIFY(!wrong);
        QVERIFY2(wrong.error().message().find("preset for simclr") != std::string::npos, wrong.error().message().c_str());
        for (const char *text :
             {R"({"cases": 3})", R"({"cases": {"method.title": {}}})", R"({"cases": {"train.epochs": {}}})",
              R"({"cases": {"method.name": {"simclr|byoll": {}}}})"})
            QVERIFY2(!resolve({layer("preset", text)}), text);
    }

    void optionsForALaterMethodCount()
    {
        const auto resolved = resolve({layer("config.json", R"({"method": {"tau": 0.9}})")}, {"method.name=byol"});
        QVERIFY2(resolved, resolved ? "" : resolved.error().message().c_str());
        QCOMPARE((*resolved)["method"]["tau"].get<double>(), 0.9);
        QCOMPARE((*resolve({}, {"method.tau=0.8", "method.name=byol"}))["method"]["tau"].get<double>(), 0.8);
    }

    void optionsOfAnotherMethodInTheSameLayerAreErrors()
    {
        const auto wrong = resolve({layer("config.json", R"({"method": {"name": "byol", "temperature": 0.5}})")});
        QVERIFY(!wrong);
        const std::string message = wrong.error().message();
        for (const char *part : {"config.json", "method.temperature = 0.5", "belongs to simclr, moco"})
            QVERIFY2(message.find(part) != std::string::npos, message.c_str());
        QVERIFY(!resolve({layer("config.json", R"({"method": {"name": "byol"}})")}, {"method.temperature=0.5"}));
        QVERIFY(!resolve({layer("config.json", R"({"method": {"queue": 5}})")})); // MoCo's, but nobody chose MoCo
    }

    void droppedOptionsAreStillChecked()
    {
        QVERIFY(
            !resolve({layer("preset demo", R"({"method": {"name": "simclr", "temperature": -1}})")}, {"method.name=byol"}));
    }

    void allLayersReportAtOnce()
    {
        const auto wrong = resolve({layer("preset demo", R"({"optim": {"lr": -1}})"),
                                    layer("config.json", R"({"train": {"batchsize": 8}, "lr": 3, "optim.lr": 4})")},
                                   {"train.epochs=many", "train.epoch=3", "nonsense", "=3"});
        QVERIFY(!wrong);
        const QStringList lines = QString::fromStdString(wrong.error().message()).split('\n');
        QCOMPARE(lines.size(), 8);
        QVERIFY(lines[0].startsWith("preset demo: optim.lr = -1"));
        for (const QString &line : lines.mid(1, 3)) QVERIFY2(line.startsWith("config.json: "), qPrintable(line));
        QVERIFY2(lines[4].startsWith("--set train.epochs=many: train.epochs"), qPrintable(lines[4]));
        QVERIFY2(lines[5].contains("Did you mean train.epochs?"), qPrintable(lines[5]));
        QVERIFY2(lines[6].contains("group.key=value"), qPrintable(lines[6]));
    }

    void aDecimalCommaIsExplained()
    {
        const auto wrong = resolve({}, {"optim.lr=0,05"});
        QVERIFY(!wrong);
        QVERIFY2(wrong.error().message().find("Write the decimal point as a point: 0.05") != std::string::npos,
                 wrong.error().message().c_str());
    }

    void aBadMethodIsOneError()
    {
        const auto wrong =
            resolve({layer("preset demo", R"({"method": {"name": "simclr", "temperature": 0.2}})")}, {"method.name=simcrl"});
        QVERIFY(!wrong);
        const std::string message = wrong.error().message();
        QVERIFY2(message.find('\n') == std::string::npos, message.c_str());
        QVERIFY2(message.find("Did you mean simclr?") != std::string::npos, message.c_str());
    }
};

QTEST_GUILESS_MAIN(Layers)
#include "tst_layers.moc"
