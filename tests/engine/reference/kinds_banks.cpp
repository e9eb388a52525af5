// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/losses/ntxent.h"
#include "core/engine/nn/memorybank.h"
#include "core/engine/nn/weights.h"
#include "tests/engine/reference/lossplan.h"

namespace reference {
namespace {

using namespace parallax;

/// A bank as the reference has it until a batch does not fit before its end; what is right from then on: a ring, row by row.
struct Ring {
    torch::Tensor rows;
    std::int64_t next = 0;
    bool wrapped = false; ///< the reference has lost a tail

    void write(const torch::Tensor &batch)
    {
        wrapped |= next + batch.size(0) > rows.size(0);
        for (std::int64_t i = 0; i < batch.size(0); ++i, next = (next + 1) % rows.size(0)) rows[next].copy_(batch[i]);
    }
    torch::Tensor pointer() const { return torch::tensor({next}, torch::kInt64); }
};

/// Compares with the file, or once it has lost a tail with what is right.
void compareUntilWrapped(Checking &checking, bool wrapped, const std::string &name, const torch::Tensor &got,
                         const torch::Tensor &right)
{
    if (!checking.file.has(name)) return;
    if (wrapped)
        checking.compare(name, got, right);
    else
        checking.compare(name, got);
}

torch::Tensor unit(const torch::Tensor &rows) { return rows / rows.norm(2, 1, true); }

nn::MemoryBank bankOf(const torch::Tensor &rows, const torch::Tensor &pointer)
{
    nn::MemoryBank bank(rows.size(0), rows.size(1));
    nn::convertFloats(*bank, rows.scalar_type());
    bank->bank.copy_(rows);
    bank->bank_ptr.copy_(pointer);
    return bank;
}

void checkSteps(Checking &checking, const std::string &twin)
{
    const auto &params = checking.file.params;
    const auto dtype = twin == "." ? torch::kFloat32 : torch::kFloat64;
    const auto ranks = params.value("gather", true) ? checking.ranks : dist::localRanks(torch::kCPU);
    const double temperature = params.at("temperature");
    Inputs own(checking, dtype, Inputs::Whose::Own), exact(checking, torch::kFloat64, Inputs::Whose::Own);
    nn::MemoryBank bank = bankOf(own.shared("bank"), own.shared("bank_ptr"));
    Ring ring{exact.shared("bank").clone(), bank->bank_ptr.item<std::int64_t>()};
    const std::string output = checking.own() + "output" + twin, grad = checking.own() + "grad" + twin;
    for (std::int64_t step = 0; step < params.at("steps").get<std::int64_t>(); ++step) {
        const std::string at = "_step" + std::to_string(step);
        const torch::Tensor query = own("z0" + at), key = own("z1" + at);
        const torch::Tensor loss = losses::ntxentAgainstBank(query, key, bank->rows(), temperature, *ranks);
        loss.backward();
        const torch::Tensor unitKeys = torch::nn::functional::normalize(key.detach());
        bank->enqueue(unitKeys, *ranks);

        const torch::Tensor rightQuery = exact("z0" + at), rightKey = unit(exact("z1" + at).detach());
        const torch::Tensor a = unit(rightQuery), positive = (a * rightKey).sum(1).div(temperature).exp();
        const torch::Tensor others = torch::matmul(a, ring.rows.t()).div(temperature).exp().sum(1);
        const torch::Tensor rightLoss = -(positive / (positive + others)).log().mean();
        rightLoss.backward();
        compareUntilWrapped(checking, ring.wrapped, output + "loss" + at, loss, rightLoss);
        compareUntilWrapped(checking, ring.wrapped, grad + "z0" + at, own.leaves().at("z0" + at).gradient(0),
                            exact.leaves().at("z0" + at).gradient(0));
        if (own.leaves().at("z1" + at).parts[0].grad().defined())
            checking.fail("the key received a gradient at step " + std::to_string(step));
        checking.excuse(grad + "z1" + at);

        ring.write(ranks->allGatherRows(rightKey));
        compareUntilWrapped(checking, ring.wrapped, output + "bank_ptr" + at, bank->bank_ptr, ring.pointer());
    }
    compareUntilWrapped(checking, ring.wrapped, output + "bank", bank->bank, ring.rows);
}

const Register ntxentWithBank(
    {"loss.ntxent_memory_bank", "dist.ntxent_memory_bank"},
    [](Checking &checking) {
        checkSteps(checking, ".");
        if (checking.file.has(checking.own() + "output64.bank")) checkSteps(checking, "64.");
    },
    "the bank wraps around instead of dropping what does not fit, and the key never receives a gradient");

const Register memoryBank(
    {"module.memory_bank"},
    [](Checking &checking) {
        const auto &params = checking.file.params;
        Inputs in(checking, torch::kFloat32, Inputs::Whose::Own);
        nn::MemoryBank bank = bankOf(in("bank"), torch::zeros({1}, torch::kInt64));
        Ring ring{in("bank").clone()};
        for (std::size_t step = 0; step < params.at("batches").size(); ++step) {
            const std::string at = std::to_string(step);
            const bool turned = params.at("feature_dim_first");
            const torch::Tensor read = bank->rows(), right = ring.rows.clone(), batch = in("batch" + at);
            compareUntilWrapped(checking, ring.wrapped, "output.returned" + at, turned ? read.t() : read,
                                turned ? right.t() : right);
            if (params.at("update").at(step).get<bool>()) {
                bank->enqueue(batch, *checking.ranks);
                ring.write(batch);
            }
            compareUntilWrapped(checking, ring.wrapped, "output.bank" + at, bank->bank, ring.rows);
            compareUntilWrapped(checking, ring.wrapped, "output.ptr" + at, bank->bank_ptr, ring.pointer());
        }
    },
    "the bank wraps around instead of dropping what does not fit");

const Register nearestNeighbourBank(
    {"module.nn_memory_bank"},
    [](Checking &checking) {
        Inputs in(checking, torch::kFloat32, Inputs::Whose::Own);
        nn::MemoryBank bank = bankOf(in("bank"), torch::zeros({1}, torch::kInt64));
        Ring ring{in("bank").clone()};
        for (std::size_t step = 0; step < checking.file.params.at("batches").size(); ++step) {
            const std::string at = std::to_string(step);
            const torch::Tensor batch = in("batch" + at);
            const torch::Tensor right = ring.rows.index_select(0, torch::matmul(unit(batch), unit(ring.rows).t()).argmax(1));
            compareUntilWrapped(checking, ring.wrapped, "output.nearest" + at, bank->nearest(batch), right);
            bank->enqueue(batch, *checking.ranks);
            ring.write(batch);
            compareUntilWrapped(checking, ring.wrapped, "output.ptr" + at, bank->bank_ptr, ring.pointer());
        }
    },
    "the bank wraps around instead of dropping what does not fit");

} // namespace
} // namespace reference
