// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "sample.h"

#include <QTest>

#include <limits>

using namespace parallax;
using config::Json;

class SchemaTest : public QObject
{
    Q_OBJECT

private:
    const config::Schema m_schema = sample::schema();

    const config::Field &field(const std::string &key) const { return *m_schema.find(key, Json::object()); }

private Q_SLOTS:
    void defaultsComeFromTheStructs()
    {
        const Json whole = m_schema.complete(Json::object());
        QCOMPARE(whole.dump(),
                 std::string(
                     R"({"data":{"path":"","limit":0,"mean":[0.5],"skip":[]},"method":{"name":"simclr","temperature":0.5},)"
                     R"("optim":{"lr":0.06,"momentum":0.9,"nesterov":false,"milestones":[],"schedule":"cosine"},)"
                     R"("train":{"epochs":10,"batch_size":256}})"));
        QVERIFY(m_schema.check(whole).empty());
        QVERIFY(m_schema.changes(whole).empty());
    }

    void structsReadWhatIsThere()
    {
        const Json config = Json::parse(
            R"({"optim": {"lr": 1, "milestones": [3, 5], "schedule": "constant"}, "data": {"mean": [0, 1], "skip": ["a"]}})");
        QVERIFY(m_schema.check(config).empty());
        const auto optim = config::read<sample::OptimConfig>(config, "optim");
        QCOMPARE(optim.lr, 1.0);
        QCOMPARE(optim.momentum, 0.9);
        QCOMPARE(optim.milestones, (std::vector<std::int64_t>{3, 5}));
        QCOMPARE(optim.schedule, std::string("constant"));
        QCOMPARE(config::read<sample::DataConfig>(config, "data").skip, std::vector<std::string>{"a"});
        QCOMPARE(m_schema.complete(config)["optim"]["lr"].dump(), std::string("1.0")); // a Float is written as one
    }

    void changesAreWhatDiffers()
    {
        const Json config =
            Json::parse(R"({"method": {"name": "moco", "temperature": 0.07, "queue": 10}, "train": {"epochs": 10}})");
        QCOMPARE(m_schema.changes(m_schema.complete(config)).dump(),
                 std::string(R"({"method":{"name":"moco","queue":10}})"));
    }

    /// data.cache was true or false before it was a choice: runs of that time resume.
    void aFormerSwitchIsRead()
    {
        config::Field cache;
        cache.key = "data.cache";
        cache.type = config::Type::String;
        cache.defaultValue = "memory";
        cache.choices = {{"memory", {}, {}, {}}, {"disk", {}, {}, {}}, {"off", {}, {}, {}}};
        config::Schema schema;
        schema.add(cache);
        for (const auto &[text, expected] : {std::pair{"true", "memory"}, {"false", "off"}, {"\"disk\"", "disk"}}) {
            const Json config = Json::parse(R"({"data": {"cache": )" + std::string(text) + "}}");
            QVERIFY(schema.check(config).empty());
            QCOMPARE(schema.complete(config)["data"]["cache"].get<std::string>(), std::string(expected));
            const auto resolved = config::resolve(schema, {{"a run of before", config}}, {});
            QVERIFY(resolved.ok());
            QCOMPARE((*resolved)["data"]["cache"].get<std::string>(), std::string(expected));
        }
        QVERIFY(!schema.check(Json::parse(R"({"data": {"cache": 1}})")).empty());
        schema = config::Schema();
        cache.choices = {{"memory", {}, {}, {}}};
        schema.add(cache); // no switch: it has no "off"
        QVERIFY(!schema.check(Json::parse(R"({"data": {"cache": true}})")).empty());
    }

