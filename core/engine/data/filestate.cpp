// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/data/filestate.h"

#include <sys/stat.h>

namespace parallax::data {

std::optional<std::string> fileState(const std::filesystem::path &file)
{
    struct stat info;
    if (::stat(file.c_str(), &info) != 0) return {};
    return std::to_string(info.st_size) + '@' + std::to_string(info.st_mtim.tv_sec) + '.' +
        std::to_string(info.st_mtim.tv_nsec);
}

std::optional<std::string> fileIdentity(const std::filesystem::path &file)
{
    const auto state = fileState(file);
    if (!state) return {};
    return std::filesystem::absolute(file).lexically_normal().string() + '\n' + *state;
}

const std::string &programState()
{
    static const std::string state = fileState("/proc/self/exe").value_or("unknown");
    return state;
}

} // namespace parallax::data
