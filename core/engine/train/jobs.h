// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/train/arguments.h"

#include <nlohmann/json.hpp>

/// The worker's one-shot jobs. Each answers with the document that ARCHITECTURE.md lists, or an Error; LibTorch may throw.
namespace parallax::train::jobs {

using Json = nlohmann::ordered_json;

/// [--job eval]: of training configurations, or of a job that has settings of its own
Result<Json> schema(const Arguments &arguments);
Result<Json> methods(const Arguments &);
Result<Json> devices(const Arguments &);
/// --config FILE
Result<Json> plan(const Arguments &arguments);
/// --config FILE
Result<Json> check(const Arguments &arguments);
/// --config FILE: channel statistics of the training images
Result<Json> stats(const Arguments &arguments);
/// --config FILE --out DIR [--images N] [--epochs E]
Result<Json> preview(const Arguments &arguments);
/// --run DIR [--epoch N] [--data PATH] [--limit N] [--weights FILE]
Result<Json> embed(const Arguments &arguments);
/// --run DIR [--epoch N] [--weights FILE] [--data PATH] [--val-data PATH] [--device D] [--set probe.KEY=VALUE]…: linear probe or
/// fine-tuning; a JSON line an epoch on stderr
Result<Json> evaluate(const Arguments &arguments);
/// --run DIR --out FILE [--epoch N]
Result<Json> exportBackbone(const Arguments &arguments);
/// [--method NAME] [--device cpu|cuda] [--ranks 2,4] [--steps N] [--timeout S]: trains each method for a few steps on one rank
/// of the CPU and on others, in float64, and compares losses and weights.
Result<Json> selftest(const Arguments &arguments);

} // namespace parallax::train::jobs
