// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
//
// Runs a fuzz target without libFuzzer: over the files of a corpus, and over a fixed number of variants of each, the same on
// every run. It finds little that is new; it keeps what was found from coming back.
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size);

namespace {

constexpr int variants = 300;

void run(const std::string &bytes)
{
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t *>(bytes.data()), bytes.size());
}

/// Cuts, flips, and bytes of special value at places that follow from the seed.
std::string variant(std::string bytes, std::uint64_t seed)
{
    const auto next = [&seed](std::uint64_t below) {
        seed = seed * 6'364'136'223'846'793'005ULL + 1'442'695'040'888'963'407ULL;
        return (seed >> 33) % below;
    };
    for (std::uint64_t changes = 1 + next(4); changes > 0 && !bytes.empty(); --changes) {
        const std::size_t at = next(bytes.size());
        switch (next(5)) {
        case 0: bytes[at] = char(bytes[at] ^ 1 << next(8)); break;
        case 1: bytes[at] = "\0\x7F\x80\xFF"[next(4)]; break;
        case 2: bytes.resize(at); break;
        case 3: bytes.insert(at, bytes.substr(next(bytes.size()), 1 + next(16))); break;
        default: bytes.erase(at, 1 + next(8));
        }
    }
    return bytes;
}

} // namespace

int main(int argc, char **argv)
{
    int files = 0;
    for (int i = 1; i < argc; ++i)
        for (const auto &entry : std::filesystem::directory_iterator(argv[i])) {
            std::ifstream in(entry.path(), std::ios::binary);
            const std::string bytes{std::istreambuf_iterator<char>(in), {}};
            run(bytes);
            for (int n = 0; n < variants; ++n) run(variant(bytes, std::uint64_t(n)));
            ++files;
        }
    std::printf("%d files, %d variants each: no finding\n", files, variants);
    return files > 0 ? 0 : 1;
}
