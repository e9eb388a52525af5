// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/methods/tiny.h"

namespace parallax::methods {

config::Json tinyOptions(const MethodInfo &info)
{
    config::Schema schema;
    info.declareOptions(schema);
    config::Json method{{"name", info.name}};
    for (const auto &field : schema.fields()) {
        const std::string name = field.name();
        if (name.ends_with("_dim")) method[name] = 8;
        if (name == "outputs" || name == "prototypes" || name == "groups") method[name] = 10;
        if (name == "bank_size") method[name] = 20; // no multiple of a batch: it goes round unevenly
        if (name == "queue_size") method[name] = 24;
        if (name == "queue_start_epoch" || name == "freeze_epochs") method[name] = 0;
        if (name == "reset_steps") method[name] = 7;
        if (name == "local_views") method[name] = 2;
        if (name == "local_size") method[name] = 8;
        if (name == "decoder_heads") method[name] = 2;
    }
    return {{"method", method}};
}

} // namespace parallax::methods
