// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/nn/batchnorm.h"
#include "core/engine/nn/dinohead.h"
#include "core/engine/nn/ema.h"
#include "core/engine/nn/prototypes.h"
#include "core/engine/nn/vit.h"
#include "core/engine/optim/lars.h"
#include "core/engine/optim/schedule.h"
#include "tests/engine/reference/kinds.h"

namespace reference {
namespace {

using namespace parallax;
using nlohmann::json;

/// A parameter that may be missing, or null.
template<class T>
std::optional<T> optionalOf(const json &params, const char *name)
{
    const auto found = params.find(name);
    return found == params.end() || found->is_null() ? std::nullopt : std::optional<T>(found->template get<T>());
}

const Register schedules({"schedule.cosine", "schedule.cosine_warmup", "schedule.linear_warmup"}, [](Checking &checking) {
    const json &p = checking.file.params;
    const double start = p.at("start_value"), end = p.at("end_value");
    const auto valueAt = [&](std::int64_t step) {
        if (checking.file.kind == "schedule.linear_warmup")
            return optim::linearWarmup(step, p.at("warmup_steps"), start, end);
        if (checking.file.kind == "schedule.cosine")
            return optim::cosineSchedule(step, p.at("max_steps"), start, end, optionalOf<std::int64_t>(p, "period"));
        return optim::cosineWarmupSchedule(step, p.at("max_steps"), p.at("warmup_steps"), start, end,
                                           p.value("warmup_start_value", 0.0), optionalOf<double>(p, "warmup_end_value"),
                                           optionalOf<std::int64_t>(p, "period"));
    };
    const torch::Tensor steps = checking.file.tensor("input.step");
    torch::Tensor values = torch::empty({steps.numel()}, torch::kFloat64);
    for (std::int64_t i = 0; i < steps.numel(); ++i) values[i] = valueAt(steps[i].item<std::int64_t>());
    checking.compare("output.value", values);
    if (checking.file.has("output.lr")) checking.compare("output.lr", values * p.at("base_lr").get<double>());
});

/// "output." or "output64.", for the dtypes that a file has.
std::vector<std::pair<std::string, torch::Dtype>> twins(const Case &file)
{
    std::vector<std::pair<std::string, torch::Dtype>> list;
    for (const auto &[prefix, dtype] : {std::pair("output.", torch::kFloat32), std::pair("output64.", torch::kFloat64)})
        if (std::ranges::any_of(file.expected, [&](const std::string &name) { return name.starts_with(prefix); }))
            list.emplace_back(prefix, dtype);
    return list;
}

/// One optimiser for each group of parameters, which may have settings and a rate of its own.
struct LarsGroup {
    std::unique_ptr<optim::Lars> optimiser;
    double rate;
};

LarsGroup makeLars(const json &params, const json &group, std::map<std::string, torch::Tensor> &tensors)
{
    const auto of = [&](const char *name) { return group.contains(name) ? group.at(name) : params.at(name); };
    optim::LarsOptions options;
    options.momentum = of("momentum");
    options.dampening = of("dampening");
    options.nesterov = of("nesterov");
    options.trustCoefficient = of("trust_coefficient");
    options.eps = of("eps");
    std::vector<optim::Parameter> parameters;
    for (const std::string name : group.at("params"))
        parameters.push_back({name, tensors.at(name), of("weight_decay").get<double>()});
    return {std::make_unique<optim::Lars>(std::move(parameters), options), of("lr").get<double>()};
}

const Register lars({"optim.lars"}, [](Checking &checking) {
    const json &params = checking.file.params;
    for (const auto &[output, dtype] : twins(checking.file)) {
        std::map<std::string, torch::Tensor> tensors;
        for (const auto &[name, shape] : params.at("shapes").items())
            tensors[name] = checking.file.tensor("input.param." + name).to(dtype, false, true).requires_grad_();
        std::vector<LarsGroup> groups;
        for (const auto &group : params.at("groups")) groups.push_back(makeLars(params, group, tensors));
        for (int step = 0; step < params.at("steps").get<int>(); ++step) {
            const std::string number = std::to_string(step) + ".";
            for (auto &[name, tensor] : tensors)
                tensor.mutable_grad() = checking.file.tensor("input.grad_step" + number + name).to(dtype);
            for (auto &group : groups) group.optimiser->step(group.rate);
            for (auto &[name, tensor] : tensors) checking.compare(output + "step" + number + name, tensor);
        }
        for (const auto &group : groups)
            for (const auto &[name, tensor] : group.optimiser->state())
                checking.compare(output + "momentum_buffer." + name.substr(0, name.rfind('.')), tensor);
    }
});

const Register ema({"optim.ema"}, [](Checking &checking) {
    const json &params = checking.file.params;
    for (const auto &[output, dtype] : twins(checking.file)) {
        const auto make = [&](const std::string &input) {
            const std::int64_t in = params.at("d_in"), out = params.at("d_out");
            torch::nn::Sequential net(torch::nn::Linear(in, out), nn::BatchNorm(out));
            nn::convertFloats(*net, dtype);
            torch::NoGradGuard noGrad;
            for (auto &[name, tensor] : nn::stateDict(*net))
                if (tensor.is_floating_point()) tensor.copy_(checking.file.tensor(input + name));
            return net;
        };
        torch::nn::Sequential model = make("input.model."), average = make("input.ema.");
        int step = 0;
        for (const double momentum : params.at("m")) {
            nn::updateMomentum(*model, *average, momentum);
            for (const auto &[name, tensor] : nn::stateDict(*average))
                if (tensor.is_floating_point())
                    checking.compare(output + "step" + std::to_string(step) + "." + name, tensor);
            ++step;
        }
    }
});

/// The networks whose parameters are split, with the classifier that torchvision's have.
std::shared_ptr<torch::nn::Module> splitNet(const std::string &name)
{
    if (name == "dino_head")
        return nn::DinoHead(nn::DinoHeadOptions{.in = 16, .hidden = 32, .bottleneck = 16, .out = 64}).ptr();
    if (name == "swav_prototypes") return nn::Prototypes(16, 20).ptr();
    if (name == "tiny") {
        const auto net = std::make_shared<torch::nn::Module>();
        const auto convolution = torch::nn::Conv2dOptions(3, 16, 3).stride(2).padding(1).bias(false);
        net->register_module("backbone", torch::nn::Sequential(torch::nn::Conv2d(convolution), nn::BatchNorm(16)));
        net->register_module("projection_head", nn::simclrProjectionHead(16, 32, 16));
        return net;
    }
    if (name == "vit") {
        const auto net = std::make_shared<nn::VitImpl>(nn::VitOptions{32, 4, 2, 3, 192, 768});
        const auto heads = net->register_module("heads", std::make_shared<torch::nn::Module>());
        heads->register_module("head", torch::nn::Linear(192, 1000));
        return net;
    }
    const nn::Backbone net = nn::makeBackbone({.name = name});
    net->register_module("fc", torch::nn::Linear(net->features, 1000));
    return net;
}

const Register split({"optim.weight_decay_split"}, [](Checking &checking) {
    const json &params = checking.file.params;
    const auto net = splitNet(params.at("net"));
    const auto roles = optim::rolesOf(*net);
    std::vector<std::string> decay, noDecay;
    std::size_t i = 0;
    for (const auto &item : net->named_parameters()) {
        const optim::Role role = roles[i++];
        const bool decays =
            role == optim::Role::Weight || params.at(role == optim::Role::Bias ? "decay_bias" : "decay_norm");
        (decays ? decay : noDecay).push_back(item.key());
    }
    if (checking.file.list("names_decay") != json(decay)) checking.fail("other parameters decay");
    if (checking.file.list("names_no_decay") != json(noDecay)) checking.fail("other parameters do not decay");
    checking.compare("output.counts", torch::tensor({std::int64_t(decay.size()), std::int64_t(noDecay.size())}));
});

} // namespace
} // namespace reference
