// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/ui/embeddingfixture.h"

#include "core/base/text.h"
#include "ui/embeddings/classmodel.h"
#include "ui/embeddings/embeddingsscreen.h"
#include "ui/embeddings/epochbar.h"
#include "ui/embeddings/itempanel.h"
#include "ui/embeddings/legend.h"
#include "ui/embeddings/mapcanvas.h"
#include "ui/embeddings/mapframe.h"
#include "ui/embeddings/pointraster.h"
#include "ui/embeddings/thumbs.h"
#include "ui/widgets/page.h"
#include "ui/widgets/theme.h"

#include <QAbstractItemModelTester>
#include <QComboBox>
#include <QLabel>
#include <QListView>
#include <QPushButton>
#include <QSignalSpy>
#include <QStackedWidget>
#include <QTemporaryDir>
#include <QTest>
#include <QThreadPool>

#include <algorithm>
#include <limits>
#include <memory>

using namespace parallax;
using namespace parallax::embeddings;
using parallax::testing::EmbeddingPlan;

namespace {

QString path(const runs::RunFolder &run) { return QString::fromStdString(run.path().string()); }

} // namespace

class TestEmbeddings : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void init();
    void cleanup();

    void rasterDrawsDiscs();
    void classModelTogglesAndIsolates();
    void itemModelHoldsWhatIsShown();
    void votesAreCounted();

    void mapAppearsWithLegendAndImages();
    void clickChoosesAndFindsNeighbours();
    void neighbourIsChosenFromTheList();
    void hoverShowsTheItemUnderTheMouse();
    void everyPointHasItsOwnThumbnail();
    void legendHidesAndIsolates();
    void wheelZoomsWhereTheMouseIs();
    void dragPansAndDoesNotChoose();
    void keysWork();
    void epochsAreStepped();
    void anotherRunIsOpened();
    void latestQuestionWins();

    void withoutEmbeddingsTheyAreComputed();
    void failedComputationIsSaid();
    void noRuns();
    void deletedRunIsSaid();
    void damagedEmbeddingsAreSaid();
    void missingThumbnailsAreSaid();
    void oddVectorsAreNamed_data();
    void oddVectorsAreNamed();
    void oneImage();
    void unlabelledImages();
    void namesWithControlCharacters();

private:
    std::filesystem::path runsFolder() const { return m_dir->path().toStdString(); }
    /// One run with one stored epoch, shown.
    void open(const EmbeddingPlan &plan);
    void makeScreen();
    MapCanvas *canvas() const { return m_screen->map()->canvas(); }
    QPoint at(std::int64_t item) const { return canvas()->position(item)->toPoint(); }
    QString emptyText() const;
    QPushButton *computeButton() const;
    void fakeCli(const QByteArray &script);

    std::unique_ptr<QTemporaryDir> m_dir;
    std::unique_ptr<session::Workspace> m_workspace;
    std::unique_ptr<EmbeddingsScreen> m_screen;
    std::unique_ptr<runs::RunFolder> m_run;
};

void TestEmbeddings::initTestCase()
{
    qputenv("PARALLAX_WORKER", PARALLAX_TEST_BIN_DIR "/fakeworker");
    ui::Theme::instance().setMode(ui::Theme::Mode::Light, false);
}

void TestEmbeddings::init() { m_dir = std::make_unique<QTemporaryDir>(); }

void TestEmbeddings::cleanup()
{
    m_screen.reset();
    m_workspace.reset();
    m_run.reset();
    m_dir.reset();
    qunsetenv("PARALLAX_CLI");
}

void TestEmbeddings::makeScreen()
{
    m_workspace = std::make_unique<session::Workspace>(m_dir->path());
    m_screen = std::make_unique<EmbeddingsScreen>(m_workspace.get());
    m_screen->resize(1360, 832);
    m_screen->show();
    QVERIFY(QTest::qWaitForWindowExposed(m_screen.get()));
}

