// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include <QDirIterator>
#include <QProcess>
#include <QRegularExpression>
#include <QTest>

#include <map>
#include <set>

/// The order of the layers, checked three ways: what files include, what targets link, what the studio loads.
class Layering : public QObject
{
    Q_OBJECT

private:
    using Names = std::set<QString>;

    /// Folder → folders whose headers it may include, besides itself.
    static const std::map<QString, Names> &allowedIncludes()
    {
        static const Names engine{"core/base", "core/json", "core/config", "core/runs"};
        static const auto with = [](Names names, const Names &more) {
            names.insert(more.begin(), more.end());
            return names;
        };
        static const Names session{"core/base", "core/json", "core/config", "core/runs", "core/metrics", "core/embedding"};
        static const std::map<QString, Names> allowed{
            {"core/base", {}},
            {"core/json", {"core/base"}},
            {"core/config", {"core/base", "core/json"}},
            {"core/runs", {"core/base", "core/json"}},
            {"core/metrics", {"core/base"}},
            {"core/embedding", {"core/base", "core/json", "core/runs"}},
            {"core/datasets", {"core/base", "core/config"}},
            {"core/session", session},
            {"core/cli", with(session, {"core/datasets", "core/session"})},
            {"core/engine/data", engine},
            {"core/engine/dist", engine},
            {"core/engine/cuda", {"core/base", "core/engine/dist"}},
            {"core/engine/augment", with(engine, {"core/engine/data"})},
            {"core/engine/nn", with(engine, {"core/engine/dist"})},
            {"core/engine/losses", with(engine, {"core/engine/dist"})},
            {"core/engine/optim", engine},
            {"core/engine/methods",
             with(engine,
                  {"core/engine/data", "core/engine/dist", "core/engine/nn", "core/engine/losses", "core/engine/optim"})},
            {"core/engine/eval",
             with(engine,
                  {"core/engine/data", "core/engine/dist", "core/engine/nn", "core/engine/optim", "core/engine/methods"})},
            {"core/engine/train",
             with(engine,
                  {"core/embedding", "core/engine/augment", "core/engine/data", "core/engine/dist", "core/engine/nn",
                   "core/engine/losses", "core/engine/optim", "core/engine/methods", "core/engine/eval"})},
            {"ui", with(session, {"core/session"})},
            {"app/studio", with(session, {"core/session", "ui"})},
            {"app/cli", {"core/base", "core/cli"}},
            {"app/worker", with(engine, {"core/engine/train"})},
        };
        return allowed;
    }

    static QString layerOf(const QString &path)
    {
        QString best;
        for (const auto &[folder, names] : allowedIncludes())
            if (path.startsWith(folder + '/') && folder.size() > best.size()) best = folder;
        return best;
    }

    template<class Visit>
    static int forEachInclude(Visit visit)
    {
        // \x22 stands for the quote: moc loses its way in a raw string that holds an odd number of them.
        static const QRegularExpression include(R"(^\s*#\s*include\s*[<\x22]([^>\x22]+)[>\x22])",
                                                QRegularExpression::MultilineOption);
        const QDir root(PARALLAX_SOURCE_DIR);
        int files = 0;
        for (const char *top : {"core", "ui", "app"}) {
            QDirIterator it(root.filePath(top), {"*.h", "*.cpp"}, QDir::Files, QDirIterator::Subdirectories);
            while (it.hasNext()) {
                QFile file(it.next());
                if (!file.open(QIODevice::ReadOnly)) qFatal("cannot read %s", qPrintable(file.fileName()));
                const QString text = QString::fromUtf8(file.readAll());
                ++files;
                for (auto match = include.globalMatch(text); match.hasNext();)
                    visit(root.relativeFilePath(file.fileName()), match.next().captured(1));
            }
        }
        return files;
    }

private Q_SLOTS:
    void includesPointDown()
    {
        QStringList wrong;
        const int files = forEachInclude([&](const QString &file, const QString &included) {
            const QString from = layerOf(file), to = layerOf(included);
            if (from.isEmpty()) wrong << file + ": in no known layer (add its folder to this test and to ARCHITECTURE.md)";
            if (!to.isEmpty() && to != from && !allowedIncludes().at(from).count(to))
                wrong << file + " includes " + included;
        });
        QVERIFY2(files > 50, "no sources found");
        wrong.removeDuplicates();
        QVERIFY2(wrong.isEmpty(), qPrintable(wrong.join('\n')));
    }

