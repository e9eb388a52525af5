// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/config/group.h"
#include "core/engine/data/loader.h"
#include "core/engine/dist/ranks.h"
#include "core/engine/nn/backbone.h"

#include <torch/torch.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace parallax::methods {

/// What a step may know of the run around it.
struct Context {
    std::shared_ptr<const dist::Ranks> ranks; ///< of the loss: the true ranks, or local ones when gather is off
    std::shared_ptr<const dist::Ranks> all;   ///< the true ranks: what is kept over steps is alike on all of them
    bool syncBatchNorm = false;               ///< batch norm sees the images of all ranks
    std::int64_t step = 0, steps = 1;         ///< optimiser steps done, and in all
    std::int64_t epoch = 0, epochs = 1;
};

struct StepResult {
    /// Scalar, with gradient. Its mean over the context's ranks is the loss of all their images, also where ranks hold
    /// different numbers of them.
    torch::Tensor loss;
    std::map<std::string, double> figures; ///< named figures for the event log, e.g. feature_std
    /// Dimensions of the vectors that the figure feature_std is about (1/√dimensions when they spread evenly); 0: no such figure.
    std::int64_t outputDim = 0;
};

/// A self-supervised method: networks and one training step. Everything that must survive is a registered parameter,
/// buffer or module: checkpoint, resume and device moves need no second list.
class Method : public torch::nn::Module
{
public:
    virtual std::vector<data::ViewSpec> views(const data::AugmentConfig &augment) const = 0;
    /// Loss and figures from the views (each [n, 3, s, s]); no backward, no optimiser.
    virtual StepResult step(const std::vector<torch::Tensor> &views, const Context &context) = 0;
    virtual void beforeStep(const Context &) { }    ///< before the forward
    virtual void afterBackward(const Context &) { } ///< before the optimiser: frozen parts lose their gradient here
    virtual void afterStep(const Context &) { }     ///< after the optimiser
    /// What kNN, probe and embeddings see: [n, 3, s, s] → [n, D].
    virtual torch::Tensor features(const torch::Tensor &images) = 0;
    /// The loss of a network that has learned nothing, for n images that see each other (the global batch; with gather off,
    /// one rank's share); NaN: not known.
    virtual double chanceLoss(std::int64_t batch) const = 0;
    /// The part to export: torchvision's names.
    virtual std::shared_ptr<torch::nn::Module> backbone() const = 0;
};

/// Makes the run's network anew; momentum methods need it twice.
using BackboneFactory = std::function<nn::Backbone()>;

/// What `parallax methods` and the studio say about a method.
struct MethodInfo {
    std::string name, label, paper, use; ///< "simclr", "SimCLR", "Chen et al. 2020, arXiv:2002.05709", one line
    bool usesGather = false; ///< the loss compares images, or counts them, over the batch: gather decides what it sees
    bool wantsLargeBatch = false;
    bool masksPatches = false; ///< it takes vision transformers only
    /// What distributed.gather and distributed.sync_bn do for this method on several ranks: a line each.
    std::string gatherAdvice, syncBnAdvice;
    std::function<void(config::Schema &)> declareOptions; ///< its fields under "method.", while method.name is `name`
    std::function<std::shared_ptr<Method>(const config::Json &config, const BackboneFactory &backbone)> make;
};

/// Registration is a static object in the method's own file; there is no list elsewhere.
class Registry
{
public:
    static const std::vector<MethodInfo> &all(); ///< by name
    static const MethodInfo *find(const std::string &name);
    struct Entry {
        explicit Entry(MethodInfo info);
    };
};

/// The entry of a method class that is made from its options and the backbone's factory.
template<class MethodType, class Options>
MethodInfo described(MethodInfo info)
{
    info.declareOptions = [name = info.name](config::Schema &schema) {
        config::declare<Options>(schema, "method", "Method", config::Condition{"method.name", name});
    };
    info.make = [](const config::Json &config, const BackboneFactory &backbone) {
        return std::make_shared<MethodType>(config::read<Options>(config, "method"), backbone);
    };
    return info;
}

} // namespace parallax::methods
