// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/config/schema.h"

/// What the parts of this library share about single values; not for others.
namespace parallax::config {

/// The field exists in a configuration like `config`: its condition holds there, or at its key's default.
bool applies(const Schema &schema, const Field &field, const Json &config);
/// The value at `key`, or the default it has there; null for a key that no field has.
const Json *valueOrDefault(const Schema &schema, const std::string &key, const Json &config);
/// Both have the same key, and nothing keeps them from existing in one configuration.
bool collide(const Field &a, const Field &b);
/// The value is of the field's type; numbers finite, integers within 64 bits.
bool hasType(const Field &field, const Json &value);
/// What true or false means for a text field with a choice "off" that is not its default: it was a switch in an earlier version,
/// whose runs still open. True is the default. Nothing for other fields and values.
std::optional<std::string> formerSwitch(const Field &field, const Json &value);
/// A value of the field's type in the one form that is written to files: a Float is never an integer, and a former switch the
/// choice that it stands for. Others stay.
Json canonical(const Field &field, const Json &value);
/// The value as JSON on one line, cut to what fits a message.
std::string shortText(const Json &value);

const char *typeName(Type type);
std::optional<Type> typeFromName(const std::string &name);

} // namespace parallax::config