void TestEmbeddings::open(const EmbeddingPlan &plan)
{
    m_run = std::make_unique<runs::RunFolder>(testing::makeRun(runsFolder(), "clusters"));
    QVERIFY(testing::writeEmbeddings(*m_run, plan).ok());
    makeScreen();
    m_screen->openRun(path(*m_run));
    QTRY_VERIFY(m_screen->data() != nullptr);
}

QString TestEmbeddings::emptyText() const
{
    QString text;
    for (const auto *empty : m_screen->findChildren<ui::EmptyState *>())
        if (empty->isVisible())
            for (const auto *label : empty->findChildren<QLabel *>()) text += label->text() + QLatin1Char('\n');
    return text;
}

QPushButton *TestEmbeddings::computeButton() const
{
    return m_screen->findChild<ui::EmptyState *>()->findChild<QPushButton *>();
}

void TestEmbeddings::fakeCli(const QByteArray &script)
{
    const QString file = m_dir->filePath(QStringLiteral("../fake-cli-%1.sh").arg(QFileInfo(m_dir->path()).fileName()));
    QFile out(file);
    QVERIFY(out.open(QIODevice::WriteOnly));
    out.write("#!/bin/sh\n" + script);
    out.close();
    QVERIFY(out.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner));
    qputenv("PARALLAX_CLI", file.toUtf8());
}

void TestEmbeddings::rasterDrawsDiscs()
{
    QImage image(40, 40, QImage::Format_ARGB32_Premultiplied);
    image.fill(Qt::white);
    const PointRaster raster(4);
    raster.draw(image, 20, 20, QColor(255, 0, 0), 1);
    QCOMPARE(image.pixelColor(20, 20), QColor(255, 0, 0));
    QCOMPARE(image.pixelColor(30, 20), QColor(Qt::white));
    double covered = 0; // the area is that of a disc
    for (int y = 0; y < 40; ++y)
        for (int x = 0; x < 40; ++x) covered += (255 - image.pixelColor(x, y).green()) / 255.0;
    QVERIFY2(std::abs(covered - M_PI * 16) < 1, qPrintable(QString::number(covered)));
    raster.draw(image, -100, 5e30, QColor(Qt::black), 1); // beside the image: nothing, and no crash
    raster.draw(image, 0, 0, QColor(0, 0, 255), 0.5);
    QVERIFY(std::abs(image.pixelColor(0, 0).red() - 128) <= 2);
}

void TestEmbeddings::classModelTogglesAndIsolates()
{
    ClassModel model;
    QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    model.setClasses({{QStringLiteral("a"), 5, 0}, {QStringLiteral("b"), 7, 1}, {QStringLiteral("c"), 9, 2}});
    QSignalSpy spy(&model, &ClassModel::shownChanged);
    model.toggle(1);
    QCOMPARE(model.shown(), (std::vector<bool>{true, false, true}));
    QCOMPARE(model.shownCount(), 14);
    model.isolate(1);
    QCOMPARE(model.shown(), (std::vector<bool>{false, true, false}));
    model.isolate(1);
    QCOMPARE(model.shown(), (std::vector<bool>{true, true, true}));
    QVERIFY(model.setData(model.index(2), Qt::Unchecked, Qt::CheckStateRole));
    QCOMPARE(model.shownCount(), 12);
    QCOMPARE(spy.count(), 4);
    model.toggle(7);
    QCOMPARE(spy.count(), 4);
}

void TestEmbeddings::itemModelHoldsWhatIsShown()
{
    EmbeddingPlan plan;
    plan.count = 9;
    const auto run = testing::makeRun(runsFolder(), "items");
    QVERIFY(testing::writeEmbeddings(run, plan).ok());
    const auto data = loadMap(path(run), plan.epoch, nullptr);
    QVERIFY(data.ok());
    ItemModel model;
    QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    model.setShown(*data, {true, false, true});
    QCOMPARE(model.rowCount(), 6);
    QCOMPARE(model.itemOf(model.index(1)), 2);
    QCOMPARE(model.rowOf(3), 2);
    QCOMPARE(model.rowOf(4), -1);
    QCOMPARE(model.itemOf(QModelIndex()), -1);
    model.setNeighbours(*data, {{4, 0.5F}, {1, 0.25F}});
    QCOMPARE(model.data(model.index(1), ItemModel::CosineRole).toFloat(), 0.25F);
    QVERIFY(model.data(model.index(0), Qt::ToolTipRole).toString().contains(QLatin1String("class 1/4.png")));
    model.setItems(nullptr, {});
    QCOMPARE(model.rowCount(), 0);
}

