// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/train/explain.h"

#include "core/engine/train/failure.h"

#include <c10/util/Exception.h>

#include <new>
#include <string>

namespace parallax::train {

Error explain(const std::exception &exception, int rank)
{
    const std::string where = rank < 0 ? std::string() : "rank " + std::to_string(rank);
    if (const auto *failure = dynamic_cast<const Failure *>(&exception)) {
        Error error = failure->error();
        if (error.where.empty()) error.where = where;
        return error;
    }
    const auto *torchError = dynamic_cast<const c10::Error *>(&exception);
    const std::string text = torchError ? torchError->what_without_backtrace() : exception.what();
    if (dynamic_cast<const std::bad_alloc *>(&exception) || text.find("out of memory") != std::string::npos ||
        text.find("can't allocate memory") != std::string::npos)
        return {"out of memory: " + text, where,
                "Lower train.batch_size, backbone.width or augment.size, or use more ranks"};
    for (const char *sign : {"Connection closed by peer", "Connection reset", "Broken pipe", "imed out", "Wait timeout"})
        if (text.find(sign) != std::string::npos)
            return {"lost contact with another rank (" + text + ")", where,
                    "See what that rank's log says; it ended or hung first"};
    return {text, where, {}};
}

} // namespace parallax::train
