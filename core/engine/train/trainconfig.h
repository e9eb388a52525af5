// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/config/group.h"

namespace parallax::train {

struct TrainConfig {
    std::int64_t epochs = 100;
    std::int64_t batchSize = 256;
    std::int64_t maxSteps = 0;
    std::int64_t seed = 0;
    std::int64_t accumulate = 1;
    std::string precision = "fp32";
    double clipNorm = 0;
    std::int64_t threads = 0;
    static void describe(config::Group<TrainConfig> &group)
    {
        group.field("epochs", &TrainConfig::epochs)
            .label("Epochs")
            .range(1, 1e6)
            .help("How often every training image is seen.");
        group.field("batch_size", &TrainConfig::batchSize)
            .label("Batch size")
            .unit("images, over all ranks")
            .range(2, 1 << 20)
            .help("Images of one optimiser step, over all ranks together. Each rank takes an even share.");
        group.field("accumulate", &TrainConfig::accumulate)
            .label("Gradient accumulation")
            .unit("parts of a batch")
            .range(1, 4096)
            .advanced()
            .help("The batch goes through the network in so many equal parts, one after the other, and their gradients are "
                  "averaged: memory for one part is enough. What compares images sees one part at a time: of a batch of 256 "
                  "in 4 parts a contrastive loss, batch norm or SwAV's assignment sees 64.");
        group.field("max_steps", &TrainConfig::maxSteps)
            .label("At most")
            .unit("steps")
            .atLeast(0)
            .advanced()
            .help("End after so many optimiser steps, wherever the epoch is. 0: no limit.");
        group.field("seed", &TrainConfig::seed)
            .label("Seed")
            .range(0, 9007199254740991.0)
            .help("Initial weights, order of the images and their views follow from it.");
        group.field("precision", &TrainConfig::precision)
            .label("Precision")
            .advanced()
            .choice("fp32", "32 bit", "what networks are trained with")
            .choice("bf16", "bfloat16",
                    "networks compute in half precision: faster on GPUs from NVIDIA's Ampere on, half the memory")
            .choice("fp16", "float16", "the same for older GPUs, with loss scaling")
            .choice("fp64", "64 bit", "slow: to compare runs to the last digits")
            .help("Number format of what networks compute. With bf16 and fp16 weights, losses, batch statistics and "
                  "evaluation "
                  "stay in 32 bit.");
        group.field("clip_norm", &TrainConfig::clipNorm)
            .label("Gradient clipping")
            .unit("norm")
            .atLeast(0)
            .advanced()
            .help("Gradients are scaled down where their joint Euclidean norm exceeds this. 0: never.");
        group.field("threads", &TrainConfig::threads)
            .label("Compute threads")
            .unit("per rank")
            .range(0, 1024)
            .advanced()
            .help("Threads that compute on the CPU. 0: the machine's cores divided by its ranks, at least one.");
    }
};

struct DistributedConfig {
    std::string device = "auto";
    std::vector<std::int64_t> devices;
    std::int64_t ranks = 0;
    bool syncBn = true;
    bool gather = true;
    bool findUnused = false;
    double timeoutS = 600;
    double bucketMb = 25;
    static void describe(config::Group<DistributedConfig> &group)
    {
        group.field("device", &DistributedConfig::device)
            .label("Device")
            .choice("auto", "Automatic", "CUDA where there is a device, else the CPU")
            .choice("cpu", "CPU")
            .choice("cuda", "CUDA")
            .help("What the ranks compute on.");
        group.field("devices", &DistributedConfig::devices)
            .label("Devices")
            .range(0, 1023)
            .help("CUDA devices, one a rank, as numbered among those that CUDA_VISIBLE_DEVICES leaves visible. Empty: the "
                  "first ones.");
        group.field("ranks", &DistributedConfig::ranks)
            .label("Ranks")
            .unit("processes")
            .range(0, 4096)
            .help("Processes that train together. 0: one a CUDA device; one on the CPU.");
        group.field("sync_bn", &DistributedConfig::syncBn)
            .label("SyncBatchNorm")
            .help("Batch norm takes its statistics over all ranks, so that they do not depend on the number of ranks.");
        group.field("gather", &DistributedConfig::gather)
            .label("Gather over ranks")
            .help("The loss compares with the images of all ranks, not only with those of its own.");
        group.field("find_unused_parameters", &DistributedConfig::findUnused)
            .label("Find unused parameters")
            .advanced()
            .help(
                "Lets ranks go on when a step leaves parameters without a gradient. Costs a walk over the graph each step.");
        group.field("timeout_s", &DistributedConfig::timeoutS)
            .label("Time-out")
            .unit("s")
            .range(5, 86400)
            .advanced()
            .help("A rank that waits longer than this for another gives up with an error.");
        group.field("bucket_mb", &DistributedConfig::bucketMb)
            .label("Gradient bucket")
            .unit("MB")
            .range(0.01, 4096)
            .advanced()
            .help("Gradients are averaged over the ranks in packets of this size while backward still runs.");
    }
};

struct CheckpointConfig {
    std::int64_t everyEpochs = 1;
    std::int64_t everySteps = 0;
    std::int64_t keepLast = 3;
    static void describe(config::Group<CheckpointConfig> &group)
    {
        group.field("every_epochs", &CheckpointConfig::everyEpochs)
            .label("Checkpoint every")
            .unit("epochs")
            .atLeast(0)
            .help("Epochs between checkpoints. 0: only at the end and on request.");
        group.field("every_steps", &CheckpointConfig::everySteps)
            .label("Checkpoint every")
            .unit("steps")
            .atLeast(0)
            .advanced()
            .help("Steps between checkpoints, besides those of epochs. 0: none.");
        group.field("keep_last", &CheckpointConfig::keepLast)
            .label("Keep")
            .unit("checkpoints")
            .range(1, 1e6)
            .advanced()
            .help("Older checkpoints are deleted once a newer one is safe on disk.");
    }
};

struct OutputConfig {
    std::int64_t logEvery = 1;
    std::int64_t embedEveryEpochs = 0;
    bool embedAtEnd = true;
    std::int64_t embedLimit = 5000;
    static void describe(config::Group<OutputConfig> &group)
    {
        group.field("log_every", &OutputConfig::logEvery)
            .label("Log every")
            .unit("steps")
            .range(1, 1e6)
            .advanced()
            .help("Steps between two points on the curves.");
        group.field("embed_every_epochs", &OutputConfig::embedEveryEpochs)
            .label("Embed every")
            .unit("epochs")
            .atLeast(0)
            .help("Epochs between stored embeddings of the training images. 0: none while training.");
        group.field("embed_at_end", &OutputConfig::embedAtEnd)
            .label("Embed at the end")
            .help("Store the embeddings of the finished network.");
        group.field("embed_limit", &OutputConfig::embedLimit)
            .label("Embed at most")
            .unit("images")
            .atLeast(0)
            .help("Images to embed, spread evenly over the training images. 0: all.");
    }
};

} // namespace parallax::train
