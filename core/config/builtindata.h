// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace parallax::config {

/// A data set that the worker finds by its name, once it is on the machine.
struct BuiltInData {
    std::string_view name, label;
};
inline constexpr BuiltInData fashionMnist{"fashion-mnist", "Fashion-MNIST"};
inline constexpr BuiltInData cifar10{"cifar10", "CIFAR-10"};
inline constexpr BuiltInData cifar100{"cifar100", "CIFAR-100"};
inline constexpr BuiltInData stl10{"stl10", "STL-10"};
inline constexpr BuiltInData imagenette{"imagenette", "Imagenette"};
inline constexpr std::array builtInData{cifar10, cifar100, stl10, imagenette, fashionMnist};

/// Null: no data set has that name.
inline const BuiltInData *findBuiltIn(std::string_view name)
{
    const auto *const found = std::ranges::find(builtInData, name, &BuiltInData::name);
    return found == builtInData.end() ? nullptr : found;
}

/// What people call the data that data.source names: a built-in set's proper name (also of its folder), else the folder's.
inline std::string dataLabel(std::string_view source)
{
    while (source.size() > 1 && source.ends_with('/')) source.remove_suffix(1);
    const std::string_view last = source.substr(source.rfind('/') + 1); // npos + 1 is 0
    if (const BuiltInData *known = findBuiltIn(last)) return std::string(known->label);
    return std::string(last.empty() ? source : last);
}

} // namespace parallax::config
