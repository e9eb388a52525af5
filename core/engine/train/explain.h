// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"

#include <exception>

namespace parallax::train {

/// What an exception means to a person: a Failure's own Error; memory that ran out; a rank that is gone; else its text.
/// `rank`: whose it is; -1: a one-shot job's.
Error explain(const std::exception &exception, int rank);

} // namespace parallax::train
