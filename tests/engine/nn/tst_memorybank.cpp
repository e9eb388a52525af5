// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/nn/memorybank.h"
#include "core/engine/nn/weights.h"
#include "tests/support/rankprocesses.h"

#include <QTest>

using namespace parallax;
using rankprocesses::check;

namespace {

/// Rows [n, 2] that hold first, first + 1, … in both columns.
torch::Tensor counted(std::int64_t first, std::int64_t n)
{
    return torch::arange(first, first + n, torch::kFloat32).unsqueeze(1).expand({n, 2});
}

const rankprocesses::Body inRankOrder("inRankOrder", [](const rankprocesses::Ranks &ranks, const std::string &) {
    torch::manual_seed(1);
    nn::MemoryBank bank(5, 2);
    const std::int64_t rank = ranks->rank(); // unequal shares: 1 and 2 rows
    bank->enqueue(counted(10 + rank, 1 + rank), *ranks);
    check(bank->rows().narrow(0, 0, 3).equal(counted(10, 3)), "not in rank order");
    check(bank->bank_ptr.item<std::int64_t>() == 3, "the pointer has not moved by the rows of all ranks");
    bank->enqueue(counted(20 + rank, 1 + rank), *ranks);
    const torch::Tensor all = ranks->allGatherEqual(bank->bank);
    check(all[0].equal(all[1]), "the ranks' banks differ");
    check(bank->rows()[0].equal(counted(22, 1)[0]) && bank->bank_ptr.item<std::int64_t>() == 1, "it has not wrapped");
});

} // namespace

class MemoryBank : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void startsWithUnitRowsFromTheSeed()
    {
        torch::manual_seed(3);
        const torch::Tensor first = nn::MemoryBank(6, 4)->rows();
        torch::manual_seed(3);
        QVERIFY(nn::MemoryBank(6, 4)->rows().equal(first));
        QVERIFY(torch::allclose(first.norm(2, 1), torch::ones({6})));
        QVERIFY_EXCEPTION_THROWN(nn::MemoryBank(0, 4), c10::Error);
    }

    void wrapsAround()
    {
        nn::MemoryBank bank(5, 2);
        std::vector<std::int64_t> ring(5, -1);
        std::int64_t next = 0, value = 0;
        for (const std::int64_t n : {3, 3, 1, 0, 5, 12, 4}) {
            bank->enqueue(counted(value, n), *m_alone);
            for (std::int64_t i = 0; i < n; ++i, next = (next + 1) % 5) ring[std::size_t(next)] = value++;
            QCOMPARE(bank->bank_ptr.item<std::int64_t>(), next);
            for (std::int64_t i = 0; i < 5; ++i)
                if (ring[std::size_t(i)] >= 0) QCOMPARE(bank->bank[i][0].item<double>(), double(ring[std::size_t(i)]));
        }
        QVERIFY_EXCEPTION_THROWN(bank->enqueue(torch::zeros({2, 3}), *m_alone), c10::Error);
    }

    void whatWasReadStays()
    {
        nn::MemoryBank bank(4, 2);
        const torch::Tensor z = torch::randn({4, 2}).requires_grad_();
        const torch::Tensor loss = torch::matmul(z, bank->rows().t()).sum();
        bank->enqueue(z, *m_alone);
        loss.backward(); // would throw if the rows had changed under it
        QVERIFY(!bank->bank.requires_grad());
    }

    void isPartOfTheState()
    {
        QStringList names;
        for (const auto &[name, tensor] : nn::stateDict(*nn::MemoryBank(2, 2))) names << QString::fromStdString(name);
        QCOMPARE(names, QStringList({"bank", "bank_ptr"}));
    }

    void findsTheNearestByCosine()
    {
        nn::MemoryBank bank(3, 2);
        bank->enqueue(torch::tensor({{1.0, 0.0}, {0.0, 5.0}, {-1.0, -1.0}}, torch::kFloat32), *m_alone);
        const torch::Tensor z = torch::tensor({{0.1, 1.0}, {3.0, 1.0}, {-0.1, -0.2}}, torch::kFloat32);
        QVERIFY(bank->nearest(z).equal(bank->rows().index_select(0, torch::tensor({1, 0, 2}))));
        QVERIFY_EXCEPTION_THROWN(bank->nearest(torch::zeros({1, 3})), c10::Error);
    }

    void keepsItsTypeAndTakesHalfPrecision()
    {
        nn::MemoryBank bank(3, 2);
        bank->enqueue(torch::ones({1, 2}, torch::kBFloat16), *m_alone);
        QCOMPARE(bank->bank.scalar_type(), torch::kFloat32);
    }

    void rowsOfAllRanksInRankOrder()
    {
        const QByteArray fault = rankprocesses::run("inRankOrder", 2);
        QVERIFY2(fault.isEmpty(), fault);
    }

private:
    const std::shared_ptr<dist::Ranks> m_alone = dist::localRanks(torch::kCPU);
};

RANK_TEST_MAIN(MemoryBank)
#include "tst_memorybank.moc"
