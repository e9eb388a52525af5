// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/methods/method.h"
#include "core/engine/nn/batchnorm.h"
#include "core/engine/nn/weights.h"
#include "core/engine/optim/schedule.h"
#include "core/engine/optim/sgd.h"
#include "tests/engine/reference/kinds.h"

namespace reference {
namespace {

using namespace parallax;
using Json = nlohmann::ordered_json;

/// The small network of all traces.
class TraceBackbone final : public nn::BackboneImpl
{
public:
    TraceBackbone()
    {
        features = 16;
        m_conv = register_module(
            "0", torch::nn::Conv2d(torch::nn::Conv2dOptions(3, features, 3).stride(2).padding(1).bias(false)));
        m_norm = register_module("1", nn::BatchNorm(features));
    }

protected:
    torch::Tensor compute(const torch::Tensor &images) override
    {
        return torch::relu(m_norm->forward(m_conv->forward(images))).mean({2, 3});
    }

private:
    torch::nn::Conv2d m_conv = nullptr;
    nn::BatchNorm m_norm = nullptr;
};

/// What the trace's parameters are called in a method's options.
Json optionsOf(const nlohmann::json &params, const std::string &method)
{
    Json options{{"name", method}, {"hidden_dim", params.at("hidden")}};
    options[method == "dino" ? "outputs" : "projection_dim"] = params.at("out");
    const std::map<std::string, std::string> names{{"temperature", "temperature"},
                                                   {"sigma", "sigma"},
                                                   {"bank_size", "bank_size"},
                                                   {"m_start", "momentum"},
                                                   {"pred_hidden", "prediction_dim"},
                                                   {"lambda_param", method == "vicreg" ? "invariance" : "lambda"},
                                                   {"mu_param", "variance"},
                                                   {"nu_param", "covariance"},
                                                   {"prototypes", "prototypes"},
                                                   {"epsilon", "epsilon"},
                                                   {"n_low", "local_views"},
                                                   {"queue_size", "queue_size"},
                                                   {"bottleneck", "bottleneck_dim"},
                                                   {"start_queue_at_epoch", "queue_start_epoch"},
                                                   {"freeze_last_layer", "freeze_epochs"},
                                                   {"warmup_teacher_temp", "warmup_teacher_temperature"},
                                                   {"teacher_temp", "teacher_temperature"},
                                                   {"warmup_teacher_temp_epochs", "warmup_teacher_epochs"}};
    for (const auto &[param, option] : names)
        if (params.contains(param)) options[option] = params[param];
    options["momentum_end"] = 1;
    options["symmetric"] = false;  // of MoCo: the trace has one direction
    options["batch_norm"] = false; // of DINO's head
    options["layers"] = 2;         // of SimCLR's and VICReg's head
    if (params.at("method") == "swav_queue") options["freeze_epochs"] = 1;
    return {{"method", options}};
}

torch::Tensor norms(const methods::Method &method, const std::vector<std::string> &names,
                    const std::function<torch::Tensor(const torch::Tensor &)> &of)
{
    const auto parameters = method.named_parameters();
    std::vector<torch::Tensor> list;
    for (const auto &name : names) list.push_back(of(parameters[name]));
    return reference::norms(list);
}

/// The step whose keys are the first that do not fit behind the bank's other rows; `steps`: none.
std::int64_t wrapOf(const nlohmann::json &params)
{
    const std::int64_t steps = params.at("steps");
    if (!params.contains("bank_size") && !params.contains("queue_size")) return steps;
    const std::int64_t size = params.contains("bank_size") ? params["bank_size"] : params["queue_size"],
                       batch = params.at("batch");
    return size % batch == 0 ? steps : size / batch;
}

class Trace
{
public:
    Trace(Checking &checking, torch::Dtype dtype)
        : m_checking(checking), m_params(checking.file.params), m_dtype(dtype),
          m_out(dtype == torch::kFloat64 ? "output64." : "output."), m_wrap(wrapOf(m_params))
    {
        std::string name = m_params.at("method");
        if (name == "swav_queue") name = "swav";
        const auto *info = methods::Registry::find(name);
        if (!info) throw std::runtime_error("there is no method " + name);
        m_method = info->make(optionsOf(m_params, name), [] { return std::make_shared<TraceBackbone>(); });
        nn::convertFloats(*m_method, dtype);
        load();
        for (const auto &parameter : checking.file.list("param_names")) m_names.push_back(parameter);
    }