void TestEmbeddings::votesAreCounted()
{
    EmbeddingPlan plan;
    plan.count = 9;
    const auto run = testing::makeRun(runsFolder(), "votes");
    QVERIFY(testing::writeEmbeddings(run, plan).ok());
    const auto data = loadMap(path(run), plan.epoch, nullptr);
    QVERIFY(data.ok());
    const std::vector<embedding::Neighbour> found{{1, 0.9F}, {0, 0.8F}, {4, 0.7F}, {2, 0.6F}, {7, 0.5F}};
    const auto votes = vote(**data, found, 4); // the fifth has no vote
    QCOMPARE(votes.size(), std::size_t(3));
    QCOMPARE(votes[0].classIndex, 1);
    QCOMPARE(votes[0].votes, 2);
    QCOMPARE(votes[1].votes + votes[2].votes, 2);
    QVERIFY(vote(**data, {}, 4).empty());
}

void TestEmbeddings::mapAppearsWithLegendAndImages()
{
    open({});
    QCOMPARE(m_screen->map()->classes()->rowCount(), 3);
    QVERIFY(m_screen->map()->legend()->isVisible());
    QCOMPARE(m_screen->panel()->images()->rowCount(), 60);
    for (std::int64_t i = 0; i < 60; ++i) {
        const auto place = canvas()->position(i);
        QVERIFY(place && canvas()->rect().contains(place->toPoint()));
        QVERIFY(!m_screen->map()->legend()->geometry().contains(place->toPoint()));
    }
    // The first cluster is drawn in its colour.
    const QImage picture = canvas()->grab().toImage();
    const QColor blue = ui::Theme::instance().series(0);
    bool found = false;
    for (int dy = -1; dy <= 1; ++dy)
        for (int dx = -1; dx <= 1; ++dx) {
            const QColor c = picture.pixelColor(at(0) + QPoint(dx, dy));
            found = found || (std::abs(c.red() - blue.red()) < 110 && std::abs(c.blue() - blue.blue()) < 60);
        }
    QVERIFY(found);
}

void TestEmbeddings::clickChoosesAndFindsNeighbours()
{
    open({});
    QTest::mouseClick(canvas(), Qt::LeftButton, {}, at(10));
    const auto chosen = canvas()->chosen();
    QVERIFY(chosen >= 0);
    QTRY_COMPARE(m_screen->panel()->neighbours()->rowCount(), 24);
    const auto expected = embedding::neighbours(m_screen->data()->store.vectors(), 60, 8, chosen, 24);
    for (int row = 0; row < 24; ++row)
        QCOMPARE(m_screen->panel()->neighbours()->itemOf(m_screen->panel()->neighbours()->index(row)), expected[row].item);
    QVERIFY2(m_screen->panel()->voteText().contains(QLatin1String("10 of 10")), qPrintable(m_screen->panel()->voteText()));
    QTest::keyClick(canvas(), Qt::Key_Escape);
    QCOMPARE(canvas()->chosen(), -1);
    QCOMPARE(m_screen->panel()->neighbours()->rowCount(), 0);
}

void TestEmbeddings::neighbourIsChosenFromTheList()
{
    open({});
    m_screen->choose(0);
    QTRY_COMPARE(m_screen->panel()->neighbours()->rowCount(), 24);
    auto *view = m_screen->panel()->neighbourView();
    const auto index = view->model()->index(1, 0);
    const auto item = index.data(ItemModel::ItemRole).toLongLong();
    QTest::mouseClick(view->viewport(), Qt::LeftButton, {}, view->visualRect(index).center());
    QCOMPARE(canvas()->chosen(), item);
}

