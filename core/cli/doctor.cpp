// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/cli/commands.h"
#include "core/cli/healthchecks.h"
#include "core/cli/output.h"

#include "core/base/text.h"

#include <algorithm>

namespace parallax::cli {

namespace {

const char *name(Health health) { return health == Health::Good ? "ok" : health == Health::Warning ? "warning" : "broken"; }

Tone toneOf(Health health)
{
    return health == Health::Good ? Tone::Good : health == Health::Warning ? Tone::Warning : Tone::Bad;
}

int doctor(const Arguments &arguments)
{
    const std::vector<HealthCheck> checks = checkHealth(runsFolder(arguments));
    const bool broken = std::any_of(checks.begin(), checks.end(), [](const auto &c) { return c.health == Health::Broken; });
    if (arguments.json()) {
        Json list = Json::array();
        for (const HealthCheck &check : checks)
            list.push_back(
                {{"name", check.name}, {"state", name(check.health)}, {"text", check.text}, {"hint", check.hint}});
        printJson({{"ok", !broken}, {"checks", std::move(list)}});
        return broken ? 1 : 0;
    }
    for (const HealthCheck &check : checks) {
        std::string state = name(check.health), head = check.name;
        state.resize(8, ' ');
        head.resize(std::max<std::size_t>(18, head.size() + 1), ' ');
        printLine(toned(state, toneOf(check.health)) + " " + head + text::printable(check.text));
        if (!check.hint.empty()) printLine("                           " + text::printable(check.hint));
    }
    return broken ? 1 : 0;
}

} // namespace

Command doctorCommand()
{
    Command command;
    command.name = "doctor";
    command.summary = "What this machine has: versions, devices, disk, network, data.";
    command.details = "Exit code 1 when something that training needs is broken.";
    command.example = "parallax doctor";
    command.options = {runsOption(), jsonOption()};
    command.run = doctor;
    return command;
}

} // namespace parallax::cli
