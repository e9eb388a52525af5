// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/data/source.h"

#include "core/base/text.h"
#include "core/engine/data/folderscan.h"
#include "core/engine/data/keptdataset.h"
#include "core/engine/data/subset.h"
#include "tests/engine/data/datatest.h"

#include <QTest>

#include <numeric>

#include <sys/stat.h>
#include <unistd.h>

using namespace parallax;
using namespace parallax::data;
using namespace parallax::data::test;

namespace {

/// A folder of small pictures, made from a list of relative paths.
class Folder
{
public:
    explicit Folder(const QStringList &files)
    {
        for (const auto &file : files) writeFileTo(path(file), picture({double(files.indexOf(file)), 20, 30}));
    }
    QString path(const QString &relative = {}) const { return m_dir.path() + '/' + relative; }
    std::string name() const { return m_dir.path().toStdString(); }

private:
    QTemporaryDir m_dir;
};

std::vector<std::string> namesOf(const Dataset &data)
{
    std::vector<std::string> names;
    for (std::int64_t i = 0; i < data.size(); ++i) names.push_back(data.item(i).name);
    return names;
}

std::vector<int> labelsOf(const Dataset &data)
{
    std::vector<int> labels;
    for (std::int64_t i = 0; i < data.size(); ++i) labels.push_back(data.item(i).label);
    return labels;
}

using Names = std::vector<std::string>;

DataConfig settings(const std::string &source, double valFraction = 0)
{
    DataConfig config;
    config.source = source;
    config.valFraction = valFraction;
    return config;
}

QStringList numbered(const QString &folder, int count)
{
    QStringList files;
    for (int i = 0; i < count; ++i) files << QString("%1/%2.png").arg(folder).arg(i, 3, 10, QChar('0'));
    return files;
}

} // namespace

class TestFolder : public QObject
{
    Q_OBJECT

private slots:
    void junkIsPassedOverAndTold()
    {
        const auto source = openFolder(dataPath("layouts/junk-files").toStdString());
        QVERIFY(source.ok());
        QCOMPARE(source->train->size(), std::int64_t(11));
        QVERIFY(source->train->classes() == (Names{"class0", "class1"}));
        QVERIFY(labelsOf(*source->train) == (std::vector<int>{0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1}));
        for (std::int64_t i = 0; i < 11; ++i) QVERIFY(source->train->image(i).ok());
        const std::string remark = source->train->remark();
        QVERIFY2(remark.starts_with("passed over 15 that are not images: ") && remark.find("2 .txt") != std::string::npos,
                 remark.c_str());
        QVERIFY(remark.find('\n') == std::string::npos);
        QCOMPARE(source->train->skipped(), std::int64_t(15));
    }

    void labelIsTheFirstFolder()
    {
        const Folder folder({"b/x/1.png", "b/y/z/2.PNG", "a b/3.png", "a/4.png", "loose.png"});
        QDir().mkpath(folder.path("empty class"));
        const auto source = openFolder(folder.name());
        QVERIFY(source.ok());
        QVERIFY(source->train->classes() == (Names{"a", "a b", "b"}));
        QVERIFY(namesOf(*source->train) == (Names{"a b/3.png", "a/4.png", "b/x/1.png", "b/y/z/2.PNG", "loose.png"}));
        QVERIFY(labelsOf(*source->train) == (std::vector<int>{1, 0, 2, 2, -1}));
        QVERIFY(source->train->remark().find("1 images lie beside") != std::string::npos);
    }

    void flatIsUnlabelled()
    {
        const Folder folder({"1.png", "2.png"});
        const auto splits = openData(settings(folder.name(), 0.5), 1);
        QVERIFY(splits.ok());
        QVERIFY(splits->train->classes().empty());
        QCOMPARE(splits->train->size(), std::int64_t(2));
        QCOMPARE(splits->val->size(), std::int64_t(0));
        QVERIFY(labelsOf(*splits->train) == (std::vector<int>{-1, -1}));
    }