void TestEmbeddings::hoverShowsTheItemUnderTheMouse()
{
    open({});
    QSignalSpy spy(canvas(), &MapCanvas::hoveredChanged);
    QTest::mouseMove(canvas(), at(20));
    QTRY_VERIFY(canvas()->hovered() >= 0);
    const auto hovered = canvas()->hovered();
    QVERIFY((*canvas()->position(hovered) - QPointF(at(20))).manhattanLength() < 12);
    QTRY_VERIFY(!m_screen->findChild<Thumbs *>()->tile(hovered).isNull());
    const QImage tile = m_screen->findChild<Thumbs *>()->tile(hovered);
    QCOMPARE(tile.pixelColor(12, 14), testing::tilePicture(int(hovered % 3), int(hovered), 24).pixelColor(12, 14));
    QTest::mouseMove(canvas(), QPoint(canvas()->width() - 5, canvas()->height() / 2));
    QTRY_COMPARE(canvas()->hovered(), -1);
}

/// Names that only differ in their folder, and folders that other programs stumble over: a thumbnail belongs to its place.
void TestEmbeddings::everyPointHasItsOwnThumbnail()
{
    EmbeddingPlan plan;
    plan.spread = 1.5;
    plan.perFile = 16; // several atlases
    for (int i = 0; i < plan.count; ++i)
        plan.names.push_back((i % 2 ? "#hash/" : i % 3 ? "plain/" : "tab\tnew\nline/") + std::to_string(i / 6) + ".png");
    open(plan);
    auto *thumbs = m_screen->findChild<Thumbs *>();
    int seen = 0;
    for (std::int64_t item = 0; item < plan.count; ++item) {
        QTest::mouseMove(canvas(), at(item));
        QTRY_VERIFY(canvas()->hovered() >= 0);
        if (canvas()->hovered() != item) continue; // another point lies nearer to this pixel
        ++seen;
        QTRY_VERIFY(!thumbs->tile(item).isNull());
        const QImage expected =
            testing::tilePicture(int(item % plan.classes), int(item), 24).convertedTo(QImage::Format_RGB32);
        QCOMPARE(thumbs->tile(item), expected);
        QCOMPARE(m_screen->data()->name(item), QString::fromStdString(text::printable(plan.names[std::size_t(item)])));
    }
    QVERIFY2(seen > plan.count / 2, qPrintable(QString::number(seen)));
}

void TestEmbeddings::legendHidesAndIsolates()
{
    open({});
    auto *view = m_screen->map()->legend()->view();
    const auto row = [&](int i) { return view->visualRect(view->model()->index(i, 0)).center(); };
    QTest::mouseClick(view->viewport(), Qt::LeftButton, {}, row(1));
    QCOMPARE(m_screen->panel()->images()->rowCount(), 40);
    for (std::int64_t i = 1; i < 60; i += 3) QVERIFY(canvas()->itemAt(*canvas()->position(i)) % 3 != 1);
    QTest::mouseClick(view->viewport(), Qt::LeftButton, {}, row(1));
    QCOMPARE(m_screen->panel()->images()->rowCount(), 60);
    QTest::mouseClick(view->viewport(), Qt::LeftButton, {}, row(2)); // a double-click begins with a click
    QTest::mouseDClick(view->viewport(), Qt::LeftButton, {}, row(2));
    QCOMPARE(m_screen->panel()->images()->rowCount(), 20);
    view->setCurrentIndex(view->model()->index(0, 0));
    QTest::keyClick(view, Qt::Key_Space);
    QCOMPARE(m_screen->panel()->images()->rowCount(), 40);
}

void TestEmbeddings::wheelZoomsWhereTheMouseIs()
{
    open({});
    const QPointF before = *canvas()->position(5);
    QWheelEvent event(before, canvas()->mapToGlobal(before), {}, QPoint(0, 240), Qt::NoButton, Qt::NoModifier,
                      Qt::NoScrollPhase, false);
    QCoreApplication::sendEvent(canvas(), &event);
    QVERIFY(canvas()->zoom() > 1.3);
    QVERIFY((*canvas()->position(5) - before).manhattanLength() < 0.5);
    QTest::keyClick(canvas(), Qt::Key_F);
    QCOMPARE(canvas()->zoom(), 1.0);
}

