// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/methods/method.h"

#include <algorithm>

namespace parallax::methods {

namespace {

/// A function's static: registrations in other files run before or after the static objects of this file.
std::vector<MethodInfo> &registered()
{
    static std::vector<MethodInfo> methods;
    return methods;
}

} // namespace

const std::vector<MethodInfo> &Registry::all() { return registered(); }

const MethodInfo *Registry::find(const std::string &name)
{
    const auto found =
        std::find_if(all().begin(), all().end(), [&name](const MethodInfo &info) { return info.name == name; });
    return found == all().end() ? nullptr : &*found;
}

Registry::Entry::Entry(MethodInfo info)
{
    auto &methods = registered();
    const auto place =
        std::lower_bound(methods.begin(), methods.end(), info.name,
                         [](const MethodInfo &method, const std::string &name) { return method.name < name; });
    methods.insert(place, std::move(info));
}

} // namespace parallax::methods
