// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/json/strict.h"
#include "core/runs/events.h"
#include "core/runs/safetensors.h"

#include <QElapsedTimer>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <filesystem>
#include <fstream>
#include <random>

using namespace parallax;
namespace fs = std::filesystem;

/// Sound and broken files with a few bytes changed, by a fixed seed: whatever the bytes, the readers answer. Worth most in the
/// build with sanitizers.
class Mutations : public QObject
{
    Q_OBJECT

private:
    QTemporaryDir m_dir;
    std::mt19937 m_random{20'261'130};

    std::size_t below(std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(m_random); }

    static std::vector<std::string> seeds(const char *folder)
    {
        std::vector<std::string> texts;
        for (const auto &entry : fs::directory_iterator(fs::path(PARALLAX_SOURCE_DIR "/tests/data") / folder)) {
            std::ifstream file(entry.path(), std::ios::binary);
            texts.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
        }
        std::ranges::sort(texts); // the folder's order differs from machine to machine
        return texts;
    }

    std::string mutated(std::string text, const std::string &other)
    {
        static const std::string loved = "{}[]\",:\\u0-9eE+.\n\r";
        for (std::size_t n = 1 + below(6); n > 0; --n) {
            const std::size_t at = below(text.size() + 1);
            switch (below(5)) {
            case 0: text.insert(at, 1, loved[below(loved.size())]); break;
            case 1: text.insert(at, 1, char(below(256))); break;
            case 2: text.erase(at, 1 + below(8)); break;
            case 3:
                if (at < text.size()) text[at] = char(text[at] ^ (1 << below(8)));
                break;
            default: text.insert(at, other.substr(below(other.size() + 1), below(40))); break;
            }
        }
        return text;
    }

    /// At most `limit` mutations and two seconds; a slow machine sees a shorter prefix of the same sequence.
    template<class Use>
    void forEachMutation(const char *folder, int limit, Use use)
    {
        const auto texts = seeds(folder);
        QVERIFY(texts.size() > 5);
        QElapsedTimer timer;
        timer.start();
        for (int i = 0; i < limit && timer.elapsed() < 2000; ++i)
            use(mutated(texts[below(texts.size())], texts[below(texts.size())]));
    }

    std::string write(const std::string &bytes) const
    {
        const std::string path = m_dir.filePath("mutated").toStdString();
        std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
        return path;
    }

private Q_SLOTS:
    void json()
    {
        forEachMutation("config", 20'000, [](const std::string &text) {
            const auto parsed = json::parse(text, {.depth = 16, .comments = true});
            if (const auto *problem = std::get_if<json::Problem>(&parsed)) {
                QVERIFY(!problem->what.empty() && problem->offset <= text.size());
                return;
            }
            // What was taken must be JSON to the library's own reader as well.
            QVERIFY(!json::Json::parse(text, nullptr, false, true).is_discarded());
        });
    }

    void safetensors()
    {
        forEachMutation("safetensors", 10'000, [this](const std::string &bytes) {
            const auto file = runs::SafetensorsFile::open(write(bytes));
            if (!file) return;
            unsigned sum = 0; // every byte that is handed out can be read
            for (const auto &[name, info] : file->tensors())
                for (std::uint64_t i = info.begin; i < info.end; ++i) sum += unsigned(file->data(info)[i - info.begin]);
            QVERIFY(sum < 256u * bytes.size());
        });
    }

    void events()
    {
        forEachMutation("events", 10'000, [this](const std::string &bytes) {
            runs::EventReader reader(write(bytes));
            std::size_t lines = 0;
            for (auto some = reader.poll(64); !some.empty(); some = reader.poll(64)) {
                lines += some.size();
                for (const auto &event : some)
                    for (const auto &value : event.fields) static_cast<void>(runs::figure(value));
            }
            const auto ends = std::size_t(std::ranges::count(bytes, '\n'));
            QVERIFY(lines <= ends && std::size_t(reader.skipped()) <= ends);
        });
    }
};

QTEST_GUILESS_MAIN(Mutations)
#include "tst_mutations.moc"