void TestEmbeddings::dragPansAndDoesNotChoose()
{
    open({});
    const QPointF before = *canvas()->position(5);
    const QPoint from = at(5);
    QTest::mousePress(canvas(), Qt::LeftButton, {}, from);
    QTest::mouseMove(canvas(), from + QPoint(30, 20));
    QTest::mouseMove(canvas(), from + QPoint(60, 40));
    QTest::mouseRelease(canvas(), Qt::LeftButton, {}, from + QPoint(60, 40));
    QVERIFY((*canvas()->position(5) - before - QPointF(60, 40)).manhattanLength() < 1);
    QCOMPARE(canvas()->chosen(), -1);
}

void TestEmbeddings::keysWork()
{
    open({});
    canvas()->setFocus();
    const QPointF before = *canvas()->position(5);
    QTest::keyClick(canvas(), Qt::Key_Right);
    QVERIFY(canvas()->position(5)->x() < before.x());
    QTest::keyClick(canvas(), Qt::Key_Plus);
    QVERIFY(canvas()->zoom() > 1);
}

void TestEmbeddings::epochsAreStepped()
{
    EmbeddingPlan plan;
    m_run = std::make_unique<runs::RunFolder>(testing::makeRun(runsFolder(), "epochs"));
    for (const int epoch : {0, 2, 5}) {
        plan.epoch = epoch;
        QVERIFY(testing::writeEmbeddings(*m_run, plan).ok());
    }
    makeScreen();
    m_screen->openRun(path(*m_run));
    QTRY_VERIFY(m_screen->data());
    QCOMPARE(m_screen->epoch(), 5); // the newest
    auto *bar = m_screen->findChild<EpochBar *>();
    QVERIFY2(bar->caption().contains(QLatin1String("Epoch 5")), qPrintable(bar->caption()));
    m_screen->choose(7);
    bar->track()->setFocus();
    QTest::keyClick(bar->track(), Qt::Key_Left);
    QTRY_COMPARE(m_screen->data()->store.meta().epoch, 2);
    QCOMPARE(canvas()->chosen(), 7); // the same image stays chosen
    QTest::mouseClick(bar->track(), Qt::LeftButton, {}, bar->track()->ringAt(0).toPoint());
    QTRY_COMPARE(m_screen->data()->store.meta().epoch, 0);
    m_screen->openRun(path(*m_run), 2);
    QTRY_COMPARE(m_screen->data()->store.meta().epoch, 2);
    QCOMPARE(m_screen->data()->scores.size(), std::size_t(6));
}

void TestEmbeddings::anotherRunIsOpened()
{
    const auto other = testing::makeRun(runsFolder(), "other", 3, 4);
    EmbeddingPlan plan;
    plan.count = 12;
    QVERIFY(testing::writeEmbeddings(other, plan).ok());
    open({});
    auto *box = m_screen->findChild<QComboBox *>();
    QTRY_COMPARE(box->count(), 2);
    QCOMPARE(box->currentText(), QStringLiteral("clusters"));
    box->setCurrentIndex(box->findText(QStringLiteral("other")));
    Q_EMIT box->activated(box->currentIndex());
    QTRY_COMPARE(m_screen->data()->count(), 12);
}

void TestEmbeddings::latestQuestionWins()
{
    const auto other = testing::makeRun(runsFolder(), "other");
    EmbeddingPlan plan;
    plan.count = 12;
    QVERIFY(testing::writeEmbeddings(other, plan).ok());
    open({});
    for (int i = 0; i < 5; ++i) {
        m_screen->openRun(path(*m_run));
        m_screen->openRun(path(other));
    }
    QTRY_COMPARE(m_screen->data()->count(), 12);
    QThreadPool::globalInstance()->waitForDone();
    QCoreApplication::processEvents();
    QCOMPARE(m_screen->data()->count(), 12);
}

