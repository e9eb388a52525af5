// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/experiment/commandcard.h"
#include "ui/experiment/draft.h"
#include "ui/experiment/localtext.h"

#include <QSignalSpy>
#include <QTest>

using namespace parallax;
using namespace parallax::experiment;
using config::Field;
using config::Json;
using config::Type;

namespace {

Field number(const char *key, double value, double low, double high)
{
    Field field;
    field.key = key;
    field.type = Type::Float;
    field.defaultValue = value;
    field.min = low;
    field.max = high;
    return field;
}

config::Schema smallSchema()
{
    config::Schema schema;
    schema.addGroup("method", "Method");
    Field name;
    name.key = "method.name";
    name.defaultValue = "simclr";
    name.choices = {{"simclr", "SimCLR", ""}, {"byol", "BYOL", ""}};
    schema.add(name);
    Field a = number("method.rate", 0.5, 0, 1), b = number("method.rate", 0.9, 0, 1);
    a.when = config::Condition{"method.name", "simclr"};
    b.when = config::Condition{"method.name", "byol"};
    schema.add(a);
    schema.add(b);
    schema.addGroup("optim", "Optimiser");
    schema.add(number("optim.lr", 0.06, 0, 10));
    Field list = number("optim.decays", 0, 0, 1);
    list.type = Type::FloatList;
    list.defaultValue = {0.1, 0.2};
    schema.add(list);
    return schema;
}

} // namespace