    void trainAndValFolders()
    {
        const Folder folder({"train/cat/1.png", "train/dog/2.png", "val/dog/3.png", "val/emu/4.png", "test/cat/5.png"});
        const auto splits = openData(settings(folder.name(), 0.5), 1);
        QVERIFY(splits.ok());
        QVERIFY(splits->train->classes() == (Names{"cat", "dog", "emu"}));
        QVERIFY(splits->val->classes() == splits->train->classes());
        QVERIFY(namesOf(*splits->train) == (Names{"train/cat/1.png", "train/dog/2.png"}));
        QVERIFY(namesOf(*splits->val) == (Names{"val/dog/3.png", "val/emu/4.png"}));
        QVERIFY(labelsOf(*splits->val) == (std::vector<int>{1, 2}));
    }

    void aClassCalledTrain()
    {
        const Folder folder({"train/1.png", "bus/2.png", "test/3.png"});
        const auto source = openFolder(folder.name());
        QVERIFY(source->train->classes() == (Names{"bus", "test", "train"}));
        QVERIFY(!source->val);
    }

    void anotherFolderForEvaluation()
    {
        const Folder train({"cat/1.png", "dog/2.png"}), val({"bee/1.png", "dog/2.png"}), flat({"1.png"});
        auto wanted = settings(train.name());
        wanted.valSource = val.name();
        const auto splits = openData(wanted, 1);
        QVERIFY(splits.ok());
        QVERIFY(splits->val->classes() == (Names{"cat", "dog", "bee"}));
        QVERIFY(splits->train->classes() == splits->val->classes());
        QVERIFY(labelsOf(*splits->val) == (std::vector<int>{2, 1}));
        QVERIFY(labelsOf(*splits->train) == (std::vector<int>{0, 1}));
        QVERIFY(!splits->cut);
        wanted.valSource = flat.name();
        QCOMPARE(openData(wanted, 1).error().where, std::string("data.val_source"));
    }

    void namesWithAnyBytes()
    {
        const Folder folder({});
        const std::string name = folder.name() + "/caf\xE9/\xFF\n.png"; // Latin-1, as old archives have it
        QVERIFY(::mkdir((folder.name() + "/caf\xE9").c_str(), 0700) == 0);
        std::unique_ptr<FILE, int (*)(FILE *)> file(std::fopen(name.c_str(), "wb"), std::fclose);
        const std::string bytes = picture({1, 2, 3});
        QCOMPARE(std::fwrite(bytes.data(), 1, bytes.size(), file.get()), bytes.size());
        file.reset();
        writeFileTo(folder.path("猫/new\nline.png"), picture({1, 2, 3}));
        const auto source = openFolder(folder.name());
        QVERIFY(source.ok());
        QCOMPARE(source->train->size(), std::int64_t(2));
        for (std::int64_t i = 0; i < 2; ++i) {
            QVERIFY(source->train->image(i).ok());
            QVERIFY(text::isUtf8(source->train->item(i).name));
        }
        for (const auto &name : source->train->classes()) QVERIFY(text::isUtf8(name));
        QCOMPARE(source->train->item(1).name, std::string("猫/new\nline.png"));
        std::filesystem::remove_all(folder.name() + "/caf\xE9"); // Qt cannot name it
    }

    void loopsOfLinksAndPipesEnd()
    {
        const Folder folder({"a/1.png", "b/2.png"}), elsewhere({"3.png"});
        QVERIFY(QFile::link(folder.path("a"), folder.path("b/up")));
        QVERIFY(QFile::link(folder.path(), folder.path("a/root")));
        QVERIFY(QFile::link(elsewhere.path(), folder.path("c")));
        QVERIFY(QFile::link("/nowhere/at/all.png", folder.path("a/broken.png")));
        QCOMPARE(::mkfifo(folder.path("a/pipe.png").toLocal8Bit().constData(), 0600), 0);
        const auto source = openFolder(folder.name());
        QVERIFY(source.ok());
        QVERIFY(namesOf(*source->train) == (Names{"a/1.png", "a/broken.png", "b/2.png", "c/3.png"}));
        QVERIFY(!source->train->image(1)); // told as unreadable, not passed over
        QCOMPARE(source->train->image(1).error().where, std::string("a/broken.png"));
    }

    void filesWithoutExtensionByContent()
    {
        const Folder folder({"a/one", "a/two.PNG"});
        writeFileTo(folder.path("a/LICENSE"), "free");
        const auto source = openFolder(folder.name());
        QVERIFY(namesOf(*source->train) == (Names{"a/one", "a/two.PNG"}));
    }

