// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "tests/engine/reference/kinds.h"
#include "tests/support/rankprocesses.h"

#include <QTest>

#include <fstream>
#include <iostream>
#include <regex>

using namespace parallax;

namespace reference {

std::map<std::string, Kind> &kinds()
{
    static std::map<std::string, Kind> all;
    return all;
}

void Checking::compare(const std::string &name, const torch::Tensor &got)
{
    m_seen.insert(name);
    if (std::string fault = file.differs(name, got); !fault.empty()) m_faults.push_back(std::move(fault));
}

void Checking::compare(const std::string &name, const torch::Tensor &got, const torch::Tensor &right)
{
    m_seen.insert(name);
    if (std::string fault = file.differs(name, got, right); !fault.empty()) m_faults.push_back(std::move(fault));
}

void Checking::differentiate(const std::vector<std::string> &inputs,
                             const std::function<torch::Tensor(const std::vector<torch::Tensor> &)> &loss)
{
    for (const std::string twin : {".", "64."}) {
        if (!file.has(own() + "output" + twin + "loss")) continue;
        std::vector<torch::Tensor> leaves;
        for (const auto &name : inputs)
            leaves.push_back(
                file.tensor(own() + "input." + name).to(twin == "." ? torch::kFloat32 : torch::kFloat64).requires_grad_());
        const torch::Tensor value = loss(leaves);
        compare(own() + "output" + twin + "loss", value);
        value.backward();
        for (std::size_t i = 0; i < inputs.size(); ++i)
            if (const std::string name = own() + "grad" + twin + inputs[i]; file.has(name)) compare(name, leaves[i].grad());
    }
}

std::vector<std::string> Checking::faults() const
{
    std::vector<std::string> all = m_faults;
    for (const auto &name : file.expected) {
        // A rank answers for its own tensors, "rank1.…" or "….rank1.…", the first for those that belong to none.
        static const std::regex ranked("(^|\\.)rank([0-9]+)\\.");
        std::smatch match;
        const int owner = std::regex_search(name, match, ranked) ? std::stoi(match[2]) : 0;
        if (m_seen.count(name) == 0 && owner == ranks->rank()) all.push_back(name + " was not compared");
    }
    return all;
}

namespace {

/// Checks one case on the given ranks; throws what was wrong.
void checkCase(const std::string &name, const std::shared_ptr<const dist::Ranks> &ranks)
{
    const Case file(name);
    Checking checking(file, ranks);
    kinds().at(file.kind).check(checking);
    std::string all;
    for (const auto &fault : checking.faults()) all += fault + "\n";
    if (!all.empty()) throw std::runtime_error(all);
}

/// Processes that a case is of.
int worldOf(const Case &file)
{
    if (file.params.contains("rank_batch")) return int(file.params.at("rank_batch").size());
    return file.params.value("world_size", 1);
}

const rankprocesses::Body onRanks("case", [](const rankprocesses::Ranks &ranks, const std::string &name) {
    checkCase(name, ranks);
});

} // namespace
} // namespace reference

/// Every case of the folder, as tests/reference/README.md describes them.
class Reference : public QObject
{
    Q_OBJECT

public:
    int cases = 0, passed = 0;

private Q_SLOTS:
    void everyIndexedFileIsThere()
    {
        const auto index = reference::folder() / "index.json";
        if (!std::filesystem::exists(index)) {
            QVERIFY2(qEnvironmentVariableIsSet("PARALLAX_REFERENCE_DIR"), "the tree's own cases have an index.json");
            return; // another folder need not have one
        }
        std::ifstream stream(index);
        for (const auto &entry : nlohmann::json::parse(stream).at("cases")) {
            const std::string file = entry.at("file");
            if (!std::filesystem::exists(reference::folder() / file)) missing(file);
        }
        QVERIFY2(m_missing.isEmpty(), m_missing);
    }

    void agrees_data()
    {
        QTest::addColumn<QString>("name");
        for (const auto &name : reference::allCases()) {
            QTest::newRow(name.c_str()) << QString::fromStdString(name);
            ++cases;
        }
        if (cases == 0) QFAIL("the folder holds no case");
    }
    void agrees()
    {
        QFETCH(QString, name);
        QByteArray fault;
        try {
            const reference::Case file(name.toStdString());
            const auto kind = reference::kinds().find(file.kind);
            if (kind == reference::kinds().end()) throw std::runtime_error("nothing checks the kind " + file.kind);
            if (!kind->second.rule.empty() && m_told.insert(file.kind).second)
                std::cout << "rule: " << file.kind << ": " << kind->second.rule << std::endl;
            if (const int world = reference::worldOf(file); world > 1)
                fault = rankprocesses::run("case", world, name.toStdString());
            else
                reference::checkCase(name.toStdString(), m_alone);
        } catch (const std::exception &exception) {
            fault = exception.what();
        }
        QVERIFY2(fault.isEmpty(), fault);
        ++passed;
    }

private:
    void missing(const std::string &file)
    {
        m_missing += "index.json names " + file + ", which is not there\n";
        ++cases; // and does not pass
    }

    QByteArray m_missing;
    std::set<std::string> m_told;
    const std::shared_ptr<dist::Ranks> m_alone = dist::localRanks(torch::kCPU);
};

int main(int argc, char **argv)
{
    if (const auto code = rankprocesses::runAsRank(argc, argv)) return *code;
    QCoreApplication app(argc, argv);
    torch::set_num_threads(1);
    Reference test;
    const int failures = QTest::qExec(&test, argc, argv);
    std::cout << "reference: " << test.cases << " cases, " << test.passed << " passed" << std::endl;
    return failures;
}
#include "tst_reference.moc"
