// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/losses/co2.h"
#include "core/engine/losses/dcl.h"
#include "core/engine/losses/detcon.h"
#include "core/engine/losses/hypersphere.h"
#include "core/engine/losses/macl.h"
#include "core/engine/losses/ntxent.h"
#include "tests/engine/reference/lossplan.h"

namespace reference {
namespace {

using namespace parallax;

const Register ntxent({"loss.ntxent", "dist.ntxent"}, [](Checking &checking) {
    check(checking, lossOf([&](Inputs &in, const dist::Ranks &ranks) {
              return losses::ntxent(in("z0"), in("z1"), checking.file.params.at("temperature"), ranks);
          }));
});

const Register directClr({"loss.directclr", "dist.directclr"}, [](Checking &checking) {
    check(checking, lossOf([&](Inputs &in, const dist::Ranks &ranks) {
              const auto &params = checking.file.params;
              return losses::directClr(in("z0"), in("z1"), params.at("loss_dim"), params.at("temperature"), ranks);
          }));
});

const Register dcl({"loss.dcl", "dist.dcl"}, [](Checking &checking) {
    check(checking, lossOf([&](Inputs &in, const dist::Ranks &ranks) {
              return losses::dcl(in("z0"), in("z1"), checking.file.params.at("temperature"), ranks);
          }));
});

void checkDclw(Checking &checking)
{
    const auto loss = [&](Inputs &in, const dist::Ranks &ranks) {
        const auto &params = checking.file.params;
        return losses::dclw(in("z0"), in("z1"), params.at("temperature"), params.at("sigma"), ranks);
    };
    check(checking, lossOf(loss, true));
}
const Register dclw({"loss.dclw"}, checkDclw);
const Register dclwOnRanks({"dist.dclw"}, checkDclw, "weights are those of all ranks' images together, as in one process");

const Register macl({"loss.macl"}, [](Checking &checking) {
    check(
        checking, lossOf([&](Inputs &in, const dist::Ranks &ranks) {
            const auto &params = checking.file.params;
            return losses::macl(in("z0"), in("z1"), {params.at("temperature"), params.at("alpha"), params.at("A_0")}, ranks);
        }));
});

// The file holds no gradient: tst_contrastive checks it.
const Register co2(
    {"loss.co2"},
    [](Checking &checking) {
        check(checking, lossOf([&](Inputs &in, const dist::Ranks &ranks) {
                  const auto &params = checking.file.params;
                  return losses::co2(in("z0").requires_grad_(), in("z1"), params.at("t_consistency"), params.at("alpha"),
                                     ranks);
              }));
    },
    "the regulariser has a gradient");

const Register hypersphere({"loss.hypersphere"}, [](Checking &checking) {
    check(checking, lossOf([&](Inputs &in, const dist::Ranks &ranks) {
              const auto &params = checking.file.params;
              return losses::hypersphere(in("z0"), in("z1"), {params.at("alpha"), params.at("t"), params.at("lam")}, ranks);
          }));
});

const Register detCon({"loss.detcon", "dist.detcon"}, [](Checking &checking) {
    check(checking, lossOf([&](Inputs &in, const dist::Ranks &ranks) {
              const bool twoNetworks = checking.file.params.at("variant") == "B";
              const std::array<torch::Tensor, 2> prediction{in(twoNetworks ? "pred0" : "view0"),
                                                            in(twoNetworks ? "pred1" : "view1")};
              const std::array<torch::Tensor, 2> target{twoNetworks ? in("target0") : prediction[0],
                                                        twoNetworks ? in("target1") : prediction[1]};
              return losses::detCon(prediction, target, {in("mask0"), in("mask1")}, checking.file.params.at("temperature"),
                                    ranks);
          }));
});

} // namespace
} // namespace reference
