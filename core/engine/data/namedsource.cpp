// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/data/source.h"

#include "core/base/paths.h"
#include "core/config/builtindata.h"

namespace parallax::data {

namespace fs = std::filesystem;

Result<fs::path> findNamed(const config::BuiltInData &named, const std::string &key)
{
    const std::string name(named.name);
    for (const fs::path &place : paths::datasetPlaces(name)) {
        std::error_code error;
        if (fs::is_directory(place, error) && !fs::is_empty(place, error)) return place;
    }
    std::string hint = "parallax data get " + name;
    if (name == config::fashionMnist.name) hint += ", or sudo apt-get install dataset-fashion-mnist";
    return Error{std::string(named.label) + " is not installed on this machine", key, hint};
}

} // namespace parallax::data