    void wrongValues_data()
    {
        QTest::addColumn<QString>("config");
        QTest::addColumn<QString>("key");
        QTest::addColumn<QString>("says");
        QTest::addColumn<QString>("allowed");
        const auto row = [](const char *config, const char *key, const char *says, const char *allowed) {
            QTest::newRow(config) << config << key << says << allowed;
        };
        row(R"({"optim": {"lr": "0.1"}})", "optim.lr", "wrong type", "a number above 0 and at most 100");
        row(R"({"optim": {"lr": 0}})", "optim.lr", "only what lies above", "a number above 0 and at most 100");
        row(R"({"optim": {"lr": 101}})", "optim.lr", "above the largest", "a number above 0 and at most 100");
        row(R"({"optim": {"momentum": -0.5}})", "optim.momentum", "below the smallest", "a number from 0 to 1");
        row(R"({"optim": {"momentum": null}})", "optim.momentum", "wrong type", "a number from 0 to 1");
        row(R"({"optim": {"nesterov": 1}})", "optim.nesterov", "wrong type", "true or false");
        row(R"({"optim": {"milestones": 3}})", "optim.milestones", "wrong type",
            "a list of whole numbers, each of at least 1");
        row(R"({"optim": {"milestones": [3, 0]}})", "optim.milestones", "holds 0",
            "a list of whole numbers, each of at least 1");
        row(R"({"optim": {"schedule": "cosin"}})", "optim.schedule", "none of the choices", "one of: cosine, constant");
        row(R"({"train": {"epochs": 3.5}})", "train.epochs", "not a whole number", "a whole number of at least 1");
        row(R"({"train": {"epochs": 3.0}})", "train.epochs", "not a whole number", "a whole number of at least 1");
        row(R"({"train": {"epochs": 18446744073709551615}})", "train.epochs", "too large", "a whole number of at least 1");
        row(R"({"data": {"mean": [0.5, 2]}})", "data.mean", "holds 2", "a list of numbers, each from 0 to 1");
        row(R"({"data": {"skip": [1]}})", "data.skip", "wrong type", "a list of texts");
        row(R"({"data": {"path": 3}})", "data.path", "wrong type", "text");
        row(R"({"optim": [1, 2]})", "optim", "is a group", "an object");
        row(R"([])", "the configuration", "not an object", "group");
    }
    void wrongValues()
    {
        QFETCH(QString, config);
        QFETCH(QString, key);
        QFETCH(QString, says);
        QFETCH(QString, allowed);
        const auto issues = m_schema.check(Json::parse(config.toStdString()));
        QCOMPARE(issues.size(), std::size_t(1));
        QCOMPARE(QString::fromStdString(issues[0].key), key);
        QVERIFY2(QString::fromStdString(issues[0].what).contains(says), issues[0].what.c_str());
        QVERIFY2(QString::fromStdString(issues[0].allowed).contains(allowed), issues[0].allowed.c_str());
        QVERIFY(issues[0].message().find(issues[0].key) == 0);
    }

    void unknownKeysNameWhatWasMeant_data()
    {
        QTest::addColumn<QString>("config");
        QTest::addColumn<QString>("meant");
        QTest::newRow("misspelt") << R"({"train": {"batchsize": 8}})"
                                  << "train.batch_size";
        QTest::newRow("another group") << R"({"optim": {"batch_size": 8}})"
                                       << "train.batch_size";
        QTest::newRow("another group, misspelt") << R"({"optim": {"batch_sise": 8}})"
                                                 << "train.batch_size";
        QTest::newRow("top level") << R"({"batch_size": 8})"
                                   << "train.batch_size";
        QTest::newRow("group misspelt") << R"({"traim": {}})"
                                        << "train";
        QTest::newRow("group's case") << R"({"Data": {}})"
                                      << "data";
        QTest::newRow("choice") << R"({"method": {"name": "simcrl"}})"
                                << "simclr";
        QTest::newRow("nothing alike") << R"({"optim": {"zzzzzzzz": 8}})"
                                       << "";
    }
    void unknownKeysNameWhatWasMeant()
    {
        QFETCH(QString, config);
        QFETCH(QString, meant);
        const auto issues = m_schema.check(Json::parse(config.toStdString()));
        QCOMPARE(issues.size(), std::size_t(1));
        QCOMPARE(QString::fromStdString(issues[0].nearest), meant);
        if (!meant.isEmpty()) QVERIFY(issues[0].message().find("Did you mean " + meant.toStdString()) != std::string::npos);
    }

