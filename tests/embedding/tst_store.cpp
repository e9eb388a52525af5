// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/embedding/store.h"

#include "core/base/atomicfile.h"
#include "core/runs/safetensors.h"

#include <QTemporaryDir>
#include <QTest>

#include <set>

using namespace parallax::embedding;

class TestStore : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init();
    void whatIsWrittenIsRead();
    void namesThatBreakOtherFormats();
    void pathsThatAreNotUtf8();
    void tilesLieInItemOrder();
    void noThumbnails();
    void emptyStore();
    void damagedFilesAreRefused_data();
    void damagedFilesAreRefused();
    void unevenWritesAreRefused();

private:
    std::filesystem::path folder() const { return std::filesystem::path(m_dir->path().toStdString()) / "epoch-3"; }
    void replace(const char *file, const std::string &text) const
    {
        QVERIFY(parallax::writeFileAtomic(folder() / file, text).ok());
    }

    std::unique_ptr<QTemporaryDir> m_dir;
    Meta m_meta;
    std::vector<Item> m_items;
    std::vector<float> m_vectors{1, 2, 3, 4, 5, 6};
};

void TestStore::init()
{
    m_dir = std::make_unique<QTemporaryDir>();
    m_meta = Meta{3, 2, 120, 3, {"cat", "dog"}, "/data/pets", 48, 32, 1024};
    m_items = {{18446744073709551615U, "cat/0.png", 0, "train"}, {2, "dog/0.png", 1, "val"}, {7, "x.png", -1, "train"}};
}

void TestStore::whatIsWrittenIsRead()
{
    QVERIFY(writeStore(folder(), m_meta, m_items, m_vectors.data()).ok());
    const auto store = Store::open(folder());
    QVERIFY2(store.ok(), store.ok() ? "" : store.error().message().c_str());
    QCOMPARE(store->meta().count, 3);
    QCOMPARE(store->meta().dim, 2);
    QCOMPARE(store->meta().step, 120);
    QCOMPARE(store->meta().epoch, 3);
    QVERIFY(store->meta().classes == m_meta.classes);
    QCOMPARE(store->meta().source, m_meta.source);
    QVERIFY(std::equal(m_vectors.begin(), m_vectors.end(), store->vectors()));
    for (int i = 0; i < 3; ++i) {
        QCOMPARE(store->items()[i].id, m_items[i].id);
        QCOMPARE(store->items()[i].path, m_items[i].path);
        QCOMPARE(store->items()[i].label, m_items[i].label);
        QCOMPARE(store->items()[i].split, m_items[i].split);
    }
    const Store copy = *store; // outlives the one that mapped the file
    QCOMPARE(copy.vectors()[5], 6.0F);
}

void TestStore::namesThatBreakOtherFormats()
{
    m_meta.classes = {"tab\there", "new\nline", "comma, quote\"", "#hash", " lead", "猫", "plain"};
    m_meta.count = 14;
    m_items.clear();
    for (int label = 0; label < 7; ++label)
        for (int i = 0; i < 2; ++i)
            m_items.push_back(
                {std::uint64_t(label * 2 + i), m_meta.classes[label] + "/" + std::to_string(i) + ".png", label, "train"});
    const std::vector<float> vectors(28, 1);
    QVERIFY(writeStore(folder(), m_meta, m_items, vectors.data()).ok());
    const auto store = Store::open(folder());
    QVERIFY2(store.ok(), store.ok() ? "" : store.error().message().c_str());
    QVERIFY(store->meta().classes == m_meta.classes);
    std::set<std::string> paths;
    for (std::size_t i = 0; i < m_items.size(); ++i) {
        QCOMPARE(store->items()[i].path, m_items[i].path);
        QCOMPARE(store->items()[i].label, m_items[i].label);
        paths.insert(store->items()[i].path);
    }
    QCOMPARE(paths.size(), std::size_t(14));
}

void TestStore::pathsThatAreNotUtf8()
{
    m_items[0].path = "caf\xe9.png";
    QVERIFY(writeStore(folder(), m_meta, m_items, m_vectors.data()).ok());
    const auto store = Store::open(folder());
    QVERIFY(store.ok());
    QCOMPARE(store->items()[0].path, std::string("caf\xEF\xBF\xBD.png"));
}

void TestStore::tilesLieInItemOrder()
{
    m_meta.thumbColumns = 2;
    m_meta.thumbsPerFile = 2;
    QVERIFY(writeStore(folder(), m_meta, m_items, m_vectors.data()).ok());
    const auto store = Store::open(folder());
    QCOMPARE(store->thumbFile(0), folder() / "thumbs-0.png");
    QCOMPARE(store->thumbFile(2), folder() / "thumbs-1.png");
    QVERIFY(store->thumbOrigin(0) == std::pair(0, 0));
    QVERIFY(store->thumbOrigin(1) == std::pair(48, 0));
    QVERIFY(store->thumbOrigin(2) == std::pair(0, 0));

    m_meta.thumbsPerFile = 6;
    QVERIFY(writeStore(folder(), m_meta, m_items, m_vectors.data()).ok());
    QVERIFY(Store::open(folder())->thumbOrigin(2) == std::pair(0, 48));
}

