// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/nn/weights.h"
#include "tests/engine/reference/kinds.h"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace reference {

/// How one batch is made of the ranks' shares of it.
using Join = std::function<torch::Tensor(const std::vector<torch::Tensor> &)>;

inline Join along(std::int64_t dim)
{
    return [dim](const std::vector<torch::Tensor> &parts) { return torch::cat(parts, dim); };
}

/// View-major rows [V·n, d].
inline Join viewMajor(std::int64_t views)
{
    return [views](const std::vector<torch::Tensor> &parts) {
        std::vector<torch::Tensor> split;
        for (const auto &part : parts) split.push_back(part.view({views, -1, part.size(1)}));
        return torch::cat(split, 1).flatten(0, 1);
    };
}

/// What a case hands to a loss: this rank's inputs, or those of all ranks as one batch.
class Inputs
{
public:
    enum class Whose { Own, All };
    Inputs(const Checking &checking, torch::Dtype dtype, Whose whose) : m_checking(checking), m_dtype(dtype), m_whose(whose)
    {
    }

    /// The input of that name. It requires a gradient where the file has one.
    torch::Tensor operator()(const std::string &name, const Join &join = along(0)) { return join(parts(name, false)); }
    /// One that all ranks hold alike, such as a weight.
    torch::Tensor shared(const std::string &name)
    {
        const auto all = parts(name, true);
        // The mean, so that the gradient of each rank's copy is its share.
        return all[0].requires_grad() ? torch::stack(all).mean(0) : all[0];
    }
    bool has(const std::string &name) const
    {
        return m_checking.file.has(prefix(m_checking.ranks->rank()) + "input." + name);
    }

    struct Leaf {
        std::vector<torch::Tensor> parts; ///< the own one, or one a rank
        bool shared;
        torch::Tensor gradient(std::size_t part) const
        {
            const torch::Tensor &grad = parts.at(part).grad();
            return grad.defined() ? grad : torch::zeros_like(parts.at(part));
        }
    };
    /// Inputs that were asked for.
    const std::map<std::string, Leaf> &leaves() const { return m_leaves; }
    /// Whether the ranks hold different numbers of rows of some input.
    bool unequal() const
    {
        for (const auto &[name, leaf] : m_leaves)
            for (int rank = 0; rank < m_checking.ranks->world() && !leaf.shared; ++rank)
                if (m_checking.file.tensor(prefix(rank) + "input." + name).sizes() != leaf.parts[0].sizes()) return true;
        return false;
    }

private:
    std::string prefix(int rank) const
    {
        return m_checking.own().empty() ? std::string() : "rank" + std::to_string(rank) + ".";
    }
    torch::Tensor leaf(int rank, const std::string &name) const
    {
        torch::Tensor tensor = m_checking.file.tensor(prefix(rank) + "input." + name).clone();
        if (tensor.is_floating_point()) tensor = tensor.to(m_dtype);
        return tensor.requires_grad_(m_checking.file.has(prefix(rank) + "grad." + name));
    }
    const std::vector<torch::Tensor> &parts(const std::string &name, bool shared)
    {
        Leaf &leaf = m_leaves[name];
        leaf.shared = shared;
        const bool own = m_whose == Whose::Own;
        const int first = own ? m_checking.ranks->rank() : 0, end = own ? first + 1 : m_checking.ranks->world();
        for (int rank = first; rank < end && leaf.parts.size() < std::size_t(end - first); ++rank)
            leaf.parts.push_back(this->leaf(rank, name));
        return leaf.parts;
    }

    const Checking &m_checking;
    torch::Dtype m_dtype;
    Whose m_whose;
    std::map<std::string, Leaf> m_leaves;
};

