// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "sample.h"

#include <QDir>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTemporaryDir>
#include <QTest>

using namespace parallax;

/// Every broken file that users have sent: refused with one message that says where, or read.
class Parse : public QObject
{
    Q_OBJECT

private:
    QTemporaryDir m_made;

    /// Files too large to keep: an object nested 60,000 deep, and a key of 100,000 bytes.
    void makeLargeFiles()
    {
        std::string deep;
        for (int i = 0; i < 60'000; ++i) deep += "{\"a\":";
        deep += '1' + std::string(60'000, '}');
        write("deep.json", QByteArray::fromStdString(deep));
        write("long_key.json", "{\"" + QByteArray(100'000, 'k') + "\":1}");
    }
    void write(const QString &name, const QByteArray &bytes)
    {
        QFile file(m_made.filePath(name));
        QVERIFY(file.open(QIODevice::WriteOnly));
        QCOMPARE(file.write(bytes), qint64(bytes.size()));
    }

private Q_SLOTS:
    void initTestCase() { makeLargeFiles(); }

    void files_data()
    {
        QTest::addColumn<QString>("path");
        QTest::addColumn<bool>("accepted");
        const QDir folder(PARALLAX_SOURCE_DIR "/tests/data/config");
        QFile list(folder.filePath("expected.json"));
        QVERIFY(list.open(QIODevice::ReadOnly));
        const QJsonObject expected = QJsonDocument::fromJson(list.readAll()).object();
        for (const char *kind : {"accepted", "refused"}) {
            for (const QJsonValue &entry : expected[kind].toArray()) {
                const QString name = entry.toString();
                const bool kept = folder.exists(name);
                QTest::newRow(qPrintable(name))
                    << (kept ? folder.filePath(name) : m_made.filePath(name)) << (kind[0] == 'a');
            }
        }
    }
    void files()
    {
        QFETCH(QString, path);
        QFETCH(bool, accepted);
        const auto read = config::readFile(path.toStdString());
        const QString name = QFileInfo(path).fileName();
        if (!read) {
            QVERIFY2(!accepted, read.error().message().c_str());
            const QString message = QString::fromStdString(read.error().message());
            QVERIFY2(message.contains(name + ", line ") && message.contains(", column "), qPrintable(message));
            QVERIFY2(message.size() < 300 + path.size() && !message.contains('\n') && !message.contains("exception"),
                     qPrintable(message));
            return;
        }
        const auto resolved = config::resolve(sample::schema(), {{name.toStdString(), *read}}, {});
        if (accepted) {
            QVERIFY2(resolved, resolved ? "" : resolved.error().message().c_str());
            return;
        }
        QVERIFY(!resolved);
        QVERIFY2(resolved.error().message().starts_with(name.toStdString() + ": "), resolved.error().message().c_str());
    }

    void emptyAndMissingFiles()
    {
        QVERIFY(config::readFile(m_made.filePath("none.json").toStdString()).error().message().find("none.json") !=
                std::string::npos);
        QVERIFY(!config::readFile(m_made.path().toStdString()));
        const auto error = config::parseStrict("\xEF\xBB\xBF[1]", "a.json").error();
        QCOMPARE(error.where, std::string("a.json, line 1, column 1"));
    }

    void aWrongLevelNamesTheRightOne()
    {
        const auto read = config::readFile(PARALLAX_SOURCE_DIR "/tests/data/config/wrong_level.json");
        QVERIFY(read);
        const auto message = config::resolve(sample::schema(), {{"wrong_level.json", *read}}, {}).error().message();
        QVERIFY2(message.find("Did you mean optim.lr?") != std::string::npos, message.c_str());
        QVERIFY2(message.find("Did you mean train.batch_size?") != std::string::npos, message.c_str());
    }
};

QTEST_GUILESS_MAIN(Parse)
#include "tst_parse.moc"
