// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/base/text.h"

#include <QTest>

#include <clocale>
#include <cmath>
#include <limits>

using namespace parallax;

class Text : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void numbersReadBackUnchanged()
    {
        for (const double value : {0.1, 1e-9, 1.0, -0.0, 5e-324, 1.7976931348623157e308, 1.0 / 3, 123456789.0}) {
            const auto back = text::parseDouble(text::number(value));
            QVERIFY(back);
            QCOMPARE(std::signbit(*back), std::signbit(value));
            QVERIFY(*back == value);
        }
        QCOMPARE(text::number(0.1), std::string("0.1"));
        QCOMPARE(text::number(1e-9), std::string("1e-09"));
        QCOMPARE(text::number(-std::numeric_limits<double>::quiet_NaN()), std::string("nan"));
        QCOMPARE(text::fixed(0.683, 4), std::string("0.6830"));
        QCOMPARE(text::fixed(1e300, 1).size(), std::size_t(303));
    }

    void numbersIgnoreTheLocale()
    {
        // Not every machine has one; where there is a locale with a decimal comma it must change nothing.
        std::setlocale(LC_ALL, "de_DE.UTF-8");
        QCOMPARE(text::number(0.5), std::string("0.5"));
        QCOMPARE(text::fixed(0.5, 2), std::string("0.50"));
        QCOMPARE(text::parseDouble("0.05").value_or(-1), 0.05);
        QVERIFY(!text::parseDouble("0,05"));
        std::setlocale(LC_ALL, "C");
    }

    void numbersMustFillTheText()
    {
        QCOMPARE(text::parseDouble("+1.5").value_or(0), 1.5);
        QCOMPARE(text::parseInt("-7").value_or(0), std::int64_t(-7));
        for (const char *bad : {"", " 1", "1 ", "1x", "0x10", "+", "+-1", "--1", "1e999"})
            QVERIFY2(!text::parseDouble(bad), bad);
        for (const char *bad : {"", "1.0", "1e3", "9223372036854775808", "+-1"}) QVERIFY2(!text::parseInt(bad), bad);
    }

    void nearestFindsSlipsOnly_data()
    {
        QTest::addColumn<QString>("word");
        QTest::addColumn<QString>("meant");
        QTest::newRow("missing letter") << "batchsize"
                                        << "batch_size";
        QTest::newRow("swapped letters") << "batch_szie"
                                         << "batch_size";
        QTest::newRow("upper case") << "Batch_Size"
                                    << "batch_size";
        QTest::newRow("one more letter") << "epochss"
                                         << "epochs";
        QTest::newRow("nothing alike") << "temperature"
                                       << "";
        QTest::newRow("one letter of one") << "x"
                                           << "";
        QTest::newRow("empty") << ""
                               << "";
    }
    void nearestFindsSlipsOnly()
    {
        QFETCH(QString, word);
        QFETCH(QString, meant);
        const auto found = text::nearest(word.toStdString(), {"epochs", "batch_size", "y"});
        QCOMPARE(QString::fromStdString(found.value_or("")), meant);
    }

    void utf8IsStrict()
    {
        QVERIFY(text::isUtf8("plain, \xC3\xA9, \xE2\x82\xAC, \xF0\x9F\x98\x80"));
        for (const char *bad :
             {"\xFF", "\xC0\x80", "\xE0\x80\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xC3", "\xE2\x82", "\x80"})
            QVERIFY(!text::isUtf8(bad));
        QCOMPARE(text::utf8Prefix("ab\xE2\x82"), std::size_t(2));
    }

    void printableTextCannotActOnATerminal()
    {
        QCOMPARE(text::printable("\x1b[2J\x07 red\n"), std::string("\\x1b[2J\\x07 red\\x0a"));
        QCOMPARE(text::printable("\xC2\x9B"), std::string("\\xc2\\x9b"));          // CSI as one character
        QCOMPARE(text::printable("\xE2\x80\xAE"), std::string("\\xe2\\x80\\xae")); // turns the line's direction
        QCOMPARE(text::printable("a\xFFz"), std::string("a\xEF\xBF\xBDz"));
        QCOMPARE(text::printable("grün, 苹果"), std::string("grün, 苹果"));
    }

    void sizesAndTimes()
    {
        QCOMPARE(text::bytes(0), std::string("0 B"));
        QCOMPARE(text::bytes(999), std::string("999 B"));
        QCOMPARE(text::bytes(640'000), std::string("640 kB"));
        QCOMPARE(text::bytes(999'999), std::string("1.0 MB"));
        QCOMPARE(text::bytes(1'200'000'000), std::string("1.2 GB"));
        QCOMPARE(text::bytes(UINT64_MAX), std::string("18 EB"));
        QCOMPARE(text::duration(7), std::string("0:07"));
        QCOMPARE(text::duration(156), std::string("2:36"));
        QCOMPARE(text::duration(4328), std::string("1:12:08"));
        QCOMPARE(text::duration(59.6), std::string("1:00"));
        QCOMPARE(text::duration(std::nan("")), std::string("–"));
    }

    void pieces()
    {
        QCOMPARE(text::split("a,,b", ',').size(), std::size_t(3));
        QCOMPARE(text::split("", ',').size(), std::size_t(1));
        QCOMPARE(text::join({"a", "b"}, ", "), std::string("a, b"));
        QCOMPARE(text::trimmed(" \t a b \r\n"), std::string("a b"));
        QCOMPARE(text::trimmed("  "), std::string());
    }
};

QTEST_GUILESS_MAIN(Text)
#include "tst_text.moc"
