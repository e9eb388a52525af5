// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/losses/barlowtwins.h"
#include "core/engine/losses/capi.h"
#include "core/engine/losses/co2.h"
#include "core/engine/losses/dcl.h"
#include "core/engine/losses/detcon.h"
#include "core/engine/losses/dino.h"
#include "core/engine/losses/empssl.h"
#include "core/engine/losses/frossl.h"
#include "core/engine/losses/hypersphere.h"
#include "core/engine/losses/ibot.h"
#include "core/engine/losses/infonce.h"
#include "core/engine/losses/koleo.h"
#include "core/engine/losses/lejepa.h"
#include "core/engine/losses/macl.h"
#include "core/engine/losses/mmcr.h"
#include "core/engine/losses/msn.h"
#include "core/engine/losses/negativecosine.h"
#include "core/engine/losses/ntxent.h"
#include "core/engine/losses/patchkernel.h"
#include "core/engine/losses/swav.h"
#include "core/engine/losses/tico.h"
#include "core/engine/losses/vicreg.h"
#include "core/engine/losses/vicregl.h"
#include "core/engine/losses/visreg.h"
#include "core/engine/losses/wmse.h"
#include "core/engine/nn/memorybank.h"
#include "core/engine/nn/weights.h"

#include <functional>
#include <map>
#include <string>
#include <vector>

