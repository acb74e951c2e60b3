// The rows of Chrome's trace events, as rdam writes them and reads them again: viewers show slices of one row
// nested, so what is not nested with a thread's calls has a row of its own, which needs a tid of its own.
#pragma once

#include <cstdint>

namespace rdam::chrome {

/// The first tid of each kind. Perfetto takes what is above 2^31 for no tid, and puts it into the row of the
/// main thread; Linux has no tid above 2^22.
enum class Row : std::uint32_t {
    calls = 0,
    off_cpu = 1U << 28,
    merged = 2U << 28,
    processor = 3U << 28,
};

/// Below it are the tids of threads, from it on those that are made up.
inline constexpr std::uint32_t kFirstMadeUp = 1U << 27;

/// `number`: the thread's own tid, or the processor's number; below Row::off_cpu.
constexpr std::uint32_t tid_in(Row row, std::uint32_t number) {
    return static_cast<std::uint32_t>(row) + number;
}

struct Place {
    Row row = Row::calls;
    std::uint32_t number = 0;
};
/// The reverse of tid_in().
constexpr Place place_of(std::uint32_t tid) {
    for (const Row row : {Row::processor, Row::merged, Row::off_cpu})
        if (const auto first = static_cast<std::uint32_t>(row); tid >= first) return {row, tid - first};
    return {Row::calls, tid};
}

}  // namespace rdam::chrome