    void run()
    {
        const std::int64_t steps = m_params.at("steps"), perEpoch = m_params.value("steps_per_epoch", 2);
        optim::OptimConfig config;
        config.weightDecay = 0;
        optim::Sgd sgd(optim::parametersOf(*m_method, config), {m_params.at("momentum"), false});
        std::vector<torch::Tensor> losses, momenta;
        m_method->train();
        for (std::int64_t step = 0; step < steps; ++step) {
            methods::Context context;
            context.ranks = context.all = m_checking.ranks;
            context.epoch = context.step = step / perEpoch; // the traces' momentum goes by epochs
            context.epochs = context.steps = steps / perEpoch;
            momenta.push_back(
                torch::full({}, optim::cosineSchedule(context.epoch, context.epochs, m_params.value("m_start", 0.9), 1),
                            torch::kFloat64));
            sgd.zeroGrad();
            m_method->beforeStep(context);
            const torch::Tensor loss = m_method->step(m_views, context).loss;
            loss.backward();
            m_method->afterBackward(context);
            if (step == 0)
                compare("grad_norms_step0", norms(*m_method, m_names, [](const torch::Tensor &p) { return p.grad(); }));
            sgd.step(m_params.at("lr"));
            m_method->afterStep(context);
            losses.push_back(loss.detach().reshape({}));
        }
        compareLosses(torch::stack(losses));
        if (m_checking.file.has(m_out + "momentum")) compare("momentum", torch::stack(momenta));
        compareEnd();
    }

private:
    /// The start that the file states; and the views.
    void load()
    {
        const torch::NoGradGuard noGrad;
        const std::string start = "init.";
        std::size_t loaded = 0;
        for (const auto &[name, tensor] : nn::stateDict(*m_method)) {
            if (!m_checking.file.has(start + name)) continue;
            tensor.copy_(m_checking.file.tensor(start + name));
            m_checking.compare(start + name, tensor);
            ++loaded;
        }
        if (loaded == 0) throw std::runtime_error("the trace's start fits nothing of the method");
        for (const auto &[input, buffer] :
             {std::pair("bank", "memory_bank.bank"), std::pair("queue0", "queue0.bank"), std::pair("queue1", "queue1.bank")})
            if (m_checking.file.has(std::string("input.") + input))
                m_method->named_buffers()[buffer].copy_(m_checking.file.tensor(std::string("input.") + input));
        for (const std::string name : {"x0", "x1"}) m_views.push_back(m_checking.file.tensor("input." + name).to(m_dtype));
        for (int i = 0; m_checking.file.has("input.low" + std::to_string(i)); ++i)
            m_views.push_back(m_checking.file.tensor("input.low" + std::to_string(i)).to(m_dtype));
    }

    void compare(const std::string &name, const torch::Tensor &got) { m_checking.compare(m_out + name, got); }

    void compareLosses(const torch::Tensor &losses)
    {
        const std::int64_t same = std::min(losses.size(0), m_wrap + 1);
        const std::string name = m_out + "losses";
        m_checking.compare(name, losses.narrow(0, 0, same), m_checking.file.tensor(name).narrow(0, 0, same));
    }

    /// Everything at the end, unless the bank has gone round: lightly drops what does not fit.
    void compareEnd()
    {
        std::map<std::string, torch::Tensor> end{
            {m_out + "param_norms", norms(*m_method, m_names, [](const torch::Tensor &p) { return p; })}};
        const auto buffers = m_method->named_buffers();
        for (const auto &[output, buffer] :
             {std::pair("bank", "memory_bank.bank"), std::pair("bank_ptr", "memory_bank.bank_ptr"),
              std::pair("queue0", "queue0.bank"), std::pair("queue1", "queue1.bank"), std::pair("center", "loss.center")})
            if (buffers.contains(buffer)) end[m_out + output] = buffers[buffer];
        if (m_dtype == torch::kFloat32)
            for (const auto &[name, tensor] : nn::stateDict(*m_method)) end["final." + name] = tensor;
        for (const auto &[name, tensor] : end) {
            if (!m_checking.file.has(name)) continue;
            if (m_wrap < m_params.at("steps").get<std::int64_t>())
                m_checking.excuse(name);
            else
                m_checking.compare(name, tensor);
        }
    }

    Checking &m_checking;
    const nlohmann::json m_params;
    torch::Dtype m_dtype;
    std::string m_out;
    std::int64_t m_wrap;
    std::shared_ptr<methods::Method> m_method;
    std::vector<std::string> m_names;
    std::vector<torch::Tensor> m_views;
};

const Register traces(
    {"trace"},
    [](Checking &checking) {
        Trace(checking, torch::kFloat32).run();
        Trace(checking, torch::kFloat64).run();
    },
    "the memory bank goes round instead of dropping what does not fit: a trace whose bank does is compared up to there");

} // namespace
} // namespace reference