    void foreignHeadersStayInTheirLayer()
    {
        struct Rule {
            const char *header;
            const char *where;
        };
        static const Rule rules[] = {
            {"^(torch|ATen|c10)/", "^(core/engine/(dist|cuda|augment|nn|losses|optim|methods|eval|train)/|app/worker/)"},
            {"c10d|gloo/", "^core/engine/(dist|cuda)/"},
            {"^opencv2/", "^(core/engine/(data|augment|eval|train)/|app/worker/)"},
            {"^Q[A-Z]", "^(core/datasets/|core/session/|core/cli/|ui/|app/(studio|cli)/)"},
            {"^(QWidget|QMainWindow|QPainter|QApplication|qcustomplot)", "^(ui/|app/studio/)"},
            {"^curl/", "^core/datasets/"},
            {"^hnswlib/", "^core/embedding/"},
            {"^(cuda|nccl|nvml)", "^core/engine/cuda/"},
            {"^nlohmann/", "^(?!core/(base|metrics)/)"},
        };
        QStringList wrong;
        forEachInclude([&](const QString &file, const QString &included) {
            for (const auto &rule : rules)
                if (included.contains(QRegularExpression(rule.header)) && !included.startsWith("core/") &&
                    !file.contains(QRegularExpression(rule.where)))
                    wrong << file + " includes " + included;
        });
        QVERIFY2(wrong.isEmpty(), qPrintable(wrong.join('\n')));
    }

    void targetsLinkDown()
    {
        // Written by CMake: "target: library library …" a line.
        QFile file(PARALLAX_TARGET_LINKS);
        QVERIFY(file.open(QIODevice::ReadOnly));
        std::map<QString, Names> links;
        for (const QString &line : QString::fromUtf8(file.readAll()).split('\n', Qt::SkipEmptyParts)) {
            const auto parts = line.split(QRegularExpression("[:; ]+"), Qt::SkipEmptyParts);
            links[parts.front()] = Names(parts.begin() + 1, parts.end());
        }
        QVERIFY(links.count("parallax_base") && links.count("parallax_session"));
        const auto reachable = [&](const QString &target) {
            Names seen;
            QStringList next{target};
            while (!next.isEmpty()) {
                const QString name = next.takeLast();
                if (!seen.insert(name).second) continue;
                if (const auto it = links.find(name); it != links.end())
                    for (const auto &library : it->second) next << library;
            }
            return seen;
        };
        const auto forbids = [&](const QString &target, const QRegularExpression &library) {
            for (const auto &name : reachable(target))
                if (name.contains(library)) return target + " links " + name;
            return QString();
        };
        for (const char *pure : {"parallax_base", "parallax_json", "parallax_config", "parallax_runs", "parallax_metrics",
                                 "parallax_embedding"})
            QCOMPARE(forbids(pure, QRegularExpression("Qt6|Torch|opencv|parallax_(session|cli|ui|train)")), QString());
        for (const char *front : {"parallax_session", "parallax_cli", "parallax_ui"})
            if (links.count(front))
                QCOMPARE(forbids(front, QRegularExpression("Torch|opencv|parallax_(data|dist|augment|nn|train)$")),
                         QString());
        QCOMPARE(forbids("parallax_data", QRegularExpression("Qt6|Torch")), QString());
        if (links.count("parallax_train"))
            QCOMPARE(forbids("parallax_train", QRegularExpression("Qt6|torch_cuda|nccl")), QString());
    }

    void studioLoadsNoEngine()
    {
        const QString studio = QStringLiteral(PARALLAX_BIN_DIR "/parallax-studio");
        if (!PARALLAX_HAS_STUDIO) QSKIP("configured without the studio"); // otherwise it has to be there
        QVERIFY(QFile::exists(studio));
        QProcess ldd;
        ldd.start("ldd", {studio}); // all that the loader would bring in, not only the direct needs
        QVERIFY(ldd.waitForFinished(30'000));
        const QString loaded = QString::fromUtf8(ldd.readAllStandardOutput());
        QVERIFY2(loaded.contains("libQt6Widgets"), qPrintable(loaded));
        // By name: the addresses that ldd prints may well hold a "c10".
        static const QRegularExpression engine(R"(lib(torch|c10|opencv|cuda|cudart|cudnn|nccl|gloo)\S*)");
        QCOMPARE(engine.match(loaded).captured(), QString());
    }
};

QTEST_GUILESS_MAIN(Layering)
#include "tst_layering.moc"
