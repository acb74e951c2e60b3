#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/mman.h>

#include "libprobe/base/runtime.h"
#include "libprobe/base/sys.h"
#include "libprobe/event/counter.h"

namespace rdam::probe {
namespace {

long open_event() {
    perf_event_attr attributes;
    zero_bytes(&attributes, sizeof attributes);
    attributes.size = sizeof attributes;
    attributes.type = PERF_TYPE_HARDWARE;
    attributes.config = PERF_COUNT_HW_INSTRUCTIONS;
    attributes.pinned = 1;
    attributes.exclude_kernel = 1;
    attributes.exclude_hv = 1;
    return sys::call(SYS_perf_event_open, sys::word(&attributes), 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

std::uint32_t error_of(long result) {
    return static_cast<std::uint32_t>(-result);
}

}  // namespace

CounterPage map_counter() {
    const long fd = open_event();
    if (sys::failed(fd)) return {.why = shm::Counters::refused, .error = error_of(fd)};
    const long page = sys::mmap(0, sys::kPage, PROT_READ, MAP_SHARED, static_cast<int>(fd), 0);
    sys::call(SYS_close, fd);  // the mapping keeps the event
    if (sys::failed(page)) return {.why = shm::Counters::unmappable, .error = error_of(page)};
    return {.memory = reinterpret_cast<void*>(page)};
}

}  // namespace rdam::probe