void TestStore::noThumbnails()
{
    m_meta.thumbSize = m_meta.thumbColumns = m_meta.thumbsPerFile = 0;
    QVERIFY(writeStore(folder(), m_meta, m_items, m_vectors.data()).ok());
    const auto store = Store::open(folder());
    QVERIFY(store.ok());
    QVERIFY(store->thumbFile(1).empty());
    QVERIFY(store->thumbOrigin(1) == std::pair(0, 0));
}

void TestStore::emptyStore()
{
    m_meta.count = 0;
    QVERIFY(writeStore(folder(), m_meta, {}, m_vectors.data()).ok());
    const auto store = Store::open(folder());
    QVERIFY2(store.ok(), store.ok() ? "" : store.error().message().c_str());
    QVERIFY(store->items().empty());
}

void TestStore::damagedFilesAreRefused_data()
{
    QTest::addColumn<QString>("file");
    QTest::addColumn<QString>("text"); // empty: the file is removed
    QTest::addColumn<QString>("says");
    const char *meta = "meta.json", *items = "items.jsonl", *vectors = "vectors.safetensors";
    QTest::newRow("no meta") << meta << ""
                             << "meta.json";
    QTest::newRow("meta not JSON") << meta << "{"
                                   << "JSON object";
    QTest::newRow("meta is a list") << meta << "[]"
                                    << "JSON object";
    QTest::newRow("other format") << meta << R"({"format": 2, "count": 3, "dim": 2})"
                                  << "format 2";
    QTest::newRow("count is text") << meta << R"({"format": 1, "count": "3", "dim": 2})"
                                   << "count";
    QTest::newRow("count negative") << meta << R"({"format": 1, "count": -3, "dim": 2})"
                                    << "count";
    QTest::newRow("dim zero") << meta << R"({"format": 1, "count": 3, "dim": 0})"
                              << "dim";
    QTest::newRow("dim huge") << meta << R"({"format": 1, "count": 3, "dim": 18446744073709551615})"
                              << "dim";
    QTest::newRow("other dim") << meta << R"({"format": 1, "count": 3, "dim": 3})"
                               << "[3, 3]";
    QTest::newRow("count mismatch") << meta << R"({"format": 1, "count": 4, "dim": 2})"
                                    << "3 items where meta.json says 4";
    QTest::newRow("label beyond classes") << meta << R"({"format": 1, "count": 3, "dim": 2, "classes": ["a"]})"
                                          << "only 1 classes";
    QTest::newRow("zero columns")
        << meta << R"({"format": 1, "count": 3, "dim": 2, "thumb": {"size": 48, "columns": 0, "per_file": 4}})"
        << "thumb";
    QTest::newRow("thumb is a number") << meta << R"({"format": 1, "count": 3, "dim": 2, "thumb": 48})"
                                       << "thumb";
    QTest::newRow("no items") << items << ""
                              << "items.jsonl";
    QTest::newRow("torn item") << items << "{\"id\": 1, \"label\": 0}\n{\"id\": 2, \"la"
                               << "line 2";
    QTest::newRow("label is text") << items << "{\"id\": 1, \"label\": \"cat\"}\n"
                                   << "line 1";
    QTest::newRow("no vectors") << vectors << ""
                                << "vectors.safetensors";
    QTest::newRow("vectors cut") << vectors << "x"
                                 << "vectors.safetensors";
}

void TestStore::damagedFilesAreRefused()
{
    QFETCH(QString, file);
    QFETCH(QString, text);
    QFETCH(QString, says);
    QVERIFY(writeStore(folder(), m_meta, m_items, m_vectors.data()).ok());
    if (text.isEmpty())
        QVERIFY(std::filesystem::remove(folder() / file.toStdString()));
    else
        replace(file.toUtf8(), text.toStdString());
    const auto store = Store::open(folder());
    QVERIFY(!store.ok());
    const auto message = QString::fromStdString(store.error().message());
    QVERIFY2(message.contains(says), qPrintable(message));
}

void TestStore::unevenWritesAreRefused()
{
    m_items.pop_back();
    QVERIFY(!writeStore(folder(), m_meta, m_items, m_vectors.data()).ok());
    QVERIFY(!Store::open(folder()).ok());
    QVERIFY(!Store::open(folder() / "nowhere").ok());
}

QTEST_GUILESS_MAIN(TestStore)
#include "tst_store.moc"
