// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/losses/ntxent.h"
#include "tests/engine/reference/kinds.h"

namespace reference {
namespace {

using namespace parallax;

const Register ntxent({"loss.ntxent", "dist.ntxent"}, [](Checking &checking) {
    checking.differentiate({"z0", "z1"}, [&](const std::vector<torch::Tensor> &z) {
        return losses::ntxent(z[0], z[1], checking.file.params.at("temperature"), *checking.ranks);
    });
});

} // namespace
} // namespace reference
