// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/dist/cudamodule.h"
#include "core/engine/dist/ranks.h"
#include "tests/support/gradcheck.h"
#include "tests/support/rankprocesses.h"

#include <QTest>

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <stdexcept>

using namespace parallax;
using rankprocesses::check;

namespace {

constexpr auto f64 = torch::kFloat64;

/// Row i of rank r is (r, i): rank r holds r + 1 rows.
torch::Tensor rowsOf(int rank)
{
    torch::Tensor rows = torch::empty({rank + 1, 2}, f64);
    for (int i = 0; i <= rank; ++i) rows[i] = torch::tensor({double(rank), double(i)}, f64);
    return rows;
}

const rankprocesses::Body plain("plain", [](const rankprocesses::Ranks &ranks, const std::string &) {
    const int world = ranks->world(), rank = ranks->rank();
    torch::Tensor sum = torch::full({2, 3}, double(rank + 1), f64);
    ranks->allReduceSum(sum);
    check(sum.equal(torch::full({2, 3}, world * (world + 1) / 2.0, f64)), "allReduceSum");

    torch::Tensor wide = torch::full({3, 4}, double(rank), f64), column = wide.select(1, 1); // not contiguous
    ranks->allReduceMax(column);
    check(wide.select(1, 1).eq(world - 1).all().item<bool>(), "allReduceMax in place");
    check(wide.select(1, 0).eq(rank).all().item<bool>(), "allReduceMax touched its neighbours");

    std::vector<torch::Tensor> expected;
    for (int r = 0; r < world; ++r) expected.push_back(rowsOf(r));
    check(ranks->allGatherRows(rowsOf(rank)).equal(torch::cat(expected)), "allGatherRows with unequal rows");
    check(ranks->allGatherRows(rowsOf(1)).size(0) == 2 * world, "allGatherRows with equal rows");
    check(ranks->allGatherRows(torch::zeros({rank == 0 ? 0 : 2, 3})).size(0) == 2 * (world - 1),
          "allGatherRows, one without rows");
    const torch::Tensor stacked = ranks->allGatherEqual(torch::full({2}, rank, torch::kInt64));
    check(stacked.sizes() == torch::IntArrayRef({world, 2}) && stacked[world - 1][1].item<int>() == world - 1,
          "allGatherEqual");

    torch::Tensor root = torch::full({5}, double(rank), f64);
    ranks->broadcast(root, world - 1);
    check(root.eq(world - 1).all().item<bool>(), "broadcast");
    check(ranks->agreeMax(rank == 1 ? 7 : -3) == 7, "agreeMax");
    const auto [offset, total] = ranks->offsetOf(rank + 1);
    check(offset == rank * (rank + 1) / 2 && total == world * (world + 1) / 2, "offsetOf");
    ranks->barrier();
});

/// Something that depends on every gathered row, and differs between ranks.
torch::Tensor lossOf(const torch::Tensor &all, double weight)
{
    return weight * (torch::matmul(all, all.t()).sin().sum() + all.exp().sum());
}

const rankprocesses::Body gradients("gradients", [](const rankprocesses::Ranks &ranks, const std::string &) {
    torch::manual_seed(ranks->rank());
    const torch::Tensor rows = torch::randn({ranks->rank() + 2, 3}, f64).requires_grad_();
    const double weight = 1.0 + ranks->rank();
    double error = gradcheck::worstError(*ranks, {rows}, [&] { return lossOf(ranks->gather(rows), weight); });
    check(error < 1e-7, "gather: gradient off by " + std::to_string(error));

    const torch::Tensor part = torch::randn({4}, f64).requires_grad_();
    error = gradcheck::worstError(*ranks, {part}, [&] { return weight * ranks->sum(part.exp()).pow(2).sum(); });
    check(error < 1e-7, "sum: gradient off by " + std::to_string(error));
});

/// The same loss on every rank: the mean over ranks of the gradients is that of one process that holds all rows.
const rankprocesses::Body asOneProcess("asOneProcess", [](const rankprocesses::Ranks &ranks, const std::string &) {
    torch::manual_seed(5);
    const torch::Tensor weight = torch::randn({3, 3}, f64).requires_grad_(), whole = torch::randn({7, 3}, f64);
    const auto expected = torch::autograd::grad({lossOf(torch::matmul(whole, weight), 1)}, {weight})[0];

    const std::int64_t begin = 7 * ranks->rank() / ranks->world(), end = 7 * (ranks->rank() + 1) / ranks->world();
    const torch::Tensor own = torch::matmul(whole.narrow(0, begin, end - begin), weight);
    torch::Tensor gradient = torch::autograd::grad({lossOf(ranks->gather(own), 1)}, {weight})[0];
    ranks->allReduceSum(gradient);
    check(torch::allclose(gradient / ranks->world(), expected, 1e-12, 1e-12), "the ranks' mean gradient is not the whole's");
});

const rankprocesses::Body oneLeaves("oneLeaves", [](const rankprocesses::Ranks &ranks, const std::string &) {
    if (ranks->rank() == 1) return;
    try {
        for (int i = 0; i < 1000; ++i) ranks->barrier();
    } catch (const std::runtime_error &error) {
        check(std::string(error.what()).starts_with("Rank 0 lost the other ranks"), error.what());
        return;
    }
    check("a barrier without the other rank returned");
});

/// A port of the loopback interface that nobody listens on.
int freePort()
{
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    const bool bound = bind(fd, reinterpret_cast<sockaddr *>(&address), length) == 0 &&
        getsockname(fd, reinterpret_cast<sockaddr *>(&address), &length) == 0;
    close(fd);
    return bound ? ntohs(address.sin_port) : 0;
}

std::string connectFault(const dist::RanksOptions &options)
{
    try {
        dist::Ranks::connect(options);
    } catch (const std::runtime_error &error) {
        return error.what();
    }
    return {};
}

} // namespace