    void idFollowsFromThePath()
    {
        const Folder one({"a/1.png", "a/2.png"}), other({"a/0.png", "a/1.png", "a/2.png"});
        const auto first = openFolder(one.name()), second = openFolder(other.name());
        QCOMPARE(first->train->item(0).id, second->train->item(1).id);
        QCOMPARE(first->train->item(1).id, second->train->item(2).id);
        QVERIFY(first->train->item(0).id != first->train->item(1).id);
    }

    void whatCannotBeOpened()
    {
        const auto where = [](const DataConfig &wanted) { return openData(wanted, 1).error(); };
        QCOMPARE(where(settings("")).where, std::string("data.source"));
        const auto missing = where(settings("/no/such/folder"));
        QVERIFY2(missing.message().find("there is no /no/such/folder") != std::string::npos, missing.message().c_str());
        QVERIFY(where(settings("fashion_mnist")).hint.find("fashion-mnist") != std::string::npos);

        const Folder empty({});
        QVERIFY(where(settings(empty.name())).what.find("holds no images") != std::string::npos);
        writeFileTo(empty.path("notes.txt"), "x");
        QVERIFY(where(settings(empty.name())).what.find("1 .txt") != std::string::npos);
        QVERIFY(where(settings(empty.path("notes.txt").toStdString())).what.find("single file (text") != std::string::npos);

        const Folder broken({});
        writeFileTo(broken.path("a/1.jpg"), "<html>404</html>");
        writeFileTo(broken.path("b/2.jpg"), "");
        const auto unreadable = where(settings(broken.name()));
        QVERIFY2(unreadable.what.find("no readable image among 2 files") != std::string::npos, unreadable.what.c_str());
        QVERIFY2(unreadable.what.find("HTML") != std::string::npos, unreadable.what.c_str());
        if (::geteuid() != 0) {
            QCOMPARE(::chmod(broken.name().c_str(), 0), 0);
            QVERIFY(where(settings(broken.name())).what.find("may not be read") != std::string::npos);
            ::chmod(broken.name().c_str(), 0700);
        }
    }

    void fractionIsSpreadOverTheClasses()
    {
        const Folder folder(numbered("a", 40) + numbered("b", 20) + numbered("c", 1));
        const auto splits = openData(settings(folder.name(), 0.1), 3);
        QVERIFY(splits.ok());
        QVERIFY(splits->cut);
        QCOMPARE(splits->val->size(), std::int64_t(6));
        std::map<int, int> counts;
        for (const int label : labelsOf(*splits->val)) ++counts[label];
        QVERIFY(counts == (std::map<int, int>{{0, 4}, {1, 2}})); // the single image of c stays in training
        auto all = namesOf(*splits->train);
        const auto val = namesOf(*splits->val);
        all.insert(all.end(), val.begin(), val.end());
        QCOMPARE(std::set<std::string>(all.begin(), all.end()).size(), std::size_t(61));
        QVERIFY(namesOf(*openData(settings(folder.name(), 0.1), 3)->val) == val);
        QVERIFY(namesOf(*openData(settings(folder.name(), 0.1), 4)->val) != val);
    }

    /// Each class gives its share to within one image, whatever the seed; the rest is trained on.
    void fractionOfEachClass()
    {
        const std::vector<int> sizes{100, 7, 33, 2, 1};
        QStringList files;
        for (std::size_t c = 0; c < sizes.size(); ++c) files += numbered(QString("c%1").arg(c), sizes[c]);
        const Folder folder(files);
        std::set<Names> drawn;
        for (std::uint64_t seed = 0; seed < 5; ++seed) {
            const auto splits = openData(settings(folder.name(), 0.2), seed);
            std::vector<int> counts(sizes.size());
            for (const int label : labelsOf(*splits->val)) ++counts[std::size_t(label)];
            for (std::size_t c = 0; c < sizes.size(); ++c) {
                QVERIFY(std::abs(counts[c] - 0.2 * sizes[c]) <= 1);
                QVERIFY(counts[c] < sizes[c]);
            }
            QCOMPARE(splits->train->size() + splits->val->size(), std::int64_t(files.size()));
            drawn.insert(namesOf(*splits->val));
        }
        QCOMPARE(drawn.size(), std::size_t(5));
    }

