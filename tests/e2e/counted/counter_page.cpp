// In place of libprobe/event/counter_page.cpp: a page like the kernel's, whose counter the program moves
// itself.
#include <linux/perf_event.h>
#include <sys/mman.h>

#include "libprobe/base/sys.h"
#include "libprobe/event/counter.h"

namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kCounterPlace = 2048;
/// Above half of what 40 bits hold: negative, as counters are that the kernel makes overflow.
constexpr std::uint64_t kFirst = 0xffff000000;
constexpr std::int64_t kOffset = std::int64_t{1} << 32;

std::uint64_t& counter_in(std::uint64_t page) {
    return *reinterpret_cast<std::uint64_t*>(page + kCounterPlace);
}

}  // namespace

namespace rdam::probe {

CounterPage map_counter() {
    const long place =
        sys::mmap(0, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (sys::failed(place))
        return {.why = shm::Counters::unmappable, .error = static_cast<std::uint32_t>(-place)};
    sys::call(SYS_madvise, place, kPage, MADV_DONTFORK);
    auto& page = *reinterpret_cast<perf_event_mmap_page*>(place);
    page.index = 1;
    page.cap_user_rdpmc = 1;
    page.pmc_width = 40;
    page.offset = kOffset;
    page.time_enabled = 500;
    page.time_running = 400;
    counter_in(static_cast<std::uint64_t>(place)) = kFirst;
    return {.memory = reinterpret_cast<void*>(place)};
}

}  // namespace rdam::probe

/// The calling thread executes so many instructions.
extern "C" __attribute__((visibility("default"))) void rdam_test_execute(std::uint64_t instructions) {
    if (rdam_thread.counter != 0) counter_in(rdam_thread.counter) += instructions;
}
