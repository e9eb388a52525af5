// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/config/schema.h"

#include <functional>

/// The steps of a check, shared by Schema::check and resolve; not for others.
namespace parallax::config {

/// Unknown groups, and groups that are no objects.
std::vector<Issue> checkShape(const Schema &schema, const Json &config);
/// What is wrong with `key` = `value` in a configuration whose conditions are those of `config`.
std::optional<Issue> checkKey(const Schema &schema, const std::string &key, const Json &value, const Json &config);
/// Every "group.key" of an object; groups that are no objects are passed over.
void forEachValue(const Json &config, const std::function<void(const std::string &key, const Json &value)> &visit);

} // namespace parallax::config
