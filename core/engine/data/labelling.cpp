// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/data/labelling.h"

#include "core/base/text.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

namespace parallax::data {

Labelling labelling(const std::vector<std::string> &words)
{
    std::unordered_map<std::string_view, int> places;
    for (const auto &word : words)
        if (!word.empty()) places.emplace(word, 0);
    std::vector<std::string_view> sorted;
    for (const auto &[word, place] : places) sorted.push_back(word);
    std::ranges::sort(sorted);
    const auto number = [](std::string_view word) { return text::parseInt(word); };
    if (std::ranges::all_of(sorted, [&](std::string_view word) { return number(word).has_value(); }))
        std::ranges::stable_sort(sorted, {}, [&](std::string_view word) { return *number(word); });

    Labelling result;
    for (const auto word : sorted) {
        places[word] = int(result.classes.size());
        result.classes.push_back(text::printable(word));
    }
    result.labels.reserve(words.size());
    for (const auto &word : words) result.labels.push_back(word.empty() ? -1 : places[word]);
    return result;
}

} // namespace parallax::data