    void allErrorsComeAtOnce()
    {
        const auto issues =
            m_schema.check(Json::parse(R"({"optim": {"lr": -1, "momentumm": 0.9}, "traim": {}, "train": {"epochs": "x"}})"));
        QCOMPARE(issues.size(), std::size_t(4));
    }

    void optionsOfAnotherMethodAreForeign()
    {
        const auto issues = m_schema.check(Json::parse(R"({"method": {"name": "byol", "temperature": 0.5}})"));
        QCOMPARE(issues.size(), std::size_t(1));
        QVERIFY2(issues[0].what.find("belongs to simclr, moco") != std::string::npos, issues[0].what.c_str());
        // A wrong method is reported alone: nobody can say which options go with it.
        QCOMPARE(m_schema.check(Json::parse(R"({"method": {"name": "x", "temperature": 0.5}})")).size(), std::size_t(1));
        QCOMPARE(m_schema.check(Json::parse(R"({"method": {"name": 3, "tau": 0.5}})")).size(), std::size_t(1));
    }

    void valuesAreReadAsTheFieldsType()
    {
        const auto parse = [&](const char *key, const char *text) {
            const auto value = m_schema.parseValue(field(key), text);
            return value ? value->dump() : std::string("refused");
        };
        QCOMPARE(parse("optim.lr", " 0.05 "), std::string("0.05"));
        QCOMPARE(parse("optim.lr", "1"), std::string("1.0"));
        for (const char *bad : {"0,05", "", "nan", "inf", "0.1x", "1e999"})
            QCOMPARE(parse("optim.lr", bad), std::string("refused"));
        QCOMPARE(parse("train.epochs", "12"), std::string("12"));
        for (const char *bad : {"12.0", "1e2", "99999999999999999999"})
            QCOMPARE(parse("train.epochs", bad), std::string("refused"));
        QCOMPARE(parse("optim.nesterov", "yes"), std::string("true"));
        QCOMPARE(parse("optim.nesterov", "false"), std::string("false"));
        QCOMPARE(parse("optim.nesterov", "2"), std::string("refused"));
        QCOMPARE(parse("data.path", " a=b,c "), std::string(R"(" a=b,c ")"));
        QCOMPARE(parse("data.path", "\xFF"), std::string("refused"));
        QCOMPARE(parse("data.mean", "0.1, 0.2,1"), std::string("[0.1,0.2,1.0]"));
        QCOMPARE(parse("data.mean", "[0.1, 1]"), std::string("[0.1,1.0]"));
        QCOMPARE(parse("data.mean", ""), std::string("[]"));
        for (const char *bad : {"[0.1", "0.1,,0.2", "[\"a\"]", "[[1]]"})
            QCOMPARE(parse("data.mean", bad), std::string("refused"));
        QCOMPARE(parse("optim.milestones", "3,5"), std::string("[3,5]"));
        QCOMPARE(parse("data.skip", "a,b"), std::string(R"(["a","b"])"));
    }

    void schemaTravelsAsJson()
    {
        const Json json = m_schema.toJson();
        const auto back = config::Schema::fromJson(Json::parse(json.dump()));
        QVERIFY2(back, back ? "" : back.error().message().c_str());
        QCOMPARE(back->toJson().dump(), json.dump());
        QCOMPARE(back->complete(Json::object()).dump(), m_schema.complete(Json::object()).dump());
        QCOMPARE(back->groups().size(), std::size_t(4));
    }