/// How a loss is checked on its own and over ranks.
struct LossPlan {
    using Outputs = std::map<std::string, torch::Tensor>;
    /// Computes all outputs of the case, and has called backward on each loss.
    std::function<Outputs(Inputs &inputs, const parallax::dist::Ranks &ranks)> run;
    /// Several ranks give what one process gives for their inputs together; the file's values do not.
    bool asOneProcess = false;
    /// It reduces over ranks whether the case gathers or not.
    bool alwaysReduces = false;
};

/// A plan for a loss without state.
inline LossPlan lossOf(std::function<torch::Tensor(Inputs &, const parallax::dist::Ranks &)> loss, bool asOneProcess = false)
{
    const auto run = [loss = std::move(loss)](Inputs &inputs, const parallax::dist::Ranks &ranks) {
        const torch::Tensor value = loss(inputs, ranks);
        value.backward();
        return LossPlan::Outputs{{"loss", value}};
    };
    return {run, asOneProcess};
}

/// Compares with what the same code gives in one process on the inputs of all ranks: the mean over ranks of the losses;
/// states; gradients, of which DDP takes the mean.
inline void compareAsOneProcess(Checking &checking, const LossPlan &plan, const std::string &twin,
                                const LossPlan::Outputs &outputs, const Inputs &own)
{
    const auto &ranks = *checking.ranks;
    const double world = ranks.world();
    const auto meanOverRanks = [&](const torch::Tensor &tensor) {
        torch::Tensor sum = tensor.detach().clone();
        ranks.allReduceSum(sum);
        return sum / world;
    };
    Inputs all(checking, torch::kFloat64, Inputs::Whose::All);
    const LossPlan::Outputs right = plan.run(all, *parallax::dist::localRanks(torch::kCPU));
    for (const auto &[name, got] : outputs) {
        const std::string full = checking.own() + "output" + twin + name;
        torch::Tensor expected = right.at(name);
        if (name.starts_with("loss"))
            checking.compare(full, meanOverRanks(got), expected);
        else if (expected.sizes() != got.sizes()) // rows
            checking.compare(full, got, expected.narrow(0, ranks.offsetOf(got.size(0)).first, got.size(0)));
        else
            checking.compare(full, got, expected);
    }
    for (const auto &[name, leaf] : own.leaves()) {
        const std::string full = checking.own() + "grad" + twin + name;
        if (!checking.file.has(full)) continue;
        const auto rank = std::size_t(ranks.rank());
        const torch::Tensor expected = world * all.leaves().at(name).gradient(rank);
        checking.compare(full, leaf.shared ? meanOverRanks(leaf.gradient(0)) : leaf.gradient(0), expected);
    }
}

/// Checks the case in float32 and, where the file has it, in float64.
inline void check(Checking &checking, const LossPlan &plan)
{
    const bool gathers = plan.alwaysReduces || checking.file.params.value("gather", true);
    const auto ranks = gathers ? checking.ranks : parallax::dist::localRanks(torch::kCPU);
    for (const std::string twin : {".", "64."}) {
        const std::string output = checking.own() + "output" + twin, grad = checking.own() + "grad" + twin;
        bool expected = false;
        for (const auto &name : checking.file.expected) expected |= name.starts_with(output);
        if (!expected) continue;
        Inputs own(checking, twin == "." ? torch::kFloat32 : torch::kFloat64, Inputs::Whose::Own);
        const LossPlan::Outputs outputs = plan.run(own, *ranks);
        if (ranks->world() > 1 && (plan.asOneProcess || own.unequal())) {
            compareAsOneProcess(checking, plan, twin, outputs, own);
            continue;
        }
        for (const auto &[name, got] : outputs) checking.compare(output + name, got);
        for (const auto &[name, leaf] : own.leaves())
            if (checking.file.has(grad + name)) checking.compare(grad + name, leaf.gradient(0));
    }
}

/// A module's floating buffers in the type of the case's inputs.
template<class Holder>
Holder matching(Holder module, const torch::Tensor &input)
{
    parallax::nn::convertFloats(*module, input.scalar_type());
    return module;
}

} // namespace reference
