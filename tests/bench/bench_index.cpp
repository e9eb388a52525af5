// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
//
// Lists a folder of many files, first without an index, then from it: seconds of both (what the system has in memory of the
// folder is not dropped), and the memory of the open data set.
//   bench_index make FOLDER COUNT    COUNT empty files, a thousand a class folder
//   bench_index list FOLDER INDEXES  opens it twice; prints JSON
#include "core/engine/data/folderscan.h"
#include "core/engine/data/source.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <string>

#include <fcntl.h>
#include <malloc.h>
#include <sys/stat.h>
#include <unistd.h>

namespace {

namespace fs = std::filesystem;

double seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// Processor time of this process, which other processes on the machine do not lengthen.
double cpuSeconds() { return double(std::clock()) / CLOCKS_PER_SEC; }

/// Resident bytes of this process, after giving back what is free.
double resident()
{
    ::malloc_trim(0);
    std::ifstream in("/proc/self/statm");
    double all = 0, resident = 0;
    in >> all >> resident;
    return resident * double(::sysconf(_SC_PAGESIZE));
}

int make(const fs::path &folder, long count)
{
    // Their times lie an hour back: changes of the last two seconds are not relied on.
    timespec times[2]{};
    times[0].tv_sec = times[1].tv_sec = ::time(nullptr) - 3600;
    for (long first = 0; first < count; first += 1'000) {
        const fs::path classFolder = folder / ("n" + std::to_string(10'000'000 + first / 1'000));
        fs::create_directories(classFolder);
        for (long i = first; i < std::min(first + 1'000, count); ++i) {
            const std::string file =
                (classFolder / (classFolder.filename().string() + '_' + std::to_string(i) + ".JPEG")).string();
            const int fd = ::open(file.c_str(), O_CREAT | O_WRONLY, 0644);
            if (fd < 0) {
                std::perror(file.c_str());
                return 1;
            }
            ::close(fd);
        }
        ::utimensat(AT_FDCWD, classFolder.c_str(), times, 0);
    }
    return ::utimensat(AT_FDCWD, folder.c_str(), times, 0);
}

int list(const fs::path &folder, const std::string &cache)
{
    ::setenv("XDG_CACHE_HOME", cache.c_str(), 1);
    const double before = resident();
    double start = seconds(), cpuStart = cpuSeconds();
    auto source = parallax::data::openFolder(folder);
    const double cold = seconds() - start, coldCpu = cpuSeconds() - cpuStart;
    if (!source) {
        std::fprintf(stderr, "%s\n", source.error().message().c_str());
        return 1;
    }
    const double bytes = resident() - before;
    const auto files = double(source->train->size());
    source = parallax::Error{};
    start = seconds();
    cpuStart = cpuSeconds();
    source = parallax::data::openFolder(folder);
    const double cached = seconds() - start, cachedCpu = cpuSeconds() - cpuStart;
    std::printf("{\n  \"files\": %.0f,\n  \"listed_s\": %.3f,\n  \"listed_cpu_s\": %.3f,\n", files, cold, coldCpu);
    std::printf("  \"from_index_s\": %.3f,\n  \"from_index_cpu_s\": %.3f,\n", cached, cachedCpu);
    std::printf("  \"bytes_per_file\": %.1f\n}\n", bytes / files);
    return 0;
}

} // namespace

int main(int argc, char **argv)
{
    if (argc == 4 && std::strcmp(argv[1], "make") == 0) return make(argv[2], std::atol(argv[3]));
    if (argc == 4 && std::strcmp(argv[1], "list") == 0) return list(argv[2], argv[3]);
    std::fprintf(stderr, "bench_index make FOLDER COUNT | list FOLDER INDEXES\n");
    return 2;
}