    /// A condition may name several values; as JSON they are a list.
    void aFieldOfSeveralValues()
    {
        config::Schema schema;
        config::Field name, side;
        name.key = "net.name";
        name.defaultValue = "a";
        for (const char *value : {"a", "b", "c"}) name.choices.push_back({value, value, {}});
        side.key = "net.side";
        side.type = config::Type::Int;
        side.defaultValue = 4;
        side.when = config::Condition("net.name", std::vector<std::string>{"b", "c"});
        schema.addGroup("net", "Net");
        schema.add(name);
        schema.add(side);
        const auto back = config::Schema::fromJson(schema.toJson());
        QVERIFY2(back.ok(), back ? "" : back.error().message().c_str());
        QCOMPARE(back->toJson().dump(), schema.toJson().dump());
        const config::Schema &read = *back;
        for (const config::Schema *each : {&std::as_const(schema), &read}) {
            QVERIFY(!each->find("net.side", {{"net", {{"name", "a"}}}}));
            QVERIFY(each->find("net.side", {{"net", {{"name", "b"}}}}));
            QVERIFY(each->find("net.side", {{"net", {{"name", "c"}}}}));
        }
        const auto issues = schema.check({{"net", {{"side", 3}}}});
        QCOMPARE(issues.size(), std::size_t(1));
        QVERIFY(QString::fromStdString(issues[0].what).endsWith("it belongs to b, c"));
        Json broken = schema.toJson();
        for (const Json &value : {Json::array(), Json::array({1}), Json(1)}) {
            broken["fields"][1]["when"]["value"] = value;
            QVERIFY(!config::Schema::fromJson(broken));
        }
    }

    void choicesKeepTheirNotes()
    {
        Json json = m_schema.toJson();
        QVERIFY(json["fields"][4]["choices"][0].contains("value") && !json["fields"][4]["choices"][0].contains("notes"));
        json["fields"][4]["choices"][0]["notes"] = {{"data.limit", "Takes many."}};
        const auto back = config::Schema::fromJson(json);
        QVERIFY2(back, back ? "" : back.error().message().c_str());
        QCOMPARE(back->fields()[4].choices[0].notes.at("data.limit"), std::string("Takes many."));
        QCOMPARE(back->toJson().dump(), json.dump());
    }

    void brokenSchemasAreRefused_data()
    {
        QTest::addColumn<QString>("pointer");
        QTest::addColumn<QString>("value");
        QTest::newRow("format") << "/format"
                                << "2";
        QTest::newRow("format's type") << "/format"
                                       << "\"1\"";
        QTest::newRow("fields") << "/fields"
                                << "{}";
        QTest::newRow("a field") << "/fields/0"
                                 << "3";
        QTest::newRow("key") << "/fields/0/key"
                             << "\"nodot\"";
        QTest::newRow("twice") << "/fields/0/key"
                               << "\"data.limit\"";
        QTest::newRow("type") << "/fields/0/type"
                              << "\"text\"";
        QTest::newRow("default") << "/fields/1/default"
                                 << "\"x\"";
        QTest::newRow("label") << "/fields/0/label"
                               << "null";
        QTest::newRow("unknown member") << "/fields/0/colour"
                                        << "1";
        QTest::newRow("unknown at the top") << "/more"
                                            << "1";
        QTest::newRow("choice") << "/fields/4/choices/0"
                                << "\"simclr\"";
        QTest::newRow("notes") << "/fields/4/choices/0/notes"
                               << "[]";
        QTest::newRow("a note") << "/fields/4/choices/0/notes"
                                << "{\"data.limit\": 3}";
        QTest::newRow("condition") << "/fields/5/when"
                                   << "{\"key\": \"method.name\"}";
        QTest::newRow("group") << "/groups/0"
                               << "{\"name\": 1, \"label\": \"\"}";
    }
    void brokenSchemasAreRefused()
    {
        QFETCH(QString, pointer);
        QFETCH(QString, value);
        Json json = m_schema.toJson();
        json[Json::json_pointer(pointer.toStdString())] = Json::parse(value.toStdString());
        const auto back = config::Schema::fromJson(json);
        QVERIFY(!back);
        QVERIFY2(back.error().message().starts_with("is not a schema: "), back.error().message().c_str());
    }
};

QTEST_GUILESS_MAIN(SchemaTest)
#include "tst_schema.moc"