void TestEmbeddings::withoutEmbeddingsTheyAreComputed()
{
    m_run = std::make_unique<runs::RunFolder>(testing::makeRun(runsFolder(), "fresh"));
    fakeCli("[ \"$1\" = embed ] && exec \"$PARALLAX_WORKER\" embed --run \"$2\" --epoch 3\n");
    makeScreen();
    m_screen->openRun(path(*m_run));
    QVERIFY2(emptyText().contains(QLatin1String("No embeddings yet")), qPrintable(emptyText()));
    QTest::mouseClick(computeButton(), Qt::LeftButton);
    QTRY_VERIFY(m_screen->data() != nullptr);
    QCOMPARE(m_screen->epoch(), 3);
    QVERIFY(m_screen->data()->count() > 0);
}

void TestEmbeddings::failedComputationIsSaid()
{
    m_run = std::make_unique<runs::RunFolder>(testing::makeRun(runsFolder(), "fresh"));
    fakeCli("echo '{\"error\": {\"what\": \"No checkpoint\", \"where\": \"\", \"hint\": \"Train first\"}}'; exit 1\n");
    makeScreen();
    m_screen->openRun(path(*m_run));
    QTest::mouseClick(computeButton(), Qt::LeftButton);
    QTRY_VERIFY(emptyText().contains(QLatin1String("No checkpoint. Train first")));
    QVERIFY(computeButton()->isEnabled());
    fakeCli("exec sleep 60\n");
    QTest::mouseClick(computeButton(), Qt::LeftButton);
    QTRY_COMPARE(computeButton()->text(), QStringLiteral("Cancel"));
    QTest::mouseClick(computeButton(), Qt::LeftButton);
    QTRY_VERIFY(emptyText().contains(QLatin1String("No embeddings yet")));
}

void TestEmbeddings::noRuns()
{
    makeScreen();
    QTRY_VERIFY(emptyText().contains(QLatin1String("No runs yet")));
    QVERIFY(!computeButton()->isVisible());
}

void TestEmbeddings::deletedRunIsSaid()
{
    open({});
    std::filesystem::remove_all(m_run->path());
    m_workspace->refresh();
    QTRY_VERIFY(emptyText().contains(QLatin1String("deleted")));
    QVERIFY(!m_screen->data());
    m_screen->openRun(QStringLiteral("/nowhere/run"));
    QVERIFY(emptyText().contains(QLatin1String("/nowhere/run")));
}

void TestEmbeddings::damagedEmbeddingsAreSaid()
{
    m_run = std::make_unique<runs::RunFolder>(testing::makeRun(runsFolder(), "damaged"));
    QVERIFY(testing::writeEmbeddings(*m_run, {}).ok());
    QFile items(QString::fromStdString((m_run->embeddings(1) / "items.jsonl").string()));
    QVERIFY(items.open(QIODevice::Append));
    items.write("{\"id\": 1, \"path\": \"one too many\", \"label\": 0, \"split\": \"train\"}\n");
    items.close();
    makeScreen();
    m_screen->openRun(path(*m_run));
    QTRY_VERIFY(emptyText().contains(QLatin1String("61 items where meta.json says 60")));
    QVERIFY(computeButton()->isVisible());
}

void TestEmbeddings::missingThumbnailsAreSaid()
{
    EmbeddingPlan plan;
    plan.thumbs = false;
    open(plan);
    QVERIFY(m_screen->findChild<Thumbs *>()->problem().contains(QLatin1String("without thumbnails")));
    m_screen->grab(); // paints icons instead
    m_screen.reset();
    m_workspace.reset();
    m_dir = std::make_unique<QTemporaryDir>();

    m_run = std::make_unique<runs::RunFolder>(testing::makeRun(runsFolder(), "lost"));
    QVERIFY(testing::writeEmbeddings(*m_run, {}).ok());
    std::filesystem::remove(m_run->embeddings(1) / "thumbs-0.png");
    makeScreen();
    m_screen->openRun(path(*m_run));
    QTRY_VERIFY(m_screen->data());
    auto *thumbs = m_screen->findChild<Thumbs *>();
    QVERIFY(thumbs->tile(0).isNull());
    QTRY_VERIFY(thumbs->problem().contains(QLatin1String("thumbs-0.png")));
    (void)thumbs->tile(40);
    QTRY_VERIFY(!thumbs->tile(40).isNull()); // the other atlas is still there
}