class Ranks : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void oneRankIsTheIdentity()
    {
        const auto ranks = dist::localRanks(torch::kCPU);
        const torch::Tensor rows = torch::randn({3, 2}, f64).requires_grad_();
        torch::Tensor sum = rows.detach().clone();
        ranks->allReduceSum(sum);
        QVERIFY(sum.equal(rows));
        QVERIFY(ranks->gather(rows).equal(rows) && ranks->sum(rows).equal(rows) && ranks->allGatherRows(rows).equal(rows));
        QVERIFY(!ranks->allGatherRows(rows).requires_grad());
        QVERIFY(ranks->allGatherEqual(rows).equal(rows.unsqueeze(0)));
        QCOMPARE(ranks->agreeMax(-4), std::int64_t(-4));
        QCOMPARE(ranks->offsetOf(3).second, std::int64_t(3));
        QVERIFY(gradcheck::worstError(*ranks, {rows}, [&] { return lossOf(ranks->gather(rows), 2); }) < 1e-7);
        QVERIFY(gradcheck::worstError(*ranks, {rows}, [&] { return ranks->sum(rows.exp()).sum(); }) < 1e-7);
    }

    void collectives_data() { worlds(); }
    void collectives() { compare("plain"); }
    void gradientsAreThoseOfTheSummedLoss_data() { worlds(); }
    void gradientsAreThoseOfTheSummedLoss() { compare("gradients"); }
    void meanGradientIsThatOfOneProcess_data() { worlds(); }
    void meanGradientIsThatOfOneProcess() { compare("asOneProcess"); }

    void ranksMeetOverTcp()
    {
        const QByteArray fault = rankprocesses::run("plain", 2, {}, "tcp://127.0.0.1:" + std::to_string(freePort()));
        QVERIFY2(fault.isEmpty(), fault);
    }

    void aRankThatLeavesEndsTheOthersCollective()
    {
        const QByteArray fault = rankprocesses::run("oneLeaves", 2);
        QVERIFY2(fault.isEmpty(), fault);
    }

    void badOptionsAreSaidPlainly()
    {
        QCOMPARE(connectFault({.rank = 2, .world = 2, .store = "x"}),
                 std::string("Rank 2 of 2 does not exist: ranks count from 0"));
        QVERIFY(connectFault({.rank = 0, .world = 2}).starts_with("Several ranks need a rendezvous"));
        QCOMPARE(connectFault({.rank = 0, .world = 2, .store = "tcp://somewhere"}),
                 std::string("The rendezvous address tcp://somewhere is not of the form tcp://host:port"));
        QCOMPARE(connectFault({.rank = 0, .world = 2, .store = "/no/such/folder/store"}),
                 std::string("The ranks cannot meet at the file /no/such/folder/store: No such file or directory"));
    }

    void aMissingCudaModuleIsSaidPlainly() // it lies beside the worker, not beside this test
    {
        std::string error;
        QVERIFY(!dist::openCudaModule(error));
        QVERIFY2(error.starts_with("This build has no CUDA module: "), error.c_str());
        std::string again;
        QVERIFY(!dist::openCudaModule(again));
        QCOMPARE(again, error);
    }

    void ranksThatDoNotComeEndTheWait()
    {
        QTemporaryDir folder;
        const std::string fault =
            connectFault({.rank = 0, .world = 2, .store = folder.filePath("store").toStdString(), .timeoutSeconds = 0.5});
        QVERIFY2(fault.starts_with("Rank 0 of 2 did not meet the others"), fault.c_str());
    }

private:
    static void worlds()
    {
        QTest::addColumn<int>("world");
        QTest::newRow("2 ranks") << 2;
        QTest::newRow("3 ranks") << 3;
    }
    static void compare(const char *body)
    {
        QFETCH(int, world);
        const QByteArray fault = rankprocesses::run(body, world);
        QVERIFY2(fault.isEmpty(), fault);
    }
};

RANK_TEST_MAIN(Ranks)
#include "tst_ranks.moc"
