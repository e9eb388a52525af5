// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/json/strict.h"

#include <QTest>

using namespace parallax;

class Strict : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void whatJsonAllowsIsRead()
    {
        const std::string text =
            " {\"b\": [1, -2, 3.5e2, true, null], \"a\": {\"é\": \"😀 \\\" \\\\ \\n\"}, \"big\": 18446744073709551615} ";
        const auto parsed = json::parse(text);
        QVERIFY(std::holds_alternative<json::Json>(parsed));
        const json::Json &document = std::get<json::Json>(parsed);
        QVERIFY(document == json::Json::parse(text));
        QCOMPARE(document.begin().key(), std::string("b")); // the file's order stays
    }

    void problemsSayWhereAndWhat_data()
    {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<int>("line");
        QTest::addColumn<int>("column");
        QTest::addColumn<QString>("says");
        const auto row = [](const char *name, QByteArray text, int line, int column, const char *says) {
            QTest::newRow(name) << text << line << column << says;
        };
        row("empty", "", 1, 1, "is empty");
        row("blank", " \n ", 1, 1, "is empty");
        row("not JSON", "data:\n  path: x\n", 1, 1, "is not JSON: it begins with \"data:\"");
        row("single quotes", "{'data': {}}", 1, 2, "single quotes");
        row("trailing comma", "{\"data\": {},\n}", 2, 1, "a comma stands before the closing }");
        row("comma in list", "{\"a\": [1,]}", 1, 10, "a comma stands before the closing ]");
        row("open", "{\"data\": {", 1, 11, "ends too early");
        row("two documents", "{} {}", 1, 4, "something follows the end");
        row("not a number", "{\"a\": NaN}", 1, 7, "NaN is not a number of JSON");
        row("infinite", "{\"a\":\n -Infinity}", 2, 2, "-Infinity is not a number of JSON");
        row("Python's word", "{\"a\": True}", 1, 7, "did not expect \"True\"");
        row("missing comma", "{\"a\": 1 \"b\": 2}", 1, 9, "did not expect");
        row("missing name", "{\"a\": 1, 2}", 1, 10, "a name in double quotes is missing");
        row("twice", "{\"a\": {}, \"é\": 1,\n \"a\": {}}", 2, 2, "the name a appears twice");
        QByteArray many("{");
        for (int i = 0; i < 100; ++i) many += "\"k" + QByteArray::number(i) + "\": 0, ";
        row("twice among many", many + "\"k7\": 0}", 1, int(many.size()) + 1, "the name k7 appears twice");
        row("twice, escaped", "{\"a\\\"\": {}, \"a\\\"\": {}}", 1, 13, "appears twice");
        row("lone surrogate", R"({"a": "\ud800"})", 1, 7, "half a character");
        row("bad UTF-8", "{\"é\": \"\xFF\"}", 1, 8, "not valid UTF-8");
        row("UTF-16", QByteArray("\xFF\xFE{\0", 4), 1, 1, "UTF-16");
        row("NUL in text", R"({"a": "x\u0000"})", 1, 7, "NUL character");
        row("NUL in name", R"({"a\u0000": 1})", 1, 2, "NUL character");
        row("raw NUL", QByteArray("{}\0", 3), 1, 3, "NUL byte");
        row("too large", "{\"a\": 1e999}", 1, 7, "too large");
        row("comment", "{} // why", 1, 4, "a comment is not allowed");
        row("line end in text", "{\"a\": \"x\n\"}", 1, 7, "line end");
        row("bad escape", R"({"a": "\q"})", 1, 7, "backslash");
        row("byte order mark", "\xEF\xBB\xBF{}", 1, 0, "byte order mark");
    }
    void problemsSayWhereAndWhat()
    {
        QFETCH(QByteArray, text);
        QFETCH(int, line);
        QFETCH(int, column);
        QFETCH(QString, says);
        const std::string bytes = text.toStdString();
        const auto parsed = json::parse(bytes);
        const auto *problem = std::get_if<json::Problem>(&parsed);
        QVERIFY(problem);
        QVERIFY2(QString::fromStdString(problem->what).contains(says), problem->what.c_str());
        QVERIFY(problem->what.find("json.exception") == std::string::npos);
        const json::Place place = json::placeOf(bytes, problem->offset);
        QCOMPARE(int(place.line), line);
        if (column > 0) QCOMPARE(int(place.column), column);
    }

    void rulesHold()
    {
        const auto refused = [](const std::string &text, const json::Rules &rules) {
            return std::holds_alternative<json::Problem>(json::parse(text, rules));
        };
        const json::Rules comments{.comments = true};
        QVERIFY(!refused("\xEF\xBB\xBF{ // why\n \"a\": 1 /* x */ }", comments));
        QVERIFY(refused("{ /* never closed ", comments));
        QVERIFY(!refused("[[[]]]", {.depth = 3}));
        QVERIFY(refused("[[[[]]]]", {.depth = 3}));
        QVERIFY(!refused("{\"abc\": 1}", {.keyBytes = 3}));
        QVERIFY(refused("{\"abcd\": 1}", {.keyBytes = 3}));
        QVERIFY(!refused(R"(["\u0000"])", {.nulText = true}));
    }

    void hugeTextsNeedNeitherStackNorPatience()
    {
        const int n = 200'000;
        QVERIFY(std::holds_alternative<json::Problem>(json::parse(std::string(n, '['))));
        std::string nested;
        for (int i = 0; i < n; ++i) nested += "{\"a\":";
        QVERIFY(std::holds_alternative<json::Problem>(json::parse(nested)));
        std::string wide = "{"; // quadratic work would be 2e10 comparisons
        for (int i = 0; i < n; ++i) wide += "\"k" + std::to_string(i) + "\":0,";
        wide.back() = '}';
        const auto parsed = json::parse(wide);
        QVERIFY(std::holds_alternative<json::Json>(parsed));
        QCOMPARE(std::get<json::Json>(parsed).size(), std::size_t(n));
    }
};

QTEST_GUILESS_MAIN(Strict)
#include "tst_strict.moc"
