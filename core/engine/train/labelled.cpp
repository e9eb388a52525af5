// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/train/labelled.h"

#include "core/base/text.h"
#include "core/engine/data/subset.h"

#include <algorithm>
#include <set>

namespace parallax::train {
namespace {

using Shared = std::shared_ptr<const data::Dataset>;

data::DataConfig configOf(const Experiment &experiment, const eval::ProbeConfig &probe, const Arguments &arguments)
{
    data::DataConfig config = experiment.data;
    if (arguments.has("--data")) {
        config.source = arguments.text("--data");
        config.valSource.clear();
        config.limit = 0; // that of the run's images
    }
    if (arguments.has("--val-data")) config.valSource = arguments.text("--val-data");
    if (probe.valFraction >= 0) config.valFraction = probe.valFraction;
    if (probe.limit > 0 && (config.limit == 0 || probe.limit < config.limit)) config.limit = probe.limit;
    return config;
}

/// Without the images that lie beside the classes' folders.
Shared withLabels(const Shared &data)
{
    std::vector<std::int64_t> kept;
    for (std::int64_t i = 0; i < data->size(); ++i)
        if (data->item(i).label >= 0) kept.push_back(i);
    if (std::int64_t(kept.size()) == data->size()) return data;
    return std::make_shared<data::Subset>(data, std::move(kept), data->classes());
}

std::vector<std::int64_t> countClasses(const data::Dataset &data)
{
    std::vector<std::int64_t> counts(data.classes().size(), 0);
    for (std::int64_t i = 0; i < data.size(); ++i) ++counts.at(std::size_t(data.item(i).label));
    return counts;
}

/// The classes that `some` has images of and `none` has not: at most five names.
std::string only(const std::vector<std::string> &classes, const std::vector<std::int64_t> &some,
                 const std::vector<std::int64_t> &none)
{
    std::vector<std::string> names;
    std::size_t more = 0;
    for (std::size_t c = 0; c < classes.size(); ++c) {
        if (some[c] == 0 || none[c] > 0) continue;
        if (names.size() < 5)
            names.push_back(text::printable(classes[c]));
        else
            ++more;
    }
    return text::join(names, ", ") + (more > 0 ? " and " + std::to_string(more) + " more" : "");
}

Error noValidation(const std::string &source)
{
    return {"there are no validation images", source,
            "Give some with --val-data, or keep a part of the images for it: --set probe.val_fraction=0.1"};
}

/// Both parts must show every class: what is never learned is never right, and of what is never asked nothing is known.
Status checkClasses(LabelledSplits &splits, const eval::ProbeConfig &probe)
{
    const auto &classes = splits.train->classes();
    if (const std::string names = only(classes, splits.valCounts, splits.trainCounts); !names.empty())
        return Error{"there are classes of which only validation images are there: " + names, splits.val->source(),
                     "Both parts need the same classes, by the same folder names"};
    const std::string names = only(classes, splits.trainCounts, splits.valCounts);
    if (names.empty()) return {};
    if (!probe.missingClasses)
        return Error{"there are classes without a validation image: " + names, splits.val->source(),
                     "Give some with --val-data, raise probe.val_fraction, or go on without: --set "
                     "probe.missing_classes=true"};
    splits.warnings.push_back("There are classes without a validation image, of which the accuracy says nothing: " + names);
    return {};
}

/// Images of the same source that are in both parts.
std::int64_t countShared(const data::Dataset &train, const data::Dataset &val)
{
    if (train.source() != val.source()) return 0;
    std::set<std::string> names;
    for (std::int64_t i = 0; i < train.size(); ++i) names.insert(train.item(i).name);
    std::int64_t shared = 0;
    for (std::int64_t i = 0; i < val.size(); ++i) shared += std::int64_t(names.count(val.item(i).name));
    return shared;
}

nlohmann::ordered_json originOf(const data::DataConfig &config, const data::Splits &opened, std::int64_t seed)
{
    nlohmann::ordered_json origin{{"source", opened.train->source()}, {"val_source", opened.val->source()}};
    if (opened.cut)
        origin["split"] = {{"kind", "fraction"}, {"fraction", config.valFraction}, {"seed", seed}};
    else
        origin["split"] = {{"kind", config.valSource.empty() ? "own validation part" : "separate source"}};
    if (config.limit > 0) origin["limit"] = config.limit;
    return origin;
}

} // namespace

Result<LabelledSplits> openLabelled(const Experiment &experiment, const eval::ProbeConfig &probe, const Arguments &arguments)
{
    const data::DataConfig config = configOf(experiment, probe, arguments);
    const auto opened = data::openData(config, std::uint64_t(experiment.train.seed));
    if (!opened) {
        Error error = opened.error();
        if (error.where == "data.source" && arguments.has("--data")) error.where = "--data";
        if (error.where == "data.val_source" && arguments.has("--val-data")) error.where = "--val-data";
        return error;
    }
    if (opened->train->classes().empty())
        return Error{"the images have no labels, and accuracy needs them", opened->train->source(),
                     "Sort them into one folder a class, or give labelled ones with --data"};
    LabelledSplits splits{withLabels(opened->train), withLabels(opened->val), {}, {}, {}, {}};
    if (splits.val->size() == 0) return noValidation(splits.train->source());
    splits.trainCounts = countClasses(*splits.train);
    splits.valCounts = countClasses(*splits.val);
    if (Status status = checkClasses(splits, probe); !status) return status.error();
    splits.origin = originOf(config, *opened, experiment.train.seed);
    if (const std::int64_t shared = countShared(*splits.train, *splits.val); shared > 0)
        splits.warnings.push_back(std::to_string(shared) +
                                  " validation images are training images too: the accuracy says little");
    if (opened->cut && !arguments.has("--data") && config.valFraction != experiment.data.valFraction)
        splits.warnings.push_back("The run trained, without labels, on some of the images that are judged by now: its own "
                                  "data.val_fraction is " +
                                  text::number(experiment.data.valFraction));
    return splits;
}

} // namespace parallax::train
