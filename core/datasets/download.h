// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"
#include "core/datasets/hooks.h"

#include <chrono>
#include <filesystem>

namespace parallax::datasets {

struct Download {
    std::string url;                      ///< http, https or file
    std::filesystem::path file;           ///< where the whole file goes; until then it is `file`.part beside it
    std::string sha256;                   ///< in hexadecimal digits
    std::uint64_t size = 0;               ///< bytes that it must have; 0: not known
    int attempts = 5;                     ///< attempts in a row that bring nothing, before it gives up
    std::chrono::milliseconds pause{500}; ///< before the second of them; doubles each time, to at most 16 times as much
    std::chrono::seconds silence{60};     ///< a server that sends nothing for so long counts as gone
};

/// Loads a file. What a broken or cancelled attempt brought stays in `file`.part and the next one asks for the rest only;
/// where the server sends the whole file instead, it begins anew. `file` itself appears when its checksum is right, so it is
/// never half of anything. A wrong checksum removes the part; one that was put together from several attempts is loaded anew
/// once before that is an Error. A file that is there already with the right checksum is not loaded again.
/// Errors: no such file (404 …), a server that fails or is not reached after all attempts, another size or checksum, a full
/// disk, cancelled. Only one process at a time may load into one `file`.
Status download(const Download &request, const Hooks &hooks);

/// SHA-256 of a file, in hexadecimal digits. `name`: what hooks are told.
Result<std::string> sha256Of(const std::filesystem::path &file, const std::string &name, const Hooks &hooks);

/// What an Error of cancelled work says.
Error cancelledError();

} // namespace parallax::datasets
