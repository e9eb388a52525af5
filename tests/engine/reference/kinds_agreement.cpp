// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/losses/barlowtwins.h"
#include "core/engine/losses/empssl.h"
#include "core/engine/losses/frossl.h"
#include "core/engine/losses/koleo.h"
#include "core/engine/losses/lejepa.h"
#include "core/engine/losses/mmcr.h"
#include "core/engine/losses/negativecosine.h"
#include "core/engine/losses/patchkernel.h"
#include "core/engine/losses/tico.h"
#include "core/engine/losses/vicreg.h"
#include "core/engine/losses/vicregl.h"
#include "core/engine/losses/visreg.h"
#include "core/engine/losses/wmse.h"
#include "tests/engine/reference/lossplan.h"

namespace reference {
namespace {

using namespace parallax;

std::string numbered(const std::string &name, std::int64_t i) { return name + std::to_string(i); }

const Register negativeCosine({"loss.negative_cosine"}, [](Checking &checking) {
    check(checking, lossOf([&](Inputs &in, const dist::Ranks &ranks) {
              const auto &params = checking.file.params;
              const auto dim = params.value("dim_arg", 1);
              const bool columns = dim == 0 || dim == -2;
              const torch::Tensor x = in("z0"), y = in("z1");
              return losses::negativeCosine(columns ? x.t() : x, columns ? y.t() : y, ranks, params.value("eps", 1e-8));
          }));
});

const Register symmetricNegativeCosine({"loss.symmetric_negcos"}, [](Checking &checking) {
    check(checking, lossOf([&](Inputs &in, const dist::Ranks &ranks) {
              return losses::symmetricNegativeCosine(in("p0"), in("p1"), in("z0"), in("z1"), ranks);
          }));
});

void checkBarlowTwins(Checking &checking)
{
    const auto loss = [&](Inputs &in, const dist::Ranks &ranks) {
        return losses::barlowTwins(in("z0"), in("z1"), checking.file.params.at("lambda_param"), ranks);
    };
    check(checking, lossOf(loss, true));
}
const Register barlowTwins({"loss.barlow_twins"}, checkBarlowTwins);
const Register barlowTwinsOnRanks({"dist.barlow_twins"}, checkBarlowTwins,
                                  "mean, variance and number of rows are those of all ranks, as in one process");

losses::VicRegOptions vicRegOptions(const nlohmann::json &params)
{
    return {params.at("lambda_param"), params.at("mu_param"), params.at("nu_param"), params.at("eps")};
}

const Register vicReg({"loss.vicreg", "dist.vicreg"}, [](Checking &checking) {
    check(checking, lossOf([&](Inputs &in, const dist::Ranks &ranks) {
              return losses::vicReg(in("z0"), in("z1"), vicRegOptions(checking.file.params), ranks);
          }));
});

const Register vicRegL({"loss.vicregl", "dist.vicregl"}, [](Checking &checking) {
    check(
        checking, lossOf([&](Inputs &in, const dist::Ranks &ranks) {
            const auto &params = checking.file.params;
            const auto views = [&](const std::string &size) {
                std::vector<losses::VicRegLView> all;
                for (std::int64_t i = 0; i < params.at("n_" + size).get<std::int64_t>(); ++i)
                    all.push_back({in(numbered(size, i)), in(numbered(size + "_map", i)), in(numbered(size + "_grid", i))});
                return all;
            };
            losses::VicRegLOptions options{vicRegOptions(params), params.at("alpha")};
            options.matchesLarge = params.at("num_matches").at(0);
            options.matchesSmall = params.at("num_matches").at(1);
            return losses::vicRegL(views("global"), views("local"), options, ranks);
        }));
});

const Register tico({"loss.tico", "dist.tico"}, [](Checking &checking) {
    const auto run = [&](Inputs &in, const dist::Ranks &ranks) {
        const auto &params = checking.file.params;
        LossPlan::Outputs outputs;
        losses::Tico tico(params.at("dim").get<std::int64_t>(), params.at("beta"), params.at("rho"));
        for (std::int64_t step = 0; step < params.at("steps").get<std::int64_t>(); ++step) {
            const torch::Tensor z0 = in(numbered("z0_step", step)), z1 = in(numbered("z1_step", step));
            const bool update = !params.contains("update") || params.at("update").at(std::size_t(step)).get<bool>();
            const torch::Tensor loss = matching(tico, z0)->forward(z0, z1, ranks, update);
            loss.backward();
            outputs[numbered("loss_step", step)] = loss;
            outputs[numbered("C_step", step)] = tico->covariance.clone();
        }
        return outputs;
    };
    check(checking, {run});
});

const Register wmse({"loss.wmse"}, [](Checking &checking) {
    const auto run = [&](Inputs &in, const dist::Ranks &ranks) {
        const auto &params = checking.file.params;
        losses::WmseOptions options(params.at("dim").get<std::int64_t>());
        options.views = params.at("num_samples");
        options.size = params.at("w_size");
        options.iterations = params.at("w_iter");
        options.momentum = params.at("momentum");
        options.eps = params.at("eps");
        std::vector<torch::Tensor> permutations;
        for (std::int64_t i = 0; i < options.iterations; ++i) permutations.push_back(in(numbered("perm", i)));
        const torch::Tensor z = in("z");
        losses::Wmse wmse = matching(losses::Wmse(options), z);
        const torch::Tensor loss = wmse->forward(z, ranks, permutations);
        loss.backward();
        return LossPlan::Outputs{
            {"loss", loss}, {"running_mean", wmse->running_mean}, {"running_variance", wmse->running_variance}};
    };
    check(checking, {run});
});

/// The views z0, z1, … of a case.
std::vector<torch::Tensor> views(Inputs &in)
{
    std::vector<torch::Tensor> all;
    for (std::int64_t i = 0; in.has(numbered("z", i)); ++i) all.push_back(in(numbered("z", i)));
    return all;
}

const Register froSsl({"loss.frossl"}, [](Checking &checking) {
    check(checking, lossOf([&](Inputs &in, const dist::Ranks &ranks) {
              return losses::froSsl(views(in), checking.file.params.at("invariance_weight"), ranks);
          }));
});

// The file's loss is the coding rate's other sign: ours plus the rate twice.
const Register empSsl(
    {"loss.emp_ssl"},
    [](Checking &checking) {
        check(checking, lossOf([&](Inputs &in, const dist::Ranks &ranks) {
                  const auto &params = checking.file.params;
                  const auto all = views(in);
                  const double eps = params.at("tcr_eps");
                  return losses::empSsl(all, eps, params.at("inv_coef"), ranks) + 2 * losses::codingRate(all, eps, ranks);
              }));
    },
    "the coding rate is maximised, as the authors do: compared with its sign turned");

const Register mmcr({"loss.mmcr"}, [](Checking &checking) {
    check(checking, lossOf([&](Inputs &in, const dist::Ranks &ranks) {
              return losses::mmcr(in("online"), in("momentum"), checking.file.params.at("lmda"), ranks);
          }));
});

const Register koLeo({"loss.koleo"}, [](Checking &checking) {
    check(checking, lossOf([&](Inputs &in, const dist::Ranks &ranks) {
              return losses::koLeo(in("x"), ranks, checking.file.params.at("p"), checking.file.params.at("eps"));
          }));
});

const Register patchKernelAlignment({"loss.patch_kernel_alignment"}, [](Checking &checking) {
    check(checking, lossOf([&](Inputs &in, const dist::Ranks &ranks) {
              const torch::Tensor mask = in.has("mask") ? in("mask") : torch::Tensor();
              return losses::patchKernelAlignment(in("student"), in("teacher"), mask, ranks);
          }));
});

const Register leJepa({"loss.lejepa", "dist.lejepa"}, [](Checking &checking) {
    check(checking, lossOf([&](Inputs &in, const dist::Ranks &ranks) {
              const auto &params = checking.file.params;
              torch::Tensor directions = in.shared("directions").clone();
              ranks.broadcast(directions, 0); // each rank of a case has drawn its own
              return losses::leJepa(in("local", along(1)), in("global", along(1)), directions,
                                    {params.at("lambda_param"), params.at("knots"), params.at("t_max")}, ranks);
          }));
});

const Register visReg({"loss.visreg", "dist.visreg"}, [](Checking &checking) {
    check(checking, lossOf([&](Inputs &in, const dist::Ranks &ranks) {
              return losses::visReg(in("local", along(1)), in("global", along(1)), in.shared("directions"),
                                    {checking.file.params.at("lambda_param")}, ranks);
          }));
});

} // namespace
} // namespace reference