void TestEmbeddings::oddVectorsAreNamed_data()
{
    QTest::addColumn<std::vector<float>>("vectors");
    QTest::addColumn<QString>("says");
    const float bad = std::numeric_limits<float>::quiet_NaN();
    QTest::newRow("NaN") << std::vector<float>{1, 2, bad, 1, 3, 4, 5, 7} << "1 of 4 vectors hold NaN";
    QTest::newRow("all NaN") << std::vector<float>(8, bad) << "4 of 4 vectors hold NaN";
    QTest::newRow("equal") << std::vector<float>(8, 0.5F) << "All vectors are equal";
    QTest::newRow("all zero") << std::vector<float>(8, 0.0F) << "All vectors are equal";
    QTest::newRow("one zero") << std::vector<float>{1, 2, 0, 0, 3, 4, 5, 7} << "1 vectors are zero";
}

void TestEmbeddings::oddVectorsAreNamed()
{
    QFETCH(std::vector<float>, vectors);
    QFETCH(QString, says);
    EmbeddingPlan plan;
    plan.count = 4;
    plan.dim = 2;
    plan.vectors = vectors;
    open(plan);
    QVERIFY2(m_screen->map()->remarks().contains(says), qPrintable(m_screen->map()->remarks()));
    m_screen->choose(1); // in most rows the odd one
    QTRY_VERIFY(!m_screen->panel()->voteText().contains(QLatin1String("Searching")));
    m_screen->grab();
    if (says.startsWith(QLatin1String("1 "))) {
        QVERIFY(m_screen->panel()->voteText().contains(QLatin1String("undefined")));
        m_screen->choose(0); // the odd one is nobody's neighbour
        QTRY_COMPARE(m_screen->panel()->neighbours()->rowCount(), 2);
        QCOMPARE(m_screen->panel()->neighbours()->rowOf(1), -1);
    }
}

void TestEmbeddings::oneImage()
{
    EmbeddingPlan plan;
    plan.count = plan.classes = 1;
    open(plan);
    QCOMPARE(*canvas()->position(0), *canvas()->position(0));
    QTest::mouseClick(canvas(), Qt::LeftButton, {}, at(0));
    QTRY_VERIFY(m_screen->panel()->voteText().contains(QLatin1String("no other image")));
}

void TestEmbeddings::unlabelledImages()
{
    EmbeddingPlan plan;
    plan.labels = false;
    open(plan);
    QCOMPARE(m_screen->map()->classes()->rowCount(), 1);
    QCOMPARE(m_screen->map()->classes()->index(0).data().toString(), QStringLiteral("All images"));
}

void TestEmbeddings::namesWithControlCharacters()
{
    m_run = std::make_unique<runs::RunFolder>(testing::makeRun(runsFolder(), "names"));
    const std::vector<embedding::Item> items{
        {1, "tab\there/0.png", 0, "train"}, {2, "new\nline/0.png", 1, "train"}, {3, "", -1, ""}};
    const std::vector<float> vectors{1, 0, 0, 1, 1, 1};
    QVERIFY(
        embedding::writeStore(m_run->embeddings(1), {3, 2, 0, 1, {"tab\there", "猫"}, "", 0, 0, 0}, items, vectors.data())
            .ok());
    const auto data = loadMap(path(*m_run), 1, nullptr);
    QVERIFY(data.ok());
    for (std::int64_t i = 0; i < 3; ++i) {
        const QString name = (*data)->name(i);
        QVERIFY(!name.isEmpty());
        QVERIFY(std::none_of(name.begin(), name.end(), [](QChar c) { return c.category() == QChar::Other_Control; }));
    }
    QCOMPARE((*data)->classes[1].name, QStringLiteral("猫"));
}

QTEST_MAIN(TestEmbeddings)
#include "tst_embeddings.moc"
