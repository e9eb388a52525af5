// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/config/group.h"

/// A small schema with every type and with options that depend on the method.
namespace sample {

using namespace parallax;

struct DataConfig {
    std::string path;
    std::int64_t limit = 0;
    std::vector<double> mean{0.5};
    std::vector<std::string> skip;
    static void describe(config::Group<DataConfig> &group)
    {
        group.field("path", &DataConfig::path).label("Images").hint("path").help("A folder.");
        group.field("limit", &DataConfig::limit).label("At most").unit("images").atLeast(0);
        group.field("mean", &DataConfig::mean).label("Mean").range(0, 1).advanced();
        group.field("skip", &DataConfig::skip).label("Skip").advanced();
    }
};

struct OptimConfig {
    double lr = 0.06, momentum = 0.9;
    bool nesterov = false;
    std::vector<std::int64_t> milestones;
    std::string schedule = "cosine";
    static void describe(config::Group<OptimConfig> &group)
    {
        group.field("lr", &OptimConfig::lr).label("Learning rate").above(0).atMost(100);
        group.field("momentum", &OptimConfig::momentum).label("Momentum").range(0, 1);
        group.field("nesterov", &OptimConfig::nesterov).label("Nesterov");
        group.field("milestones", &OptimConfig::milestones).label("Milestones").atLeast(1);
        group.field("schedule", &OptimConfig::schedule)
            .label("Schedule")
            .choice("cosine", "Cosine")
            .choice("constant", "Constant", "No change.");
    }
};

struct TrainConfig {
    std::int64_t epochs = 10, batchSize = 256;
    static void describe(config::Group<TrainConfig> &group)
    {
        group.field("epochs", &TrainConfig::epochs).label("Epochs").atLeast(1);
        group.field("batch_size", &TrainConfig::batchSize).label("Batch size").unit("images").range(1, 65'536);
    }
};

struct MethodConfig {
    std::string name = "simclr";
    static void describe(config::Group<MethodConfig> &group)
    {
        group.field("name", &MethodConfig::name)
            .label("Method")
            .choice("simclr", "SimCLR")
            .choice("byol", "BYOL")
            .choice("moco", "MoCo");
    }
};

struct SimclrOptions {
    double temperature = 0.5;
    static void describe(config::Group<SimclrOptions> &group)
    {
        group.field("temperature", &SimclrOptions::temperature).label("Temperature").above(0);
    }
};

struct ByolOptions {
    double tau = 0.99;
    static void describe(config::Group<ByolOptions> &group)
    {
        group.field("tau", &ByolOptions::tau).label("Momentum").range(0, 1);
    }
};

struct MocoOptions {
    double temperature = 0.07;
    std::int64_t queue = 4096;
    static void describe(config::Group<MocoOptions> &group)
    {
        group.field("temperature", &MocoOptions::temperature).label("Temperature").above(0);
        group.field("queue", &MocoOptions::queue).label("Queue").atLeast(1);
    }
};

inline config::Schema schema()
{
    config::Schema schema;
    config::declare<DataConfig>(schema, "data", "Data");
    config::declare<MethodConfig>(schema, "method", "Method");
    config::declare<SimclrOptions>(schema, "method", "Method", config::Condition{"method.name", "simclr"});
    config::declare<ByolOptions>(schema, "method", "Method", config::Condition{"method.name", "byol"});
    config::declare<MocoOptions>(schema, "method", "Method", config::Condition{"method.name", "moco"});
    config::declare<OptimConfig>(schema, "optim", "Optimiser");
    config::declare<TrainConfig>(schema, "train", "Training");
    return schema;
}

} // namespace sample