/// The form's model: what was typed, what that means, what it differs from.
class TestDraft : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init() { QLocale::setDefault(QLocale::c()); }

    void numbersAreReadInBothForms_data()
    {
        QTest::addColumn<QString>("locale");
        QTest::addColumn<QString>("typed");
        QTest::addColumn<double>("value"); // -1: refused
        for (const char *locale : {"C", "de_DE", "fr_FR", "ar_EG"}) {
            QTest::addRow("%s point", locale) << locale << "0.05" << 0.05;
            QTest::addRow("%s exponent", locale) << locale << "5e-2" << 0.05;
            QTest::addRow("%s no number", locale) << locale << "0.05x" << -1.0;
            QTest::addRow("%s empty", locale) << locale << "" << -1.0;
        }
        QTest::newRow("de comma") << "de_DE"
                                  << "0,05" << 0.05;
        QTest::newRow("fr comma") << "fr_FR"
                                  << "0,05" << 0.05;
        QTest::newRow("de point of thousands") << "de_DE"
                                               << "1.000" << 1.0;
        QTest::newRow("de both") << "de_DE"
                                 << "1.000,5" << -1.0;
        QTest::newRow("C comma") << "C"
                                 << "0,05" << -1.0;
        QTest::newRow("ar digits") << "ar_EG" << QStringLiteral("٠٫٠٥") << 0.05;
        QTest::newRow("ar digits, point") << "ar_EG" << QStringLiteral("٠.٠٥") << 0.05;
        QTest::newRow("ar digits, comma") << "ar_EG" << QStringLiteral("٠,٠٥") << 0.05; // what the keyboard has
        QTest::newRow("ar comma") << "ar_EG"
                                  << "0,05" << 0.05;
        QTest::newRow("ar thousands") << "ar_EG" << QStringLiteral("١٬٠٠٠") << -1.0;
        QTest::newRow("C digits of another script") << "C" << QStringLiteral("٠.٠٥") << 0.05;
        QTest::newRow("fr thousands") << "fr_FR" << QStringLiteral("1\u202F000") << -1.0;
        QTest::newRow("de two commas") << "de_DE"
                                       << "0,0,5" << -1.0;
        QTest::newRow("sv exponent") << "sv_SE" << QStringLiteral("5×10^-2") << 0.05;
    }

    void numbersAreReadInBothForms()
    {
        QFETCH(QString, locale);
        QFETCH(QString, typed);
        QFETCH(double, value);
        const auto schema = smallSchema();
        const auto read = readLocal(schema, *schema.find("optim.lr", Json::object()), typed, QLocale(locale));
        if (value < 0)
            QVERIFY(!read);
        else
            QVERIFY(read && std::abs(read->get<double>() - value) < 1e-12);
    }

    void valuesAreShownInTheLocalForm()
    {
        const auto schema = smallSchema();
        const Field &rate = *schema.find("optim.lr", Json::object()), &list = *schema.find("optim.decays", Json::object());
        const QLocale german(QStringLiteral("de_DE")), c = QLocale::c();
        QCOMPARE(localText(rate, 0.05, german), QStringLiteral("0,05"));
        QCOMPARE(localText(rate, 0.0005, c), QStringLiteral("0.0005"));
        QCOMPARE(localText(rate, 1e-9, c), QStringLiteral("1e-09"));
        QCOMPARE(localText(rate, 12345.5, german), QStringLiteral("12345,5")); // no separator of thousands
        QCOMPARE(localText(list, {0.1, 0.25}, german), QStringLiteral("0,1; 0,25"));
        QCOMPARE(localText(list, {0.1, 0.25}, c), QStringLiteral("0.1, 0.25"));
        for (const QLocale &locale : {german, c, QLocale(QStringLiteral("ar_EG"))})
            for (const Json &value : {Json{0.1, 0.25}, Json{0.5}, Json::array()})
                QVERIFY(*readLocal(schema, list, localText(list, value, locale), locale) == value);
        QVERIFY((*readLocal(schema, list, QStringLiteral("0.1,0.2 0.3"), c) == Json{0.1, 0.2, 0.3}));
        QVERIFY((*readLocal(schema, list, QStringLiteral("0,1 0.2"), german) == Json{0.1, 0.2}));
        QCOMPARE(rangeText(rate, german), QStringLiteral("0 to 10"));
    }

    void whatIsShownIsReadInEveryLocale()
    {
        config::Schema schema;
        schema.addGroup("optim", "Optimiser");
        Field any = number("optim.any", 0, -1e300, 1e300), whole = any;
        whole.key = "optim.whole";
        whole.type = Type::Int;
        schema.add(any);
        schema.add(whole);
        for (const QLocale &locale :
             QLocale::matchingLocales(QLocale::AnyLanguage, QLocale::AnyScript, QLocale::AnyCountry)) {
            for (const double value : {0.05, -0.05, 0.1, 12345678.5, 1e-9, -2.5e20, 1e12}) {
                const QString text = localText(any, value, locale);
                const auto read = readLocal(schema, any, text, locale);
                QVERIFY2(read && *read == value, qPrintable(locale.name() + QLatin1Char(' ') + text));
                const auto plain = readLocal(schema, any, QString::number(value, 'g', 17), locale);
                QVERIFY2(plain && *plain == value, qPrintable(locale.name()));
            }
            for (const int value : {0, 7, -12, 1'000'000}) {
                const QString text = localText(whole, value, locale);
                const auto read = readLocal(schema, whole, text, locale);
                QVERIFY2(read && *read == value, qPrintable(locale.name() + QLatin1Char(' ') + text));
            }
        }
    }

    void commandHasPoints()
    {
        QLocale::setDefault(QLocale(QStringLiteral("de_DE")));
        Draft draft(smallSchema());
        draft.setText(*draft.field(QStringLiteral("optim.lr")), QStringLiteral("0,05"));
        draft.setText(*draft.field(QStringLiteral("optim.decays")), QStringLiteral("0,5; 1"));
        QCOMPARE(draft.arguments(), (QStringList{"--set", "optim.lr=0.05", "--set", "optim.decays=0.5,1"}));
        QCOMPARE(shellCommand({"parallax", "train", "--set", "data.source=/a b/c'd", "--name", "x"}),
                 QStringLiteral("parallax train \\\n  --set 'data.source=/a b/c'\\''d' --name x"));
    }

    void draftKnowsWhatChanged()
    {
        Draft draft(smallSchema());
        const Field &rate = *draft.field(QStringLiteral("optim.lr"));
        QSignalSpy spy(&draft, &Draft::configChanged);
        draft.setText(rate, QStringLiteral("0.1"));
        QVERIFY(draft.isChanged(rate));
        QCOMPARE(draft.changeCount("optim"), 1);
        QCOMPARE(draft.changeCount("method"), 0);
        QCOMPARE(spy.count(), 1);
        draft.setText(rate, QStringLiteral("11"));
        QCOMPARE(draft.text(rate), QStringLiteral("11")); // what was typed stays to be seen
        QVERIFY(!draft.problem(rate).isEmpty());
        QVERIFY(*config::lookup(draft.config(), "optim.lr") == 0.1); // the last good value stays
        QCOMPARE(draft.firstProblem()->key, QStringLiteral("optim.lr"));
        draft.setText(rate, QStringLiteral("0.06"));
        QVERIFY(!draft.isChanged(rate) && !draft.firstProblem());
        draft.setValue(rate, 3.0);
        draft.reset(rate);
        QVERIFY(draft.value(rate) == 0.06);
        QVERIFY(
            draft
                .load(
                    {QStringLiteral("base"), {QStringLiteral("--config"), QStringLiteral("f")}, {{"optim", {{"lr", 1.0}}}}})
                .ok());
        QVERIFY(!draft.isChanged(rate) && draft.original(rate) == 1.0);
        QCOMPARE(draft.arguments(), (QStringList{"--config", "f"}));
    }

    void draftKeepsEditsPerMethod()
    {
        Draft draft(smallSchema());
        QSignalSpy fields(&draft, &Draft::fieldsChanged);
        draft.setText(*draft.field(QStringLiteral("method.rate")), QStringLiteral("0.7"));
        draft.setValue(*draft.field(QStringLiteral("method.name")), "byol");
        QCOMPARE(fields.count(), 1);
        QVERIFY(draft.value(*draft.field(QStringLiteral("method.rate"))) == 0.9);
        QVERIFY(draft.schema().check(draft.config()).empty());
        draft.setValue(*draft.field(QStringLiteral("method.name")), "simclr");
        QVERIFY(draft.value(*draft.field(QStringLiteral("method.rate"))) == 0.7);
    }

    void draftRefusesABadBase()
    {
        Draft draft(smallSchema());
        draft.setText(*draft.field(QStringLiteral("optim.lr")), QStringLiteral("0.1"));
        const auto loaded = draft.load({QStringLiteral("bad.json"), {}, {{"optim", {{"lrr", 1.0}, {"decays", "x"}}}}});
        QVERIFY(!loaded);
        const auto message = QString::fromStdString(loaded.error().message());
        QVERIFY2(message.contains(QLatin1String("optim.lrr")) && message.contains(QLatin1String("optim.decays")),
                 qPrintable(message));
        QVERIFY(draft.value(*draft.field(QStringLiteral("optim.lr"))) == 0.1);
    }

    void aPresetSaysMoreForSomeMethods()
    {
        Draft draft(smallSchema());
        const Json preset = Json::parse(R"({"optim": {"lr": 1}, "cases": {"method.name": {
            "byol": {"optim": {"lr": 2}, "method": {"rate": 0.4}}}}})");
        QVERIFY(draft.load({QStringLiteral("preset p"), {QStringLiteral("--preset"), QStringLiteral("p")}, preset}).ok());
        const auto value = [&](const char *key) { return draft.value(*draft.field(QLatin1String(key))).get<double>(); };
        QCOMPARE(value("optim.lr"), 1.0);
        draft.setValue(*draft.field(QStringLiteral("method.name")), "byol");
        QCOMPARE(value("optim.lr"), 2.0);
        QCOMPARE(value("method.rate"), 0.4);
        // The command line reads the same preset: the method alone has to be said.
        QCOMPARE(draft.arguments(), (QStringList{"--preset", "p", "--set", "method.name=byol"}));
        draft.setText(*draft.field(QStringLiteral("optim.lr")), QStringLiteral("3"));
        draft.setValue(*draft.field(QStringLiteral("method.name")), "simclr");
        QCOMPARE(value("optim.lr"), 3.0); // what was typed stays
        draft.reset(*draft.field(QStringLiteral("optim.lr")));
        QCOMPARE(value("optim.lr"), 1.0);
        QCOMPARE(draft.arguments(), (QStringList{"--preset", "p"}));
    }
};

QTEST_MAIN(TestDraft)
#include "tst_draft.moc"