    void noFractionNoEvaluation()
    {
        const Folder folder(numbered("a", 4) + numbered("b", 4));
        const auto none = openData(settings(folder.name(), 0), 1);
        QCOMPARE(none->train->size(), std::int64_t(8));
        QCOMPARE(none->val->size(), std::int64_t(0));
        const Folder given({"train/a/1.png", "train/b/2.png", "val/a/3.png"}); // what the data brings goes before a fraction
        QVERIFY(namesOf(*openData(settings(given.name(), 0.5), 1)->val) == (Names{"val/a/3.png"}));
        QVERIFY(namesOf(*openData(settings(given.name(), 0), 1)->val) == (Names{"val/a/3.png"}));
    }

    void fractionOfVeryFewImages()
    {
        const Folder folder({"a/1.png", "a/2.png", "b/3.png"});
        const auto splits = openData(settings(folder.name(), 0.1), 1);
        QCOMPARE(splits->val->size(), std::int64_t(1));
        QCOMPARE(splits->train->size(), std::int64_t(2));
        QVERIFY(labelsOf(*splits->train) == (std::vector<int>{0, 1})); // no class is emptied
    }

    void limitIsDrawnEvenly()
    {
        const Folder folder(numbered("a", 60) + numbered("b", 30));
        auto wanted = settings(folder.name());
        wanted.limit = 12;
        const auto splits = openData(wanted, 3);
        std::map<int, int> counts;
        for (const int label : labelsOf(*splits->train)) ++counts[label];
        QVERIFY(counts == (std::map<int, int>{{0, 8}, {1, 4}}));
        QVERIFY(namesOf(*openData(wanted, 3)->train) == namesOf(*splits->train));
        QVERIFY(namesOf(*openData(wanted, 4)->train) != namesOf(*splits->train));
        QVERIFY(std::ranges::is_sorted(namesOf(*splits->train)));
        wanted.limit = 1'000;
        QCOMPARE(openData(wanted, 3)->train->size(), std::int64_t(90));
    }

    void limitLeavesTheEvaluationImages()
    {
        const Folder folder(numbered("a", 60) + numbered("b", 30));
        auto limited = settings(folder.name(), 0.1);
        const auto whole = namesOf(*openData(limited, 3)->val);
        limited.limit = 12;
        QVERIFY(namesOf(*openData(limited, 3)->val) == whole);
    }

    void drawEvenlyIsABarePart()
    {
        std::vector<int> labels(100, -1);
        std::set<std::vector<std::int64_t>> drawn;
        for (std::uint64_t seed = 0; seed < 20; ++seed) drawn.insert(drawEvenly(labels, 5, seed, Random::Purpose::Limit));
        QCOMPARE(drawn.size(), std::size_t(20));
        QCOMPARE(drawEvenly(labels, 500, 1, Random::Purpose::Limit).size(), std::size_t(100));
        QVERIFY(drawEvenly({}, 5, 1, Random::Purpose::Limit).empty());
    }

    void smallImagesAreKept()
    {
        const auto made = std::make_shared<const MadeDataset>(4, std::set<std::int64_t>{2}, 10);
        const KeptDataset kept(made, 2 * 300); // bytes: two images of 10 x 10 x 3
        for (int round = 0; round < 3; ++round)
            for (std::int64_t i = 0; i < 4; ++i) QCOMPARE(kept.image(i).ok(), i != 2);
        QCOMPARE(int(made->asked[0]), 1);
        QCOMPARE(int(made->asked[1]), 1);
        QCOMPARE(int(made->asked[2]), 1); // unreadable: not tried again
        QCOMPARE(int(made->asked[3]), 3); // over the budget
        QCOMPARE(kept.keptBytes(), std::int64_t(600));
        QVERIFY(cv::norm(*kept.image(1), pattern(10, 10, 1), cv::NORM_INF) == 0);
        QVERIFY(availableMemory() > 0);
    }

    void largeImagesAreNotKept()
    {
        const auto made = std::make_shared<const MadeDataset>(1, std::set<std::int64_t>{}, 700);
        const KeptDataset kept(made, std::int64_t(1) << 40);
        (void)kept.image(0);
        (void)kept.image(0);
        QCOMPARE(int(made->asked[0]), 2);
    }
};

QTEST_GUILESS_MAIN(TestFolder)
#include "tst_folder.moc"
