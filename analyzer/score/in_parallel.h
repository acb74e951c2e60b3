// The same for each of several things that do not depend on one another.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <future>
#include <system_error>
#include <thread>
#include <vector>

namespace rdam::score {

/// The number of threads to use; 0 means one per processor.
inline unsigned threads_for(unsigned jobs) {
    return jobs > 0 ? jobs : std::thread::hardware_concurrency();
}

/// use(i) for each i below `count`, in `jobs` threads, that of the caller among them; fewer where the system
/// has no more. What is thrown is thrown here, when all have ended.
template <class Use>
void in_parallel(std::size_t count, unsigned jobs, const Use& use) {
    std::atomic<std::size_t> next = 0;
    const auto work = [&] {
        for (std::size_t i = next++; i < count; i = next++)
            use(i);
    };
    std::vector<std::future<void>> others;
    try {
        for (std::size_t job = 1; job < std::min<std::size_t>(jobs, count); ++job)
            others.push_back(std::async(std::launch::async, work));
    } catch (const std::system_error&) {
        // Then there are fewer.
    }
    work();
    for (std::future<void>& other : others)
        other.get();
}

}  // namespace rdam::score
