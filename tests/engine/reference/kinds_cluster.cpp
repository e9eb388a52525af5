// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/losses/capi.h"
#include "core/engine/losses/dino.h"
#include "core/engine/losses/ibot.h"
#include "core/engine/losses/msn.h"
#include "core/engine/losses/sinkhorn.h"
#include "core/engine/losses/swav.h"
#include "tests/engine/reference/lossplan.h"

namespace reference {
namespace {

using namespace parallax;

std::string numbered(const std::string &name, std::size_t i) { return name + std::to_string(i); }

const char *const onLogarithms = "computed on logarithms, so that large logits do not overflow";

/// Temperatures that the reference keeps in float32, also in its float64 runs.
double rounded(double value) { return float(value); }

void checkSwav(Checking &checking)
{
    check(checking, lossOf([&](Inputs &in, const dist::Ranks &ranks) {
              const auto &params = checking.file.params;
              const auto numberedInputs = [&](const std::string &name) {
                  std::vector<torch::Tensor> all;
                  for (std::size_t i = 0; in.has(numbered(name, i)); ++i) all.push_back(in(numbered(name, i)));
                  return all;
              };
              return losses::swav(numberedInputs("high"), numberedInputs("low"), numberedInputs("queue"),
                                  {params.at("temperature"), params.at("iterations"), params.at("epsilon")}, ranks);
          }));
}
const Register swav({"loss.swav", "dist.swav"}, checkSwav, onLogarithms);

void checkSinkhorn(Checking &checking)
{
    const auto run = [&](Inputs &in, const dist::Ranks &ranks) {
        const auto &params = checking.file.params;
        const torch::Tensor logits = in("logits") / params.at("epsilon").get<double>();
        return LossPlan::Outputs{{"q", losses::sinkhorn(logits, params.at("iterations"), ranks)}};
    };
    check(checking, {run});
}
const Register sinkhorn({"loss.swav_sinkhorn", "dist.swav_sinkhorn"}, checkSinkhorn, onLogarithms);

const Register dino({"loss.dino", "dist.dino"}, [](Checking &checking) {
    const auto run = [&](Inputs &in, const dist::Ranks &ranks) {
        const auto &params = checking.file.params;
        losses::DinoOptions options(params.at("output_dim").get<std::int64_t>());
        options.studentTemperature = params.at("student_temp");
        options.centerMomentum = params.at("center_momentum");
        losses::Dino dino(options);
        LossPlan::Outputs outputs;
        for (std::size_t step = 0; step < params.at("steps").size(); ++step) {
            const auto crops = [&](const std::string &whose) {
                std::vector<torch::Tensor> all;
                for (std::size_t v = 0; v < params.at("n_" + whose).get<std::size_t>(); ++v)
                    all.push_back(in(numbered(numbered(whose, v) + "_step", step)));
                return all;
            };
            const auto &at = params.at("steps").at(step);
            const double last = params.at("teacher_temp");
            double temperature = rounded(last);
            if (at.contains("teacher_temp") && !at.at("teacher_temp").is_null())
                temperature = rounded(at.at("teacher_temp"));
            else if (at.contains("epoch") && !at.at("epoch").is_null())
                temperature = losses::dinoTeacherTemperature(params.at("warmup_teacher_temp"), last,
                                                             params.at("warmup_teacher_temp_epochs"), at.at("epoch"));
            const auto teacher = crops("teacher"), student = crops("student");
            const torch::Tensor loss = matching(dino, student[0])->forward(teacher, student, temperature, ranks);
            loss.backward();
            outputs[numbered("loss_step", step)] = loss;
            outputs[numbered("center_step", step)] = dino->center.clone();
        }
        return outputs;
    };
    check(checking, {.run = run, .alwaysReduces = true});
});

void checkIbotPatch(Checking &checking)
{
    const auto run = [&](Inputs &in, const dist::Ranks &ranks) {
        const auto &params = checking.file.params;
        losses::IbotOptions options(params.at("output_dim").get<std::int64_t>());
        options.studentTemperature = params.at("student_temp");
        options.centerMomentum = params.at("center_momentum");
        losses::IbotPatch ibot(options);
        LossPlan::Outputs outputs;
        for (std::size_t step = 0; step < params.at("steps").size(); ++step) {
            const auto &at = params.at("steps").at(step);
            const bool given = at.contains("teacher_temp") && !at.at("teacher_temp").is_null();
            const torch::Tensor student = in(numbered("student_step", step));
            const torch::Tensor loss =
                matching(ibot, student)
                    ->forward(in(numbered("teacher_step", step)), student, in(numbered("mask_step", step)),
                              rounded((given ? at : params).at("teacher_temp")), ranks);
            loss.backward();
            outputs[numbered("loss_step", step)] = loss;
            outputs[numbered("center_step", step)] = ibot->center.clone();
        }
        return outputs;
    };
    check(checking, {.run = run, .asOneProcess = true, .alwaysReduces = true});
}
const Register ibotPatch({"loss.ibot_patch"}, checkIbotPatch);
const Register ibotPatchOnRanks({"dist.ibot_patch"}, checkIbotPatch,
                                "the centre is the mean over all ranks' tokens, each counting the same, as in one process");

const Register ibotPlusPlus({"loss.ibot_plusplus", "dist.ibot_plusplus"}, [](Checking &checking) {
    const auto run = [&](Inputs &in, const dist::Ranks &ranks) {
        const auto &params = checking.file.params;
        losses::IbotOptions options(params.at("output_dim").get<std::int64_t>());
        options.studentTemperature = params.at("student_temp");
        options.centerMomentum = params.at("center_momentum");
        const torch::Tensor student = in("student");
        losses::IbotPatch ibot = matching(losses::IbotPatch(options), student);
        const torch::Tensor loss =
            ibot->forwardAll(in("teacher"), student, in.has("mask") ? in("mask") : torch::Tensor(),
                             params.at("visible_loss_weight"), rounded(params.at("teacher_temp")), ranks);
        loss.backward();
        return LossPlan::Outputs{{"loss", loss}, {"center", ibot->center}};
    };
    check(checking, {.run = run, .alwaysReduces = true});
});

void checkMsn(Checking &checking)
{
    const auto loss = [&](Inputs &in, const dist::Ranks &ranks) {
        const auto &params = checking.file.params;
        const losses::MsnOptions options{params.at("temperature"), params.at("target_sharpen_temperature"),
                                         params.at("iterations"), params.at("regularization_weight")};
        const torch::Tensor anchors = in("anchors", viewMajor(params.at("anchor_views"))), targets = in("targets"),
                            prototypes = in.shared("prototypes");
        if (checking.file.kind.ends_with(".msn")) return losses::msn(anchors, targets, prototypes, options, ranks);
        // The uniform one in the type of the inputs, as the case's own function makes it.
        const std::int64_t size = prototypes.size(0);
        const torch::Tensor prior = checking.file.kind.ends_with("uniform")
            ? torch::ones({size}, prototypes.options()) / double(size)
            : losses::powerLaw(size, params.at("power_law_exponent"), torch::kCPU);
        return losses::pmsn(anchors, targets, prototypes, prior.detach(), options, ranks);
    };
    check(checking, lossOf(loss, true));
}
const Register msn({"loss.msn", "loss.pmsn", "loss.pmsn_custom_uniform"}, checkMsn,
                   "computed on logarithms, so that small temperatures do not underflow");
const Register msnOnRanks({"dist.msn", "dist.pmsn", "dist.pmsn_custom_uniform"}, checkMsn,
                          "computed on logarithms; the mean anchor is that of all ranks, as in one process");

const Register capi({"loss.capi", "dist.capi"}, [](Checking &checking) {
    check(checking, lossOf([&](Inputs &in, const dist::Ranks &ranks) {
              const auto &params = checking.file.params;
              return losses::capi(
                  in("teacher"), in("student"), in.has("index") ? in("index") : torch::Tensor(),
                  {params.at("teacher_temperature"), params.at("student_temperature"), params.at("iterations")}, ranks);
          }));
});

} // namespace
} // namespace reference
