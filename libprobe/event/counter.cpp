#include "libprobe/event/counter.h"

#include <linux/perf_event.h>
#include <sys/mman.h>

#include "libprobe/base/sys.h"

namespace rdam::probe {
namespace {

constinit CounterPage first_page;  ///< what became of the first thread's
/// On Intel's processors with two kinds of cores, each kind has a counter of its own.
bool has_unlike_processors() {
    static constexpr char kSecondKind[] = "/sys/bus/event_source/devices/cpu_atom";
    return sys::call(SYS_access, sys::word(kSecondKind), 0 /* F_OK */) == 0;
}

shm::Counters why_not_read(const perf_event_mmap_page& page) {
    return page.cap_user_rdpmc == 0 ? shm::Counters::unreadable : shm::Counters::occupied;
}

/// The kernel writes all of the page while the thread is interrupted.
std::uint64_t read_gap(const volatile perf_event_mmap_page& page) {
    for (;;) {
        const std::uint32_t lock = page.lock;
        const std::uint64_t gap = page.time_enabled - page.time_running;
        if (page.lock == lock) return gap;
    }
}

CounterPage start_counter(ThreadState& thread) {
    const CounterPage page = map_counter();
    if (page.memory == nullptr) return page;
    thread.counter_gap = read_gap(*static_cast<const perf_event_mmap_page*>(page.memory));
    thread.counter = reinterpret_cast<std::uint64_t>(page.memory);
    return page;
}

}  // namespace

void choose_counting(ThreadState& thread) {
    if (globals.settings.values[settings::Id::counters] == 0) return;
    first_page = has_unlike_processors() ? CounterPage{.why = shm::Counters::unlike} : start_counter(thread);
    if (thread.counter == 0) return;
    rdam_guard.counters.store(~std::uint64_t{0});
    globals.counting = rdam_read_counter() != 0;
    if (globals.counting) return;
    first_page.why = why_not_read(*static_cast<const perf_event_mmap_page*>(first_page.memory));
    end_counter(thread);
}

void tell_counting() {
    if (globals.settings.values[settings::Id::counters] == 0) return;
    globals.measured.counters = first_page.why;
    globals.measured.counters_error = first_page.error;
}

void begin_counter(ThreadState& thread) {
    if (!globals.counting || thread.counter != 0) return;
    start_counter(thread);
}

void end_counter(ThreadState& thread) {
    if (thread.counter == 0) return;
    const std::uint64_t page = thread.counter;
    thread.counter = 0;
    // Under a filter the page stays: the next thread of this process may not get one.
    sys::call(SYS_munmap, static_cast<long>(page), sys::kPage);
}

void forget_counter(ThreadState& thread) {
    thread.counter = 0;
}

}  // namespace rdam::probe
