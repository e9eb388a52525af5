// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/cli/configlayers.h"

#include "core/base/text.h"
#include "core/cli/commands.h"
#include "core/session/qtconvert.h"
#include "core/session/settings.h"

namespace parallax::cli {

std::vector<Option> configOptions()
{
    return {{"preset", "NAME", "Start from a built-in configuration, such as demo."},
            {"config", "FILE", "Read settings from a JSON file (comments allowed); they win over the preset."},
            {"set", "KEY=VALUE", "Set one setting, such as optim.base_lr=0.1; may be repeated; wins over all."},
            {"data", "PATH",
             "The images: a folder, a list, an array, archives, or a name of `parallax data get` (data.source)."},
            {"ranks", "N", "Number of processes (distributed.ranks)."},
            {"device", "NAME", "auto, cpu or cuda (distributed.device)."}};
}

Result<std::vector<config::Layer>> configLayers(const Arguments &arguments)
{
    std::vector<config::Layer> layers;
    for (const std::string &name : arguments.values("preset")) {
        auto preset = session::findPreset(session::toQString(name));
        if (!preset) return preset.error();
        layers.push_back({"preset " + name, std::move(preset->values)});
    }
    for (const std::string &file : arguments.values("config")) {
        auto values = config::readFile(file);
        if (!values) return values.error();
        layers.push_back({text::printable(file), std::move(values).value()});
    }
    config::Layer options{"options", config::Json::object()};
    if (arguments.has("data")) config::assign(options.values, "data.source", arguments.value("data"));
    if (arguments.has("device")) config::assign(options.values, "distributed.device", arguments.value("device"));
    if (arguments.has("ranks")) {
        const auto ranks = text::parseInt(arguments.value("ranks"));
        if (!ranks) return Error{"is no whole number: \"" + text::printable(arguments.value("ranks")) + "\"", "--ranks", {}};
        config::assign(options.values, "distributed.ranks", *ranks);
    }
    if (!options.values.empty()) layers.push_back(std::move(options));
    return layers;
}

} // namespace parallax::cli
