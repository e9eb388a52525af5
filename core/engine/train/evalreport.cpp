// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/train/evalreport.h"

#include "core/base/text.h"
#include "core/engine/data/view.h"

#include <algorithm>

namespace parallax::train {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kFormat = 1;
constexpr std::size_t confusionClasses = 100; ///< above that the matrix would be most of the file

Json scoreToJson(const eval::EpochScore &score)
{
    return {{"epoch", score.epoch}, {"loss", score.loss}, {"top1", score.top1}, {"top5", score.top5}};
}

Json curvesToJson(const eval::ProbeResult &result)
{
    Json curves = Json::array();
    for (const auto &curve : result.curves) {
        Json epochs = Json::array();
        for (const auto &score : curve.epochs) epochs.push_back(scoreToJson(score));
        curves.push_back(
            {{"lr", curve.lr}, {"lr_scaled", curve.scaled}, {"diverged", curve.diverged}, {"epochs", std::move(epochs)}});
    }
    return curves;
}

Json viewsOf(const EvalCase &of)
{
    const auto &augment = of.data.augment;
    const int size = int(augment.size);
    const data::Normalisation normalisation(augment);
    return {{"size", size},
            {"train",
             {{"random_resized_crop", {{"area", {of.probe.cropMin, 1}}, {"ratio", {3.0 / 4, 4.0 / 3}}}},
              {"flip_p", of.probe.flipP}}},
            {"validation", {{"shorter_side", data::centreSide(size, of.probe.centreCrop)}, {"centre_crop", size}}},
            {"interpolation", "bilinear, antialiased"},
            {"mean", normalisation.mean},
            {"std", normalisation.std}};
}

/// How best, last and the learning rate came about: a figure that validation images chose is too high.
Json choiceOf(const EvalCase &of)
{
    Json choice{
        {"best", "the epoch with the highest validation top-1: chosen by the images it is measured on, so optimistic"}};
    choice["last"] = "after the last epoch";
    if (of.probe.lr.size() > 1)
        choice["lr"] = "the highest validation top-1 after the last epoch: chosen by the images it is measured on, so "
                       "best and last are optimistic";
    else
        choice["lr"] = "given";
    return choice;
}

Json protocolOf(const EvalCase &of, const eval::ProbeResult &result)
{
    const auto &probe = of.probe;
    std::vector<double> scaled;
    for (const auto &curve : result.curves) scaled.push_back(curve.scaled);
    return {{"backbone",
             probe.linear() ? "frozen, in evaluation mode" : "trained, its batch norms in training mode while it learns"},
            {"head", "one linear layer, initial weights as of torch.nn.Linear"},
            {"epochs", probe.epochs},
            {"batch", result.batch},
            {"steps_per_epoch", result.stepsPerEpoch},
            {"drop_last", true},
            {"optimiser", "SGD"},
            {"momentum", probe.momentum},
            {"weight_decay", probe.weightDecay},
            {"lr", probe.lr},
            {"lr_per_images", 256},
            {"lr_scaled", scaled},
            {"schedule", "half a cosine to 0 over all steps, without warm-up"},
            {"loss", "cross-entropy"},
            {"augmentation", viewsOf(of)},
            {"seed", probe.seed},
            {"chosen", choiceOf(of)}};
}

Json dataOf(const EvalCase &of, const eval::ProbeResult &result)
{
    Json data = of.splits.origin;
    data["train_images"] = of.splits.train->size();
    data["val_images"] = result.labels.size(0);
    data["unreadable"] = result.unreadable.size();
    data["classes"] = of.splits.train->classes().size();
    return data;
}

/// Validation accuracy of every class after the last epoch; null for one without validation images.
Json byClass(const EvalCase &of, const std::vector<std::int64_t> &confusion)
{
    const auto &names = of.splits.train->classes();
    const std::size_t count = names.size();
    Json classes = Json::array();
    for (std::size_t c = 0; c < count; ++c) {
        std::int64_t images = 0;
        for (std::size_t guess = 0; guess < count; ++guess) images += confusion[c * count + guess];
        const Json top1 = images > 0 ? Json(double(confusion[c * count + c]) / double(images)) : Json();
        classes.push_back(
            {{"name", names[c]}, {"train_images", of.splits.trainCounts[c]}, {"val_images", images}, {"top1", top1}});
    }
    return classes;
}

/// Counts by true class (row) and guess, row by row.
std::vector<std::int64_t> confusionOf(const eval::ProbeResult &result, std::size_t classes)
{
    std::vector<std::int64_t> counts(classes * classes, 0);
    const auto labels = result.labels.contiguous(), guesses = result.guesses.contiguous();
    const auto *label = labels.const_data_ptr<std::int64_t>(), *guess = guesses.const_data_ptr<std::int64_t>();
    for (std::int64_t i = 0; i < labels.numel(); ++i) ++counts[std::size_t(label[i]) * classes + std::size_t(guess[i])];
    return counts;
}

Json warningsOf(const EvalCase &of, const eval::ProbeResult &result)
{
    std::vector<std::string> warnings = of.network.warnings;
    warnings.insert(warnings.end(), of.splits.warnings.begin(), of.splits.warnings.end());
    if (result.batch < of.probe.batchSize)
        warnings.push_back("There are fewer training images than the batch of " + std::to_string(of.probe.batchSize) +
                           ": a batch is all " + std::to_string(result.batch) + " of them");
    for (const auto &curve : result.curves)
        if (curve.diverged)
            warnings.push_back("Learning rate " + text::number(curve.lr) + " diverged in epoch " +
                               std::to_string(curve.epochs.size() + 1));
    if (!result.unreadable.empty())
        warnings.push_back(std::to_string(result.unreadable.size()) +
                           " images cannot be read: others take their place in training, none in validation; the first is " +
                           result.unreadable.front().name);
    return warnings;
}

} // namespace

