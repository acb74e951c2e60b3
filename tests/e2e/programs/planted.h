// What the planted programs have in common.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <string>

/// What is recorded: calls task(second).
extern "C" int work(int first, unsigned second, const void* third);

namespace planted {

/// Makes so many calls.
using Program = void (*)(std::uint64_t calls);

inline constexpr std::uint64_t kRounds = 3000;
inline constexpr std::uint64_t kSome = 8;

extern std::function<int(unsigned)> task;

/// A round takes about a nanosecond.
void compute(std::uint64_t rounds);
/// The calling thread, on this processor or on the one where it is.
void stay_on(int processor);
void stay_here();

struct alignas(64) Line {
    std::atomic<std::uint64_t> mine{0};
    std::atomic<std::uint64_t> other{0};
};
void add(std::atomic<std::uint64_t>& word, int times);
/// `calls` of a work() that writes to the line and counts in `done`, on one processor, while another thread
/// does what `other` says on another.
void share(Line& line, std::atomic<std::uint64_t>& done, const std::function<void()>& calls,
           const std::function<void()>& other);

/// Those of planted_shapes.cpp, by name.
extern const std::map<std::string, Program> kShapes;

}  // namespace planted
