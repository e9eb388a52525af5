// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/config/group.h"
#include "core/engine/data/dataconfig.h"

namespace parallax::fake {

/// Settings like the real worker's, as far as screens and command line touch them. The groups of data are the real ones.
struct Method {
    std::string name = "simclr";
    static void describe(config::Group<Method> &group)
    {
        group.field("name", &Method::name)
            .label("Method")
            .choice("simclr", "SimCLR")
            .choice("byol", "BYOL")
            .help("What is learned from.");
    }
};

struct SimClr {
    double temperature = 0.5;
    std::int64_t hiddenDim = 0, projectionDim = 128, layers = 2;
    static void describe(config::Group<SimClr> &group)
    {
        group.field("temperature", &SimClr::temperature)
            .label("Temperature")
            .above(0)
            .atMost(10)
            .help("Divides the similarities.");
        group.field("hidden_dim", &SimClr::hiddenDim)
            .label("Hidden size")
            .range(0, 65536)
            .advanced()
            .help("0: the features' size.");
        group.field("projection_dim", &SimClr::projectionDim)
            .label("Projection")
            .range(2, 65536)
            .advanced()
            .help("Size of the head's output.");
        group.field("layers", &SimClr::layers).label("Layers").range(1, 8).advanced().help("Of the head.");
    }
};

struct Byol {
    double momentum = 0.996;
    static void describe(config::Group<Byol> &group)
    {
        group.field("momentum", &Byol::momentum).label("Momentum").range(0, 1).help("Of the target network.");
    }
};

struct Backbone {
    std::string name = "resnet18", stem = "cifar";
    double width = 1;
    bool zeroInitResidual = false;
    static void describe(config::Group<Backbone> &group)
    {
        group.field("name", &Backbone::name)
            .label("Network")
            .choice("resnet18", "ResNet-18")
            .choice("resnet50", "ResNet-50")
            .help("The network.");
        group.field("stem", &Backbone::stem)
            .label("Stem")
            .choice("cifar", "CIFAR")
            .choice("imagenet", "ImageNet")
            .help("The first layers.");
        group.field("width", &Backbone::width)
            .label("Width")
            .unit("×")
            .range(0.0625, 4)
            .advanced()
            .help("Scales the channels.");
        group.field("zero_init_residual", &Backbone::zeroInitResidual)
            .label("Zero last norm")
            .advanced()
            .help("Blocks start as identity.");
    }
};

struct Optim {
    double baseLr = 0.06, momentum = 0.9, weightDecay = 5e-4, warmupEpochs = 0;
    std::int64_t lrReferenceBatch = 256;
    std::string name = "sgd", schedule = "cosine";
    bool nesterov = false, excludeBiasNormWd = false;
    static void describe(config::Group<Optim> &group)
    {
        group.field("name", &Optim::name).label("Optimiser").choice("sgd", "SGD").help("How weights follow gradients.");
        group.field("base_lr", &Optim::baseLr).label("Base learning rate").above(0).help("For the reference batch.");
        group.field("lr_reference_batch", &Optim::lrReferenceBatch)
            .label("Reference batch")
            .unit("images")
            .atLeast(0)
            .advanced()
            .help("The rate is scaled by batch ÷ this. 0: not scaled.");
        group.field("momentum", &Optim::momentum).label("Momentum").range(0, 1).advanced().help("Of SGD.");
        group.field("weight_decay", &Optim::weightDecay).label("Weight decay").atLeast(0).help("L2 penalty.");
        group.field("warmup_epochs", &Optim::warmupEpochs)
            .label("Warm-up")
            .unit("epochs")
            .atLeast(0)
            .help("Linear rise of the rate.");
        group.field("schedule", &Optim::schedule)
            .label("Schedule")
            .choice("cosine", "Cosine")
            .choice("constant", "Constant")
            .help("After the warm-up.");
        group.field("nesterov", &Optim::nesterov).label("Nesterov").advanced().help("Nesterov's momentum.");
        group.field("exclude_bias_norm_wd", &Optim::excludeBiasNormWd)
            .label("Spare biases and norms")
            .advanced()
            .help("No weight decay there.");
    }
};

struct Train {
    std::int64_t epochs = 3, batchSize = 64, seed = 0, maxSteps = 0, threads = 0;
    std::string precision = "fp32";
    double clipNorm = 0;
    static void describe(config::Group<Train> &group)
    {
        group.field("epochs", &Train::epochs).label("Epochs").range(1, 100000).help("Times over the images.");
        group.field("batch_size", &Train::batchSize)
            .label("Batch size")
            .unit("images")
            .range(1, 1000000)
            .help("Over all ranks.");
        group.field("seed", &Train::seed).label("Seed").atLeast(0).help("Of weights, order and views.");
        group.field("max_steps", &Train::maxSteps).label("At most").unit("steps").atLeast(0).advanced().help("0: no limit.");
        group.field("precision", &Train::precision)
            .label("Precision")
            .choice("fp32", "float32")
            .choice("fp64", "float64")
            .advanced()
            .help("Of all numbers.");
        group.field("clip_norm", &Train::clipNorm).label("Clip gradients").atLeast(0).advanced().help("0: not clipped.");
        group.field("threads", &Train::threads)
            .label("Threads")
            .unit("per rank")
            .range(0, 256)
            .advanced()
            .help("0: cores divided by ranks.");
    }
};

struct Distributed {
    std::string device = "auto";
    std::int64_t ranks = 0, timeoutS = 600;
    std::vector<std::int64_t> devices;
    bool syncBn = true, gather = true, findUnusedParameters = false;
    double bucketMb = 25;
    static void describe(config::Group<Distributed> &group)
    {
        group.field("device", &Distributed::device)
            .label("Device")
            .choice("auto", "Automatic")
            .choice("cpu", "CPU")
            .choice("cuda", "GPU")
            .help("Where to train.");
        group.field("devices", &Distributed::devices)
            .label("Devices")
            .range(0, 1023)
            .advanced()
            .help("Numbers of visible devices. Empty: all.");
        group.field("ranks", &Distributed::ranks).label("Ranks").unit("processes").range(0, 1024).help("0: one a device.");
        group.field("sync_bn", &Distributed::syncBn).label("SyncBatchNorm").help("Statistics over all ranks.");
        group.field("gather", &Distributed::gather).label("Gather").help("Negatives from all ranks.");
        group.field("find_unused_parameters", &Distributed::findUnusedParameters)
            .label("Find unused parameters")
            .advanced()
            .help("For networks with unused parts.");
        group.field("timeout_s", &Distributed::timeoutS)
            .label("Time-out")
            .unit("s")
            .range(1, 86400)
            .advanced()
            .help("Of a collective.");
        group.field("bucket_mb", &Distributed::bucketMb)
            .label("Bucket")
            .unit("MB")
            .above(0)
            .advanced()
            .help("Gradients sent together.");
    }
};

struct Eval {
    std::int64_t everyEpochs = 1, knnK = 200, bankLimit = 0, queryLimit = 0, batchSize = 256;
    bool untrained = true;
    double knnT = 0.1;
    static void describe(config::Group<Eval> &group)
    {
        group.field("every_epochs", &Eval::everyEpochs).label("kNN every").unit("epochs").atLeast(0).help("0: never.");
        group.field("knn_k", &Eval::knnK).label("Neighbours").range(1, 100000).help("Of the kNN vote.");
        group.field("knn_t", &Eval::knnT).label("Temperature").above(0).help("Of the kNN vote.");
        group.field("bank_limit", &Eval::bankLimit).label("Bank").unit("images").atLeast(0).advanced().help("0: all.");
        group.field("query_limit", &Eval::queryLimit).label("Queries").unit("images").atLeast(0).advanced().help("0: all.");
        group.field("untrained", &Eval::untrained).label("Untrained too").help("kNN before the first step.");
        group.field("batch_size", &Eval::batchSize)
            .label("Batch")
            .unit("images")
            .range(1, 65536)
            .advanced()
            .help("Of evaluation.");
    }
};

struct Checkpoint {
    std::int64_t everyEpochs = 1, everySteps = 0, keepLast = 3;
    static void describe(config::Group<Checkpoint> &group)
    {
        group.field("every_epochs", &Checkpoint::everyEpochs)
            .label("Every")
            .unit("epochs")
            .atLeast(0)
            .help("0: only at the end.");
        group.field("every_steps", &Checkpoint::everySteps)
            .label("Every")
            .unit("steps")
            .atLeast(0)
            .advanced()
            .help("0: by epochs.");
        group.field("keep_last", &Checkpoint::keepLast)
            .label("Keep")
            .unit("checkpoints")
            .atLeast(1)
            .advanced()
            .help("Older ones are deleted.");
    }
};

struct Output {
    std::int64_t logEvery = 1, embedEveryEpochs = 0, embedLimit = 5000;
    bool embedAtEnd = true;
    static void describe(config::Group<Output> &group)
    {
        group.field("log_every", &Output::logEvery)
            .label("Log every")
            .unit("steps")
            .atLeast(1)
            .advanced()
            .help("Steps between two lines.");
        group.field("embed_every_epochs", &Output::embedEveryEpochs)
            .label("Embed every")
            .unit("epochs")
            .atLeast(0)
            .help("0: never.");
        group.field("embed_at_end", &Output::embedAtEnd).label("Embed at the end").help("For the Embeddings screen.");
        group.field("embed_limit", &Output::embedLimit)
            .label("Embed")
            .unit("images")
            .atLeast(1)
            .advanced()
            .help("At most so many.");
    }
};

inline config::Schema schema()
{
    config::Schema schema;
    config::declare<data::DataConfig>(schema, "data", "Data");
    config::declare<data::AugmentConfig>(schema, "augment", "Augmentations");
    config::declare<Method>(schema, "method", "Method");
    config::declare<SimClr>(schema, "method", "Method", config::Condition{"method.name", "simclr"});
    config::declare<Byol>(schema, "method", "Method", config::Condition{"method.name", "byol"});
    config::declare<Backbone>(schema, "backbone", "Backbone");
    config::declare<Optim>(schema, "optim", "Optimiser");
    config::declare<Train>(schema, "train", "Training");
    config::declare<Distributed>(schema, "distributed", "Distributed");
    config::declare<Eval>(schema, "eval", "Evaluation");
    config::declare<Checkpoint>(schema, "checkpoint", "Checkpoints");
    config::declare<Output>(schema, "output", "Output");
    return schema;
}

} // namespace parallax::fake
