// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/runs/safetensors.h"

#include <QDir>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTemporaryDir>
#include <QTest>

#include <cmath>
#include <cstring>

using namespace parallax;
using runs::SafetensorsFile;
using runs::TensorView;

class Safetensors : public QObject
{
    Q_OBJECT

private:
    QTemporaryDir m_dir;
    static QString dataFile(const QString &name) { return PARALLAX_SOURCE_DIR "/tests/data/safetensors/" + name; }

private Q_SLOTS:
    void files_data()
    {
        QTest::addColumn<QString>("path");
        QTest::addColumn<bool>("sound");
        QFile list(dataFile("expected.json"));
        QVERIFY(list.open(QIODevice::ReadOnly));
        const QJsonObject expected = QJsonDocument::fromJson(list.readAll()).object();
        for (const char *kind : {"good", "bad"})
            for (const QString &name : expected[kind].toObject().keys())
                // NaN weights are a well-formed file; whoever loads them as weights says so.
                QTest::newRow(qPrintable(name)) << dataFile(name) << (kind[0] == 'g' || name.startsWith("nan_weights"));
        const QByteArray nested = "{\"a\":" + QByteArray(60'000, '[') + QByteArray(60'000, ']') + "}";
        const quint64 length = quint64(nested.size());
        QFile deep(m_dir.filePath("deep.safetensors")); // too large to keep
        QVERIFY(deep.open(QIODevice::WriteOnly));
        deep.write(reinterpret_cast<const char *>(&length), 8);
        deep.write(nested);
    }
    void files()
    {
        QFETCH(QString, path);
        QFETCH(bool, sound);
        if (!QFile::exists(path)) path = m_dir.filePath(QFileInfo(path).fileName());
        QVERIFY(QFile::exists(path));
        const auto file = SafetensorsFile::open(path.toStdString());
        QVERIFY2(file.ok() == sound, file ? "taken for sound" : file.error().message().c_str());
        if (sound) return;
        const QString message = QString::fromStdString(file.error().message());
        QVERIFY2(message.contains(QFileInfo(path).fileName()) && !message.contains('\n') && message.size() < 400,
                 qPrintable(message));
    }

    void theTensorIsNamed()
    {
        const auto message = [](const char *name) {
            return SafetensorsFile::open(dataFile(name).toStdString()).error().message();
        };
        for (const char *name : {"overlap.safetensors", "hole.safetensors"})
            QVERIFY2(message(name).find("\"b\"") != std::string::npos, name);
        for (const char *name : {"beyond.safetensors", "wraps.safetensors", "shape_mismatch.safetensors",
                                 "unknown_dtype.safetensors", "missing_field.safetensors", "negative.safetensors"})
            QVERIFY2(message(name).find("\"a\"") != std::string::npos, message(name).c_str());
    }

    void contentsAreWhatTheFileSays()
    {
        const auto good = SafetensorsFile::open(dataFile("good.safetensors").toStdString());
        QVERIFY(good);
        QCOMPARE(good->names(), (std::vector<std::string>{"a", "b"}));
        QCOMPARE(good->metadata().at("format"), std::string("pt"));
        QCOMPARE(good->tensors().at("a").shape, (std::vector<std::int64_t>{2, 2}));
        const auto odd = SafetensorsFile::open(dataFile("unordered.safetensors").toStdString());
        QCOMPARE(odd->names(), (std::vector<std::string>{"b", "a"}));
        const auto scalar = SafetensorsFile::open(dataFile("scalar_and_empty.safetensors").toStdString());
        QVERIFY(scalar->tensors().at("s").shape.empty());
        QCOMPARE(scalar->tensors().at("e").shape, (std::vector<std::int64_t>{0, 3}));
    }

    void whatIsWrittenIsRead()
    {
        const std::vector<std::uint8_t> bytes{1, 0, 1};
        const std::vector<double> doubles{1.5, -2, NAN, 0, 5, 6};
        const std::vector<std::int64_t> integers{-7};
        const std::vector<TensorView> tensors{{"flags", "BOOL", {3}, bytes.data()},
                                              {"layer1.0.weight", "F64", {2, 3}, doubles.data()},
                                              {"none", "F32", {0, 5}, nullptr},
                                              {"Grün \"x\"", "I64", {}, integers.data()}};
        const std::string path = m_dir.filePath("written.safetensors").toStdString();
        QVERIFY(runs::writeSafetensors(path, tensors, {{"epoch", "3"}}));
        const auto file = SafetensorsFile::open(path);
        QVERIFY2(file, file ? "" : file.error().message().c_str());
        QCOMPARE(file->metadata().at("epoch"), std::string("3"));
        QCOMPARE(file->names().size(), tensors.size());
        for (std::size_t i = 0; i < tensors.size(); ++i) {
            QCOMPARE(file->names()[i], tensors[i].name);
            const runs::TensorInfo &info = file->tensors().at(tensors[i].name);
            QCOMPARE(info.dtype, tensors[i].dtype);
            QCOMPARE(info.shape, tensors[i].shape);
            if (info.end > info.begin) QVERIFY(std::memcmp(file->data(info), tensors[i].data, info.end - info.begin) == 0);
            QCOMPARE(reinterpret_cast<std::uintptr_t>(file->data(info)) % runs::dtypeBytes(info.dtype), std::uintptr_t(0));
        }
        QVERIFY(runs::writeSafetensors(path, {})); // an empty file is a sound one
        QVERIFY(SafetensorsFile::open(path));
    }

    void whatCannotBeStoredIsRefused()
    {
        const float value = 1;
        const std::string path = m_dir.filePath("refused.safetensors").toStdString();
        const auto refused = [&](const std::vector<TensorView> &tensors) {
            return !runs::writeSafetensors(path, tensors).ok();
        };
        QVERIFY(refused({{"a", "F31", {1}, &value}}));
        QVERIFY(refused({{"a", "F32", {-1}, &value}}));
        QVERIFY(refused({{"a", "F32", {INT64_MAX, INT64_MAX}, &value}}));
        QVERIFY(refused({{"a", "F32", {1}, nullptr}}));
        QVERIFY(refused({{"__metadata__", "F32", {1}, &value}}));
        QVERIFY(refused({{"\xFF", "F32", {1}, &value}}));
        QVERIFY(refused({{"a", "F32", {1}, &value}, {"a", "F32", {1}, &value}}));
        QVERIFY(!QFile::exists(QString::fromStdString(path)));
    }

    void noFileAtAll()
    {
        for (const QString &path : {m_dir.path(), m_dir.filePath("missing"), QString("/dev/zero")})
            QVERIFY(!SafetensorsFile::open(path.toStdString()));
    }
};

QTEST_GUILESS_MAIN(Safetensors)
#include "tst_safetensors.moc"
