// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace parallax::cli {

enum class Health { Good, Warning, Broken };

struct HealthCheck {
    std::string name;
    Health health = Health::Good;
    std::string text, hint;
};

/// Everything that `parallax doctor` says, in order.
std::vector<HealthCheck> checkHealth(const std::filesystem::path &runs);

} // namespace parallax::cli
