// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/dist/ranks.h"
#include "tests/support/reference.h"

#include <torch/torch.h>

#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace reference {

/// One case while it is checked: what came out so far, and what was wrong with it. A case passes when every tensor that its
/// file expects was compared, or excused by a rule, and none differed.
class Checking
{
public:
    /// `ranks`: one rank, or as many as params.world_size or the list params.rank_batch says, each in its own process.
    Checking(const Case &expected, std::shared_ptr<const parallax::dist::Ranks> ranks)
        : file(expected), ranks(std::move(ranks))
    {
    }

    /// The prefix of this rank's tensors: "rank1." in a "dist." case, else "".
    std::string own() const
    {
        return file.kind.starts_with("dist.") ? "rank" + std::to_string(ranks->rank()) + "." : std::string();
    }

    /// Compares with the tensor of that name, within the file's tolerance.
    void compare(const std::string &name, const torch::Tensor &got);
    /// Compares with another value than the file's, by the file's tolerance: where the file's is known to be wrong.
    void compare(const std::string &name, const torch::Tensor &got, const torch::Tensor &right);
    /// Compares loss and gradients of `loss`, a function of the inputs of these names, in float32 and, where the file has
    /// them, in float64.
    void differentiate(const std::vector<std::string> &inputs,
                       const std::function<torch::Tensor(const std::vector<torch::Tensor> &)> &loss);
    /// The expected tensor of that name is not compared, by the rule of its kind.
    void excuse(const std::string &name) { m_seen.insert(name); }
    void fail(const std::string &fault) { m_faults.push_back(fault); }

    /// What differed, and what was never compared.
    std::vector<std::string> faults() const;

    const Case &file;
    const std::shared_ptr<const parallax::dist::Ranks> ranks;

private:
    std::set<std::string> m_seen;
    std::vector<std::string> m_faults;
};

/// How cases of a kind are checked.
struct Kind {
    std::function<void(Checking &)> check;
    std::string rule; ///< how this project departs from the reference, in one line that the test prints; mostly empty
};

/// All kinds, by name.
std::map<std::string, Kind> &kinds();

/// Registers the check of some kinds; a static object beside the check.
struct Register {
    Register(std::initializer_list<std::string> names, const std::function<void(Checking &)> &check,
             const std::string &rule = {})
    {
        for (const auto &name : names) kinds()[name] = {check, rule};
    }
};

} // namespace reference
