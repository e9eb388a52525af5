// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/data/subset.h"

#include <algorithm>
#include <map>

namespace parallax::data {

Subset::Subset(std::shared_ptr<const Dataset> inner, std::vector<std::int64_t> indices, std::vector<std::string> classes,
               std::vector<int> labels)
    : m_inner(std::move(inner)), m_indices(std::move(indices)), m_labels(std::move(labels))
{
    m_classes = std::move(classes);
    m_source = m_inner->source();
    m_remark = m_inner->remark();
    m_skipped = m_inner->skipped();
}

Item Subset::item(std::int64_t index) const
{
    Item item = m_inner->item(m_indices.at(std::size_t(index)));
    if (!m_labels.empty() && item.label >= 0) item.label = m_labels.at(std::size_t(item.label));
    return item;
}

std::vector<std::int64_t> drawEvenly(const std::vector<int> &labels, std::int64_t count, std::uint64_t seed,
                                     Random::Purpose purpose, const std::set<int> &except)
{
    std::map<int, std::vector<std::int64_t>> places;
    for (std::size_t i = 0; i < labels.size(); ++i)
        if (!except.count(labels[i])) places[labels[i]].push_back(std::int64_t(i));
    // The k-th of n places of a label has its turn at (k + ½) / n.
    std::vector<std::pair<double, std::int64_t>> turns;
    for (auto &[label, list] : places) {
        Random random(ViewKey{seed, 0, std::uint64_t(std::int64_t(label)), 0}, purpose);
        for (std::size_t i = list.size(); i > 1; --i) std::swap(list[i - 1], list[random.below(i)]);
        for (std::size_t k = 0; k < list.size(); ++k) turns.emplace_back((double(k) + 0.5) / double(list.size()), list[k]);
    }
    std::ranges::sort(turns);
    turns.resize(std::min(turns.size(), std::size_t(std::max<std::int64_t>(count, 0))));
    std::vector<std::int64_t> drawn;
    drawn.reserve(turns.size());
    for (const auto &[turn, place] : turns) drawn.push_back(place);
    std::ranges::sort(drawn);
    return drawn;
}

} // namespace parallax::data
