// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace parallax {

/// Calls work(i) for i = 0 … count - 1 in `threads` threads (0: one a core), in no order. The first exception ends it and
/// is thrown again here.
template<class Work>
void parallelFor(std::int64_t count, int threads, const Work &work)
{
    std::atomic<std::int64_t> next = 0;
    std::exception_ptr failure;
    std::mutex mutex;
    const auto run = [&] {
        try {
            for (std::int64_t i = next++; i < count; i = next++) work(i);
        } catch (...) {
            std::lock_guard lock(mutex);
            if (!failure) failure = std::current_exception();
            next = count;
        }
    };
    const int wanted = threads > 0 ? threads : int(std::thread::hardware_concurrency());
    std::vector<std::jthread> pool;
    for (int i = 1; i < std::min<std::int64_t>(wanted, count); ++i) pool.emplace_back(run);
    run();
    pool.clear(); // joins
    if (failure) std::rethrow_exception(failure);
}

} // namespace parallax
