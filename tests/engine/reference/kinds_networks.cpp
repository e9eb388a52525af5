// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/nn/dinohead.h"
#include "core/engine/nn/prototypes.h"
#include "core/engine/nn/resnet.h"
#include "core/engine/nn/vit.h"
#include "tests/engine/reference/modules.h"

#include <cmath>

namespace reference {
namespace {

using namespace parallax;
using nlohmann::json;

/// lightly's network for CIFAR. `variant`: "forward" pools windows of 4 × 4, "benchmark" pools the whole map and has no ReLU
/// behind the stem.
nn::Backbone lightlyResNet(const std::string &name, const std::string &variant, double width)
{
    static const std::map<std::string, std::pair<std::array<int, 4>, bool>> depths{
        {"resnet-9", {{1, 1, 1, 1}, false}}, {"resnet-18", {{2, 2, 2, 2}, false}},  {"resnet-34", {{3, 4, 6, 3}, false}},
        {"resnet-50", {{3, 4, 6, 3}, true}}, {"resnet-101", {{3, 4, 23, 3}, true}}, {"resnet-152", {{3, 8, 36, 3}, true}}};
    nn::ResNetOptions options;
    std::tie(options.blocks, options.bottleneck) = depths.at(name);
    options.base = std::int64_t(64 * width);
    options.imagenetStem = false;
    options.stemRelu = variant == "forward";
    options.projection = "shortcut";
    options.pool = variant == "forward" ? 4 : 0;
    return nn::makeResNet(options);
}

nn::Backbone makeBackbone(const json &params)
{
    const std::string arch = params.at("arch");
    if (arch.starts_with("lightly_")) {
        const std::size_t end = arch.rfind('_'), start = std::strlen("lightly_");
        return lightlyResNet(arch.substr(start, end - start), arch.substr(end + 1), params.value("width", 1.0));
    }
    if (arch == "vit_small_test") {
        nn::VitOptions options;
        options.imageSize = params.at("image");
        options.patchSize = params.at("patch");
        options.layers = params.at("layers");
        options.heads = params.at("heads");
        options.dim = params.at("dim");
        options.mlpDim = params.at("mlp");
        return std::make_shared<nn::VitImpl>(options);
    }
    nn::BackboneConfig config{.name = arch};
    if (arch.ends_with("_cifar")) {
        config.name.resize(arch.size() - std::strlen("_cifar"));
        config.stem = "cifar";
    }
    return nn::makeBackbone(config);
}

const Register backbones({"backbone"}, [](Checking &checking) {
    const nn::Backbone net = makeBackbone(checking.file.params);
    compareStateDict(checking, *net, net->classifier());
    compareModes(checking, *net);
});

/// The arguments of a head; what is missing has the default that lightly's class gives it.
struct HeadArguments {
    json given;
    std::int64_t in, hidden, out;
    HeadArguments(const json &args, std::int64_t in, std::int64_t hidden, std::int64_t out)
        : given(args), in(args.value("input_dim", in)), hidden(args.value("hidden_dim", hidden)),
          out(args.value("output_dim", out))
    {
    }
};

using MakeHead = std::function<nn::Head(const HeadArguments &)>;
struct HeadClass {
    std::int64_t in, hidden, out;
    MakeHead make;
};

MakeHead plain(nn::Head (*make)(std::int64_t, std::int64_t, std::int64_t))
{
    return [make](const HeadArguments &a) { return make(a.in, a.hidden, a.out); };
}

const std::map<std::string, HeadClass> &headClasses()
{
    const MakeHead simclr = [](const HeadArguments &a) {
        return nn::simclrProjectionHead(a.in, a.hidden, a.out, a.given.value("num_layers", 2),
                                        a.given.value("batch_norm", true));
    };
    const MakeHead moco = [](const HeadArguments &a) {
        return nn::mocoProjectionHead(a.in, a.hidden, a.out, a.given.value("num_layers", 2),
                                      a.given.value("batch_norm", false));
    };
    const MakeHead vicreg = [](const HeadArguments &a) {
        return nn::vicregProjectionHead(a.in, a.hidden, a.out, a.given.value("num_layers", 3));
    };
    const MakeHead mmcr = [](const HeadArguments &a) {
        return nn::mmcrProjectionHead(a.in, a.hidden, a.out, a.given.value("num_layers", 2),
                                      a.given.value("batch_norm", true), a.given.value("use_bias", false));
    };
    static const std::map<std::string, HeadClass> classes{
        {"SimCLRProjectionHead", {2048, 2048, 128, simclr}},
        {"MoCoProjectionHead", {2048, 2048, 128, moco}},
        {"DenseCLProjectionHead", {2048, 2048, 128, moco}},
        {"BYOLProjectionHead", {2048, 4096, 256, plain(nn::twoLayerHead)}},
        {"BYOLPredictionHead", {256, 4096, 256, plain(nn::twoLayerHead)}},
        {"SwaVProjectionHead", {2048, 2048, 128, plain(nn::twoLayerHead)}},
        {"TiCoProjectionHead", {2048, 4096, 256, plain(nn::twoLayerHead)}},
        {"NNCLRProjectionHead", {2048, 2048, 256, plain(nn::nnclrProjectionHead)}},
        {"NNCLRPredictionHead", {256, 4096, 256, plain(nn::twoLayerHead)}},
        {"SimSiamProjectionHead", {2048, 2048, 2048, plain(nn::simsiamProjectionHead)}},
        {"SimSiamPredictionHead", {2048, 512, 2048, plain(nn::twoLayerHead)}},
        {"SMoGProjectionHead", {2048, 2048, 128, plain(nn::smogProjectionHead)}},
        {"SMoGPredictionHead", {128, 2048, 128, plain(nn::twoLayerHead)}},
        {"BarlowTwinsProjectionHead", {2048, 8192, 8192, vicreg}},
        {"VICRegProjectionHead", {2048, 8192, 8192, vicreg}},
        {"VicRegLLocalProjectionHead", {2048, 8192, 8192, plain(nn::vicreglLocalProjectionHead)}},
        {"MMCRProjectionHead", {2048, 8192, 512, mmcr}},
        {"MSNProjectionHead", {768, 2048, 256, plain(nn::msnProjectionHead)}},
    };
    return classes;
}

nn::DinoHead makeDinoHead(const std::string &name, const json &args)
{
    nn::DinoHeadOptions options;
    options.in = args.value("input_dim", options.in);
    options.hidden = args.value("hidden_dim", options.hidden);
    options.bottleneck = args.value("bottleneck_dim", options.bottleneck);
    options.out = args.value("output_dim", options.out);
    options.batchNorm = args.value("batch_norm", false);
    options.normLastLayer = name == "DINOProjectionHead" && args.value("norm_last_layer", true);
    return nn::DinoHead(options);
}

nn::Prototypes makePrototypes(const json &args)
{
    const json counts = args.value("n_prototypes", json(3000));
    return nn::Prototypes(args.value("input_dim", 128),
                          counts.is_array() ? counts.get<std::vector<std::int64_t>>()
                                            : std::vector<std::int64_t>{counts.get<std::int64_t>()});
}

template<class Module>
void checkHead(
    Checking &checking, Module &module, const std::function<void()> &prepare = [] {})
{
    compareStateDict(checking, module);
    std::set<std::string> learning;
    for (const auto &item : module.named_parameters())
        if (item.value().requires_grad()) learning.insert(item.key());
    if (learning != checking.file.list("trainable").get<std::set<std::string>>()) checking.fail("other parameters learn");
    compareModes(checking, module, prepare);
}

const Register heads({"head"}, [](Checking &checking) {
    const json &params = checking.file.params;
    const std::string name = params.at("cls");
    const json args = params.at("args");
    if (name == "DINOProjectionHead" || name == "DINOv2ProjectionHead") {
        nn::DinoHead head = makeDinoHead(name, args);
        checkHead(checking, *head);
    } else if (name == "SwaVPrototypes") {
        nn::Prototypes prototypes = makePrototypes(args);
        const bool normalise = params.value("normalize_prototypes", false);
        checkHead(checking, *prototypes, [&] {
            if (normalise) prototypes->normalise();
        });
    } else if (const auto found = headClasses().find(name); found != headClasses().end()) {
        const auto &[in, hidden, out, make] = found->second;
        nn::Head head = make(HeadArguments(args, in, hidden, out));
        checkHead(checking, *head);
    } else {
        checking.fail("there is no head " + name);
    }
});

const Register filling({"fill"}, [](Checking &checking) {
    std::size_t i = 0;
    for (const auto &entry : checking.file.params.at("tensors")) {
        const std::string name = entry.at(0), index = std::to_string(i++);
        const torch::Tensor wanted = checking.file.tensor("output." + index);
        torch::Tensor tensor = torch::empty(entry.at(1).get<std::vector<std::int64_t>>(), wanted.scalar_type());
        fill(name, tensor);
        checking.compare("output." + index, tensor);
        checking.compare("output.u" + index, uniform(name, tensor.numel()));
    }
});

} // namespace
} // namespace reference
