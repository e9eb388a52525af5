// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/data/random.h"

#include <QTest>

#include <set>

using namespace parallax::data;

class TestRandom : public QObject
{
    Q_OBJECT

private slots:
    /// The known answers that the authors of Philox publish with their implementation.
    void philoxKnownAnswers()
    {
        using Four = std::array<std::uint32_t, 4>;
        QVERIFY(philox({0, 0, 0, 0}, {0, 0}) == (Four{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
        constexpr std::uint32_t ones = 0xffffffff;
        QVERIFY(philox({ones, ones, ones, ones}, {ones, ones}) == (Four{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
        QVERIFY(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
                (Four{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
    }

    void fnvKnownAnswers()
    {
        QCOMPARE(fnv1a("", 0), 0xcbf29ce484222325ULL);
        QCOMPARE(fnv1a("a", 1), 0xaf63dc4c8601ec8cULL);
        QCOMPARE(fnv1a("foobar", 6), 0x85944171f73967e8ULL);
    }

    void streamsDifferInEveryPartOfTheKey()
    {
        const auto first = [](const ViewKey &key, Random::Purpose purpose) { return Random(key, purpose).bits(); };
        using Purpose = Random::Purpose;
        std::set<std::uint32_t> seen;
        seen.insert(first({1, 0, 5, 0}, Purpose::Crop));
        seen.insert(first({2, 0, 5, 0}, Purpose::Crop));
        seen.insert(first({1, 1, 5, 0}, Purpose::Crop));
        seen.insert(first({1, 0, 6, 0}, Purpose::Crop));
        seen.insert(first({1, 0, 5ULL << 32, 0}, Purpose::Crop));
        seen.insert(first({1, 0, 5, 1}, Purpose::Crop));
        seen.insert(first({1, 0, 5, 0}, Purpose::Flip));
        seen.insert(first({0, 1, 5, 0}, Purpose::Crop)); // seed and epoch are not interchangeable
        QCOMPARE(seen.size(), std::size_t(8));
        QCOMPARE(first({1, 0, 5, 0}, Purpose::Crop), first({1, 0, 5, 0}, Purpose::Crop));
    }

    void uniformFillsItsRange()
    {
        Random random({3, 0, 0, 0}, Random::Purpose::Crop);
        std::array<int, 10> bins{};
        double sum = 0;
        for (int i = 0; i < 20'000; ++i) {
            const float u = random.uniform();
            QVERIFY(u >= 0 && u < 1);
            ++bins[std::size_t(u * 10)];
            sum += u;
        }
        QVERIFY(std::abs(sum / 20'000 - 0.5) < 0.01);
        for (const int count : bins) QVERIFY2(std::abs(count - 2'000) < 200, qPrintable(QString::number(count)));
    }

    void belowIsFair()
    {
        Random random({4, 0, 0, 0}, Random::Purpose::Crop);
        std::array<int, 7> bins{};
        for (int i = 0; i < 14'000; ++i) ++bins[random.below(7)];
        for (const int count : bins) QVERIFY2(std::abs(count - 2'000) < 200, qPrintable(QString::number(count)));
        for (int i = 0; i < 100; ++i) QCOMPARE(random.below(1), std::uint64_t(0));
    }

    void mixHasNoSymmetry()
    {
        QVERIFY(mix(1, 2) != mix(2, 1));
        QVERIFY(mix(0, 0) != 0);
        std::set<std::uint64_t> seen;
        for (std::uint64_t a = 0; a < 50; ++a)
            for (std::uint64_t b = 0; b < 50; ++b) seen.insert(mix(a, b));
        QCOMPARE(seen.size(), std::size_t(2'500));
    }
};

QTEST_GUILESS_MAIN(TestRandom)
#include "tst_random.moc"
