// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/base/paths.h"

#include "core/base/text.h"

#include <algorithm>
#include <cstdlib>
#include <pwd.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

extern char **environ;

namespace parallax::paths {

namespace fs = std::filesystem;

namespace {

/// Every variable that some program or script of the project reads.
const std::vector<std::string> knownVariables{"PARALLAX_RUNS", "PARALLAX_WORKER", "PARALLAX_CLI", "PARALLAX_TORCH_ROOT",
                                              "PARALLAX_CACHE"};

/// An absolute path from the environment; relative ones are ignored, as the XDG specification asks.
fs::path fromEnvironment(const char *variable)
{
    const char *value = std::getenv(variable);
    return value && *value == '/' ? fs::path(value) : fs::path();
}

fs::path home()
{
    if (fs::path fromVariable = fromEnvironment("HOME"); !fromVariable.empty()) return fromVariable;
    const passwd *user = ::getpwuid(::getuid());
    return user && user->pw_dir && *user->pw_dir ? fs::path(user->pw_dir) : fs::path("/");
}

fs::path userData()
{
    const fs::path data = fromEnvironment("XDG_DATA_HOME");
    return (data.empty() ? home() / ".local" / "share" : data) / "parallax";
}

/// Makes the folder when it is missing. False when it is not ours alone.
bool makePrivate(const fs::path &folder)
{
    ::mkdir(folder.c_str(), 0700);
    struct stat info {
    };
    if (::lstat(folder.c_str(), &info) != 0 || !S_ISDIR(info.st_mode) || info.st_uid != ::geteuid()) return false;
    return (info.st_mode & 0077) == 0 || ::chmod(folder.c_str(), 0700) == 0;
}

} // namespace

fs::path executableDir()
{
    std::error_code ignored;
    return fs::read_symlink("/proc/self/exe", ignored).parent_path();
}

fs::path defaultRuns()
{
    if (const char *runs = std::getenv("PARALLAX_RUNS"); runs && *runs) return fs::absolute(runs);
    return userData() / "runs";
}

fs::path datasets() { return userData() / "datasets"; }

std::vector<fs::path> datasetPlaces(const std::string &name)
{
    const char *dirs = std::getenv("XDG_DATA_DIRS");
    std::vector<fs::path> places{datasets() / name};
    for (const auto &part : text::split(dirs && *dirs ? dirs : "/usr/local/share:/usr/share", ':'))
        if (!part.empty()) places.push_back(fs::path(part) / "datasets" / name);
    return places;
}

fs::path cache()
{
    fs::path folder = fromEnvironment("XDG_CACHE_HOME");
    if (folder.empty()) folder = home() / ".cache";
    return folder / "parallax";
}

fs::path runtime()
{
    if (const fs::path base = fromEnvironment("XDG_RUNTIME_DIR"); !base.empty())
        if (fs::path folder = base / "parallax"; makePrivate(folder)) return folder;
    const std::string folder = "/tmp/parallax-" + std::to_string(::geteuid());
    if (makePrivate(folder)) return folder;
    std::string fresh = folder + "-XXXXXX";
    // Nothing of the kind can be made (/tmp is full or not writable): the usual name, whose use will say why.
    return ::mkdtemp(fresh.data()) ? fresh : folder;
}

std::uintmax_t freeSpace(const fs::path &path)
{
    std::error_code error;
    fs::path place = fs::absolute(path, error);
    while (!fs::exists(place, error) && place.has_relative_path()) place = place.parent_path();
    const fs::space_info space = fs::space(place, error);
    return error ? 0 : space.available;
}

std::vector<std::string> unknownEnvironment()
{
    std::vector<std::string> found;
    for (char **entry = environ; entry && *entry; ++entry) {
        const std::string_view line(*entry);
        const std::string name(line.substr(0, line.find('=')));
        if (!name.starts_with("PARALLAX_") || std::ranges::count(knownVariables, name)) continue;
        const auto meant = text::nearest(name, knownVariables);
        found.push_back(text::printable(name) + (meant ? " (did you mean " + *meant + "?)" : std::string()));
    }
    std::ranges::sort(found);
    return found;
}

} // namespace parallax::paths