/// Every loss as a function of a batch that can be cut: what holds for all of them is tested once.
namespace everyloss {

using namespace parallax;
using Tensors = std::vector<torch::Tensor>;

struct Entry {
    /// Shapes of the inputs after the first dimension, which counts the images.
    std::vector<std::vector<std::int64_t>> shapes;
    std::function<torch::Tensor(const Tensors &inputs, const dist::Ranks &ranks)> loss;
    /// Inputs on which nothing depends that goes without gradient: finite differences see what autograd sees.
    std::vector<std::size_t> smooth;
};

/// Masks, regions and directions are alike whatever the batch: drawn from the images' numbers, not from a seed.
inline torch::Tensor maskOf(const torch::Tensor &tokens) // [n, m, …] → [n, m]
{
    return tokens.select(2, 0).detach().gt(0);
}

inline torch::Tensor directions(const torch::Tensor &x, std::int64_t count)
{
    const torch::Tensor place = torch::arange(x.size(-1) * count, x.options().dtype(torch::kFloat64));
    return (place * 1.7).cos().view({x.size(-1), count}).to(x.scalar_type());
}

template<class Holder>
Holder like(Holder module, const torch::Tensor &x)
{
    nn::convertFloats(*module, x.scalar_type() == torch::kFloat64 ? torch::kFloat64 : torch::kFloat32);
    return module;
}

/// The second step of a loss with a state: the first one has moved it.
template<class Step>
torch::Tensor secondStep(const Tensors &x, Step step)
{
    Tensors first;
    for (const auto &input : x) first.push_back(input.detach() * 0.5);
    step(first);
    return step(x);
}

inline std::map<std::string, Entry> contrastive()
{
    return {
        {"ntxent", {{{3}, {3}}, [](const Tensors &x, const auto &r) { return losses::ntxent(x[0], x[1], 0.3, r); }, {0, 1}}},
        {"infoNce", {{{3}, {3}}, [](const Tensors &x, const auto &r) { return losses::infoNce(x[0], x[1], 0.3, r); }, {0}}},
        {"ntxentAgainstBank",
         {{{3}, {3}},
          [](const Tensors &x, const auto &r) {
              torch::manual_seed(3);
              nn::MemoryBank bank = like(nn::MemoryBank(5, 3), x[0]);
              return secondStep(x, [&](const Tensors &y) {
                  const torch::Tensor loss = losses::ntxentAgainstBank(y[0], y[1], bank->rows(), 0.3, r);
                  bank->enqueue(y[1], r);
                  return loss;
              });
          },
          {0}}},
        {"directClr",
         {{{4}, {4}}, [](const Tensors &x, const auto &r) { return losses::directClr(x[0], x[1], 3, 0.3, r); }, {0, 1}}},
        {"dcl", {{{3}, {3}}, [](const Tensors &x, const auto &r) { return losses::dcl(x[0], x[1], 0.3, r); }, {0, 1}}},
        {"dclw", {{{3}, {3}}, [](const Tensors &x, const auto &r) { return losses::dclw(x[0], x[1], 0.3, 0.5, r); }, {}}},
        {"macl",
         {{{3}, {3}},
          [](const Tensors &x, const auto &r) {
              return losses::macl(x[0], x[1], {0.3, 0.5, 0.1}, r);
          },
          {}}},
        {"co2", {{{3}, {3}}, [](const Tensors &x, const auto &r) { return losses::co2(x[0], x[1], 0.3, 2, r); }, {0, 1}}},
        {"hypersphere",
         {{{3}, {3}},
          [](const Tensors &x, const auto &r) {
              return losses::hypersphere(x[0], x[1], {2, 1.5, 0.7}, r);
          },
          {0, 1}}},
        {"detCon",
         {{{3, 4}, {3, 4}, {3, 4}, {3, 4}},
          [](const Tensors &x, const auto &r) {
              const torch::Tensor places = torch::arange(3).expand({x[0].size(0), 3});
              return losses::detCon({x[0], x[1]}, {x[2], x[3]}, {places.remainder(2), places.eq(0).to(torch::kInt64)}, 0.3,
                                    r);
          },
          {0, 1, 2, 3}}},
    };
}

inline std::map<std::string, Entry> redundancy()
{
    return {
        {"negativeCosine",
         {{{3}, {3}}, [](const Tensors &x, const auto &r) { return losses::negativeCosine(x[0], x[1], r); }, {0, 1}}},
        {"symmetricNegativeCosine",
         {{{3}, {3}, {3}, {3}},
          [](const Tensors &x, const auto &r) { return losses::symmetricNegativeCosine(x[0], x[1], x[2], x[3], r); },
          {0, 1}}},
        {"barlowTwins",
         {{{3}, {3}}, [](const Tensors &x, const auto &r) { return losses::barlowTwins(x[0], x[1], 0.1, r); }, {0, 1}}},
        {"vicReg",
         {{{2, 3}, {2, 3}}, [](const Tensors &x, const auto &r) { return losses::vicReg(x[0], x[1], {}, r); }, {0, 1}}},
        {"vicRegL",
         {{{3}, {3}, {3}, {2, 2, 3}, {2, 2, 3}, {1, 2, 3}, {2, 2, 2}, {2, 2, 2}, {1, 2, 2}},
          [](const Tensors &x, const auto &r) {
              losses::VicRegLOptions options;
              options.matchesLarge = 3;
              options.matchesSmall = 2;
              return losses::vicRegL({{x[0], x[3], x[6]}, {x[1], x[4], x[7]}}, {{x[2], x[5], x[8]}}, options, r);
          },
          {0, 1, 2, 3, 4, 5}}},
        {"tico",
         {{{3}, {3}},
          [](const Tensors &x, const auto &r) {
              losses::Tico tico = like(losses::Tico(3, 0.7, 5.0), x[0]);
              return secondStep(x, [&](const Tensors &y) { return tico->forward(y[0], y[1], r); });
          },
          {1}}},
        {"wmse",
         {{{2, 2}},
          [](const Tensors &x, const auto &r) {
              losses::WmseOptions options(2);
              options.size = 4;
              options.eps = 0.1;
              const torch::Tensor order = torch::arange(7, -1, -1);
              const torch::Tensor views = x[0].transpose(0, 1).reshape({-1, 2});
              return like(losses::Wmse(options), x[0])->forward(views, r, {order});
          },
          {0}}},
        {"froSsl", {{{3}, {3}, {3}}, [](const Tensors &x, const auto &r) { return losses::froSsl(x, 0.7, r); }, {0, 1, 2}}},
        {"empSsl",
         {{{3}, {3}, {3}}, [](const Tensors &x, const auto &r) { return losses::empSsl(x, 0.2, 3, r); }, {0, 1, 2}}},
        {"mmcr",
         {{{2, 3}, {2, 3}}, [](const Tensors &x, const auto &r) { return losses::mmcr(x[0], x[1], 0.1, r); }, {0, 1}}},
        {"koLeo", {{{3}}, [](const Tensors &x, const auto &r) { return losses::koLeo(x[0], r); }, {0}}},
        {"patchKernelAlignment",
         {{{4, 3}, {4, 2}},
          [](const Tensors &x, const auto &r) { return losses::patchKernelAlignment(x[0], x[1], maskOf(x[1]), r); },
          {0}}},
        {"leJepa",
         {{{2, 3}, {1, 3}},
          [](const Tensors &x, const auto &r) {
              return losses::leJepa(x[0].transpose(0, 1), x[1].transpose(0, 1), directions(x[0], 4), {0.3, 5, 3}, r);
          },
          {0, 1}}},
        {"visReg",
         {{{2, 3}, {1, 3}},
          [](const Tensors &x, const auto &r) {
              return losses::visReg(x[0].transpose(0, 1), x[1].transpose(0, 1), directions(x[0], 4), {}, r);
          },
          {}}},
    };
}

inline std::map<std::string, Entry> clustering()
{
    return {
        {"swav",
         {{{4}, {4}, {4}, {4}, {4}},
          [](const Tensors &x, const auto &r) {
              return losses::swav({x[0], x[1]}, {x[2]}, {x[3], x[4]}, {0.2, 3, 0.5}, r);
          },
          {2}}},
        {"dino",
         {{{4}, {4}, {4}, {4}, {4}},
          [](const Tensors &x, const auto &r) {
              losses::Dino dino = like(losses::Dino(4), x[0]);
              return secondStep(x, [&](const Tensors &y) {
                  return dino->forward({y[0], y[1]}, {y[2], y[3], y[4]}, 0.3, r);
              });
          },
          {2, 3, 4}}},
        {"ibotPatch",
         {{{4, 3}, {4, 3}},
          [](const Tensors &x, const auto &r) {
              losses::IbotPatch ibot = like(losses::IbotPatch(3), x[0]);
              return secondStep(x, [&](const Tensors &y) {
                  const torch::Tensor mask = maskOf(y[0]);
                  return ibot->forward(y[0].index({mask}), y[1].index({mask}), mask.unsqueeze(1), 0.3, r);
              });
          },
          {1}}},
        {"ibotAll",
         {{{4, 3}, {4, 3}},
          [](const Tensors &x, const auto &r) {
              losses::IbotPatch ibot = like(losses::IbotPatch(3), x[0]);
              return secondStep(x,
                                [&](const Tensors &y) { return ibot->forwardAll(y[0], y[1], maskOf(y[0]), 0.5, 0.3, r); });
          },
          {1}}},
        {"msn",
         {{{2, 3}, {3}},
          [](const Tensors &x, const auto &r) {
              const torch::Tensor anchors = x[0].transpose(0, 1).reshape({-1, 3});
              return losses::msn(anchors, x[1], directions(x[1], 5).t(), {0.3, 0.5, 3, 1}, r);
          },
          {0}}},
        {"pmsn",
         {{{2, 3}, {3}},
          [](const Tensors &x, const auto &r) {
              const torch::Tensor anchors = x[0].transpose(0, 1).reshape({-1, 3});
              return losses::pmsn(anchors, x[1], directions(x[1], 5).t(), losses::powerLaw(5, 0.25, torch::kCPU),
                                  {0.3, 0.5, 0, 2}, r);
          },
          {0}}},
        {"capi",
         {{{3, 4}, {3, 4}},
          [](const Tensors &x, const auto &r) {
              return losses::capi(x[0], x[1], {}, {0.3, 0.5, 3}, r);
          },
          {1}}},
    };
}

inline std::map<std::string, Entry> all()
{
    auto map = contrastive();
    map.merge(redundancy());
    map.merge(clustering());
    return map;
}

} // namespace everyloss
