// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/eval/evalconfig.h"

namespace parallax::eval {

void EvalConfig::describe(config::Group<EvalConfig> &group)
{
    group.field("every_epochs", &EvalConfig::everyEpochs)
        .label("Evaluate every")
        .unit("epochs")
        .atLeast(0)
        .help("kNN accuracy is measured after so many epochs, and after the last. 0: never.");
    group.field("knn_k", &EvalConfig::knnK)
        .label("Neighbours")
        .unit("images")
        .atLeast(1)
        .help("How many nearest training images vote on the class of an evaluation image.");
    group.field("knn_t", &EvalConfig::knnT)
        .label("Vote temperature")
        .above(0)
        .advanced()
        .help("A neighbour of cosine similarity s votes with weight exp(s / temperature).");
    group.field("bank_limit", &EvalConfig::bankLimit)
        .label("Training images in the vote")
        .unit("images")
        .atLeast(0)
        .advanced()
        .help("Take only so many, evenly over the data. 0: all.");
    group.field("query_limit", &EvalConfig::queryLimit)
        .label("Images to classify")
        .unit("images")
        .atLeast(0)
        .advanced()
        .help("Take only so many, evenly over the data. 0: all.");
    group.field("untrained", &EvalConfig::untrained)
        .label("Measure before training")
        .help("Also measures the untrained network: the line that training has to beat.");
    group.field("quality_images", &EvalConfig::qualityImages)
        .label("Images for feature figures")
        .unit("images")
        .range(0, 20000)
        .advanced()
        .help("Spread, effective rank, alignment and uniformity of the features are measured on two random views of so many "
              "training images. They need no labels, and tell a collapse. 0: not measured.");
    group.field("batch_size", &EvalConfig::batchSize)
        .label("Evaluation batch")
        .unit("images per rank")
        .range(1, 65536)
        .advanced()
        .help("Images that go through the network at once. Changes memory and speed, not results.");
}

} // namespace parallax::eval
