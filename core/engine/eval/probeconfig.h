// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/config/group.h"

#include <cstdint>
#include <string>
#include <vector>

/// The settings of `parallax eval`: a schema of their own, no part of a training configuration.
namespace parallax::eval {

/// How a trained network is judged by labels. Epochs and learning rates have their defaults by mode.
struct ProbeConfig {
    std::string mode = "linear";
    std::int64_t batchSize = 256;
    double momentum = 0.9;
    double weightDecay = 0;
    std::int64_t size = 0;
    double cropMin = 0.08;
    double flipP = 0.5;
    double centreCrop = 1;
    std::int64_t limit = 0;
    double valFraction = -1;
    bool missingClasses = false;
    std::int64_t seed = 0;
    std::int64_t epochs = 90;    ///< see LinearConfig, FinetuneConfig
    std::vector<double> lr{0.1}; ///< per 256 images; one for fine-tuning

    bool linear() const { return mode == "linear"; }

    static void describe(config::Group<ProbeConfig> &group)
    {
        group.field("mode", &ProbeConfig::mode)
            .label("Mode")
            .choice("linear", "Linear probe", "the network stays as it is, one linear layer learns on its features")
            .choice("finetune", "Fine-tuning", "the whole network learns on, behind it a new linear layer")
            .help("What is trained on the labels.");
        group.field("batch_size", &ProbeConfig::batchSize)
            .label("Batch size")
            .unit("images")
            .range(1, 1 << 20)
            .help(
                "Images of one step; all there are when there are fewer. What is left over of an epoch is not trained on.");
        group.field("momentum", &ProbeConfig::momentum)
            .label("Momentum")
            .range(0, 0.9999)
            .advanced()
            .help("Of stochastic gradient descent.");
        group.field("weight_decay", &ProbeConfig::weightDecay)
            .label("Weight decay")
            .range(0, 10)
            .advanced()
            .help("On all parameters that are trained.");
        group.field("size", &ProbeConfig::size)
            .label("View size")
            .unit("px")
            .range(0, 4096)
            .help("Height and width of the images that the network sees. 0: as in the run.");
        group.field("crop_min", &ProbeConfig::cropMin)
            .label("Smallest crop")
            .unit("of the area")
            .range(0.01, 1)
            .help("Smallest share of a training image's area that a random resized crop takes.");
        group.field("flip_p", &ProbeConfig::flipP)
            .label("Flip probability")
            .range(0, 1)
            .advanced()
            .help("Probability that a training image is mirrored.");
        group.field("centre_crop", &ProbeConfig::centreCrop)
            .label("Centre crop")
            .unit("of the shorter side")
            .range(0.1, 1)
            .help("Share of the shorter side that is judged by; 0.875 is usual on large images (256 px, of them 224).");
        group.field("limit", &ProbeConfig::limit)
            .label("At most")
            .unit("images")
            .atLeast(0)
            .help("Train on only so many labelled images, drawn evenly over the classes. 0: all.");
        group.field("val_fraction", &ProbeConfig::valFraction)
            .label("Validation fraction")
            .range(-1, 0.5)
            .help("Part of the images that is judged by, when the data brings no validation images. Below 0: the run's "
                  "data.val_fraction.");
        group.field("missing_classes", &ProbeConfig::missingClasses)
            .label("Allow missing classes")
            .advanced()
            .help("Go on when there are classes without a validation image; the accuracy says nothing of them.");
        group.field("seed", &ProbeConfig::seed)
            .label("Seed")
            .range(0, 9007199254740991.0)
            .help("Initial weights of the linear layer, order of the images and their views follow from it.");
    }
};

/// What differs by mode: the defaults are those of lightly's linear and fine-tuning benchmarks.
struct LinearConfig {
    std::int64_t epochs = 90;
    std::vector<double> lr{0.1};
    static void describe(config::Group<LinearConfig> &group)
    {
        group.field("epochs", &LinearConfig::epochs)
            .label("Epochs")
            .range(1, 1e5)
            .help("How often every training image is seen.");
        group.field("lr", &LinearConfig::lr)
            .label("Learning rates")
            .unit("per 256 images")
            .above(0)
            .atMost(1e9)
            .help("Grows with the batch; falls to 0 on half a cosine. Several are trained at once on the same features.");
    }
};

struct FinetuneConfig {
    std::int64_t epochs = 30;
    double lr = 0.05;
    static void describe(config::Group<FinetuneConfig> &group)
    {
        group.field("epochs", &FinetuneConfig::epochs)
            .label("Epochs")
            .range(1, 1e5)
            .help("How often every training image is seen.");
        group.field("lr", &FinetuneConfig::lr)
            .label("Learning rate")
            .unit("per 256 images")
            .above(0)
            .atMost(1e9)
            .help("Grows with the batch; falls to 0 on half a cosine.");
    }
};

inline config::Schema probeSchema()
{
    config::Schema schema;
    config::declare<ProbeConfig>(schema, "probe", "Evaluation by labels");
    config::declare<LinearConfig>(schema, "probe", "Evaluation by labels", config::Condition{"probe.mode", "linear"});
    config::declare<FinetuneConfig>(schema, "probe", "Evaluation by labels", config::Condition{"probe.mode", "finetune"});
    return schema;
}

/// From what the schema has completed.
inline ProbeConfig readProbe(const config::Json &complete)
{
    auto probe = config::read<ProbeConfig>(complete, "probe");
    if (probe.linear()) {
        const auto linear = config::read<LinearConfig>(complete, "probe");
        probe.epochs = linear.epochs;
        probe.lr = linear.lr;
    } else {
        const auto finetune = config::read<FinetuneConfig>(complete, "probe");
        probe.epochs = finetune.epochs;
        probe.lr = {finetune.lr};
    }
    return probe;
}

} // namespace parallax::eval
