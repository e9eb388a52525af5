// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/data/dataset.h"

#include "core/base/paths.h"
#include "core/base/text.h"
#include "core/engine/data/keptdataset.h"
#include "core/engine/data/source.h"
#include "core/engine/data/storeddataset.h"
#include "core/engine/data/subset.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace parallax::data {

namespace {

using Shared = std::shared_ptr<const Dataset>;

std::vector<int> labelsOf(const Dataset &data)
{
    std::vector<int> labels;
    labels.reserve(std::size_t(data.size()));
    for (std::int64_t i = 0; i < data.size(); ++i) labels.push_back(data.item(i).label);
    return labels;
}

std::vector<std::int64_t> allOf(const Dataset &data)
{
    std::vector<std::int64_t> indices(static_cast<std::size_t>(data.size()));
    std::iota(indices.begin(), indices.end(), 0);
    return indices;
}

/// The first readable image is found, or there is none and the Error shows why, by the first file's reason.
Status checkReadable(const Dataset &data, const std::string &key)
{
    std::string reason;
    for (std::int64_t i = 0; i < data.size(); ++i) {
        const auto image = data.image(i);
        if (image) return {};
        if (reason.empty()) reason = image.error().message();
    }
    return Error{"no readable image among " + std::to_string(data.size()) + " files of " + data.source() + " (" + reason +
                     ')',
                 key, "parallax data check lists what each file is."};
}

struct Cut {
    Shared train, val;
};

/// A seeded part of the images is left out of training.
Cut cutFraction(const Shared &data, double fraction, std::uint64_t seed)
{
    const auto val = evaluationPart(*data, fraction, seed);
    std::vector<std::int64_t> train;
    std::ranges::set_difference(allOf(*data), val, std::back_inserter(train));
    return {std::make_shared<const Subset>(data, std::move(train), data->classes()),
            std::make_shared<const Subset>(data, val, data->classes())};
}

/// Both sides under one list of classes: the training classes first, then those that only the other side has.
Cut unified(const Shared &train, const Shared &val)
{
    if (train->classes() == val->classes()) return {train, val};
    auto classes = train->classes();
    std::vector<int> labels;
    for (const auto &name : val->classes()) {
        const auto place = std::ranges::find(classes, name);
        labels.push_back(int(place - classes.begin()));
        if (place == classes.end()) classes.push_back(name);
    }
    return {std::make_shared<const Subset>(train, allOf(*train), classes),
            std::make_shared<const Subset>(val, allOf(*val), classes, std::move(labels))};
}

/// Images kept in memory: of the free memory a quarter in all, of which training gets most.
constexpr int trainShare = 5, valShare = 20;

Shared kept(const Shared &data, const DataConfig &config, int share)
{
    if (data->inMemory()) return data;
    if (config.cache != "disk")
        return std::make_shared<const KeptDataset>(data, config.cache == "memory" ? availableMemory() / share : 0);
    const auto stored = std::make_shared<const StoredDataset>(
        data,
        PixelStore::Options{.root = paths::cache() / "decoded",
                            .name = std::filesystem::absolute(data->source()).lexically_normal().string(),
                            .limit = std::uint64_t(config.cacheSize * 1e9),
                            .images = data->size()});
    return std::make_shared<const KeptDataset>(stored, 0); // which remembers what cannot be read
}

Shared nothing(const Shared &data)
{
    return std::make_shared<const Subset>(data, std::vector<std::int64_t>(), data->classes());
}

/// The evaluation images that the configuration or the source brings; null: none.
Result<Shared> evaluationImages(const DataConfig &config, const Source &source)
{
    if (config.valSource.empty()) return source.val;
    auto other = openSource(config.valSource, "data.val_source");
    if (!other) return other.error();
    // Of a source with both parts the evaluation part is meant.
    const Shared val = other->val ? other->val : other->train;
    if (val->classes().empty())
        return Error{"has no labels, and accuracy needs them", "data.val_source",
                     "Sort its images into one folder a class."};
    return val;
}

} // namespace

bool Dataset::firstReport(std::int64_t index) const
{
    std::lock_guard lock(m_reportMutex);
    return m_reported.insert(index).second;
}

std::vector<std::int64_t> evaluationPart(const Dataset &data, double fraction, std::uint64_t seed)
{
    const auto labels = labelsOf(data);
    std::map<int, int> count;
    for (const int label : labels) ++count[label];
    std::set<int> except{-1};
    for (const auto &[label, n] : count)
        if (n < 2) except.insert(label);
    const auto candidates = std::ranges::count_if(labels, [&](int label) { return !except.count(label); });
    const auto wanted =
        std::min<std::int64_t>(std::max<std::int64_t>(1, std::llround(fraction * double(candidates))), candidates / 2);
    return drawEvenly(labels, wanted, seed, Random::Purpose::Split, except);
}

Result<Splits> openData(const DataConfig &config, std::uint64_t seed)
{
    auto source = openSource(config.source, "data.source");
    if (!source) return source.error();
    auto val = evaluationImages(config, *source);
    if (!val) return val.error();

    Cut cut{kept(source->train, config, trainShare), nullptr};
    if (auto status = checkReadable(*cut.train, "data.source"); !status) return status.error();
    const bool labelled = !cut.train->classes().empty();
    if (*val) {
        cut = unified(cut.train, kept(*val, config, valShare));
        if (auto status = checkReadable(*cut.val, "data.val_source"); !status) return status.error();
    } else if (labelled && config.valFraction > 0) {
        cut = cutFraction(cut.train, config.valFraction, seed);
    }
    if (config.limit > 0 && config.limit < cut.train->size())
        cut.train = std::make_shared<const Subset>(
            cut.train, drawEvenly(labelsOf(*cut.train), config.limit, seed, Random::Purpose::Limit), cut.train->classes());
    const bool fraction = cut.val && !*val;
    if (!cut.val || !labelled) cut.val = nothing(cut.train);
    return Splits{cut.train, cut.val, fraction, source->train->asideCount() + (*val ? (*val)->asideCount() : 0)};
}

} // namespace parallax::data