Json progressDocument(const std::vector<eval::RateCurve> &curves, std::int64_t epochs)
{
    std::int64_t epoch = 0;
    for (const auto &curve : curves) epoch = std::max(epoch, std::int64_t(curve.epochs.size()));
    Json list = Json::array();
    for (const auto &curve : curves) {
        Json entry{{"lr", curve.lr}};
        if (curve.diverged)
            entry["diverged"] = true;
        else
            entry.update({{"loss", curve.last().loss}, {"top1", curve.last().top1}, {"top5", curve.last().top5}});
        list.push_back(std::move(entry));
    }
    return {{"epoch", epoch}, {"epochs", epochs}, {"curves", std::move(list)}};
}

Json evalDocument(const EvalCase &of, const eval::ProbeResult &result)
{
    const auto &curve = result.curve();
    const std::size_t classes = of.splits.train->classes().size();
    const auto confusion = confusionOf(result, classes);
    Json document{{"format", kFormat},
                  {"mode", of.probe.mode},
                  {"best", scoreToJson(curve.best())},
                  {"last", scoreToJson(curve.last())},
                  {"lr", curve.lr},
                  {"method", of.network.experiment.method},
                  {"backbone", of.network.experiment.backbone.name},
                  {"checkpoint",
                   {{"epoch", of.network.progress.epoch},
                    {"step", of.network.progress.step},
                    {"weights", of.weights.empty() ? Json() : Json(of.weights)}}},
                  {"data", dataOf(of, result)},
                  {"protocol", protocolOf(of, result)},
                  {"settings", of.settings},
                  {"curves", curvesToJson(result)},
                  {"by_class", byClass(of, confusion)}};
    if (classes <= confusionClasses) {
        Json rows = Json::array();
        for (std::size_t c = 0; c < classes; ++c)
            rows.push_back(std::vector<std::int64_t>(confusion.begin() + std::ptrdiff_t(c * classes),
                                                     confusion.begin() + std::ptrdiff_t((c + 1) * classes)));
        document["confusion"] = std::move(rows); // row: the true class; column: the guess
    }
    document["weights"] = {{"file", ""}, {"epoch", curve.last().epoch}, {"lr", curve.lr}};
    document["seconds"] = of.seconds;
    document["device"] = of.device;
    document["threads"] = of.threads;
    document["versions"] = {{"parallax", PARALLAX_VERSION}, {"torch", TORCH_VERSION}};
    document["warnings"] = warningsOf(of, result);
    return document;
}

nn::NamedTensors trainedWeights(const EvalCase &of, const eval::ProbeResult &result)
{
    const nn::NamedTensors head{{"weight", result.weight}, {"bias", result.bias}};
    if (of.probe.linear()) return head;
    const auto backbone = of.network.method->backbone();
    const auto *named = dynamic_cast<const nn::BackboneImpl *>(backbone.get());
    const auto classifier = named ? named->classifier() : std::vector<std::string>();
    nn::NamedTensors all = nn::stateDict(*backbone);
    for (auto &tensor : nn::prefixed(classifier.empty() ? "fc." : classifier.front(), head))
        all.push_back(std::move(tensor));
    return all;
}

} // namespace parallax::train
