// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace parallax::config {

/// A data set that the worker finds by its name.
struct BuiltInData {
    std::string_view name, label;
};
inline constexpr BuiltInData fashionMnist{"fashion-mnist", "Fashion-MNIST"};
inline constexpr std::array builtInData{fashionMnist};

/// What people call the data that data.source names: a built-in set's proper name (also of its folder), else the folder's.
inline std::string dataLabel(std::string_view source)
{
    while (source.size() > 1 && source.ends_with('/')) source.remove_suffix(1);
    const std::string_view last = source.substr(source.rfind('/') + 1); // npos + 1 is 0
    for (const BuiltInData &known : builtInData)
        if (last == known.name) return std::string(known.label);
    return std::string(last.empty() ? source : last);
}

} // namespace parallax::config
