// Manual probes (include/rdam/rdam.h): regions that the program itself begins and ends.
#include "libprobe/event/regions.h"

#define RDAM_RECORDER
#include "libprobe/base/runtime.h"
#include "libprobe/base/state.h"
#include "libprobe/base/sys.h"
#include "libprobe/event/chunks.h"
#include "libprobe/event/clock.h"
#include "libprobe/event/counter.h"
#include "libprobe/event/slow.h"
#include "libprobe/event/stacks.h"
#include "libprobe/include/rdam/rdam.h"

namespace rdam::probe {
namespace {

/// A fork child's agent knows nothing of its parent's regions, whose numbers stand in the program's memory.
constinit shm::Region regions[shm::kMaxRegions] = {};
constinit std::atomic<std::uint32_t> region_count;
constinit std::atomic<std::uint32_t> region_lock;

template <std::size_t Size>
void put_text(char (&to)[Size], const char* from) {
    const std::size_t length = from == nullptr ? 0 : text_size(from);
    copy_bytes(to, from, length < Size ? length : Size - 1);
}

bool same_name(const shm::Region& region, const char* name) {
    std::size_t i = 0;
    for (; i + 1 < sizeof region.name && name[i] != '\0'; ++i)
        if (region.name[i] != name[i]) return false;
    return region.name[i] == '\0';
}

constexpr std::uint32_t kNotNow = shm::kNone - 1;

/// The number of the region called `name`, which gets one if there is room; shm::kNone: there is none;
/// kNotNow: the thread is in the middle of giving one. Two places that give a name different numbers of
/// values are one region with the number of the first.
std::uint32_t number_of(const rdam_region& place) {
    const sys::BlockSignals blocked;
    if (blocked.nested()) return kNotNow;
    while (region_lock.exchange(1) != 0)
        sys::call(SYS_sched_yield);
    const std::uint32_t count = region_count.load();
    std::uint32_t number = 0;
    while (number < count && !same_name(regions[number], place.name))
        ++number;
    if (number == count && count < shm::kMaxRegions) {
        shm::Region& region = regions[number];
        put_text(region.name, place.name);
        put_text(region.file, place.file);
        put_text(region.value_names, place.value_names);
        region.line = place.line;
        region.values = place.values <= plan::kMaxIntegerRegisters ? place.values : 0;
        region.check = shm::check_of(&region, offsetof(shm::Region, check), number);
        region_count.store(count + 1);
        copy_regions();
    }
    region_lock.store(0);
    return number < shm::kMaxRegions ? number : shm::kNone;
}

/// What `place` is in events; 0: not recorded.
std::uint32_t function_of(rdam_region& place) {
    constexpr std::uint32_t kUnrecorded = ~0u;
    if (place.number == 0) {
        const std::uint32_t number = number_of(place);
        if (number == kNotNow) {
            drop_disturbed(rdam_thread);
            return 0;
        }
        place.number = number == shm::kNone ? kUnrecorded : number + 1;
    }
    return place.number == kUnrecorded ? 0 : shm::kFirstRegion + place.number - 1;
}

bool recording() {
    return rdam_guard.active() || rdam_slow_inactive(nullptr, 0) != 0;
}

/// What the trampolines' FunctionEntry says of functions: a record with room for the count, where there is
/// one.
std::uint64_t count_bytes() {
    return globals.counting ? sizeof(std::uint64_t) : 0;
}

std::uint64_t read_count() {
    return globals.counting ? rdam_read_counter() : 0;
}

struct Stamp {
    std::uint64_t ticks = 0;
    std::uint64_t processor = 0;
    std::uint64_t count = 0;
};

/// `words` come before the count.
void publish(std::uint64_t* record, std::uint64_t words, const Stamp& stamp, std::uint64_t head) {
    record[0] = stamp.ticks;
    if (globals.counting) {
        record[words] = stamp.count;
        head |= shm::kCounted;
    }
    std::atomic_ref<std::uint64_t>{record[1]}.store(head | stamp.processor << RDAM_HEAD_CPU_SHIFT,
                                                    std::memory_order_release);
}

}  // namespace

void forget_region_lock() {
    region_lock.store(0);
}

void copy_regions() {
    if (globals.control == nullptr) return;
    const std::uint32_t count = region_count.load();
    copy_bytes(globals.control->regions, regions, count * sizeof regions[0]);
    globals.control->region_count.store(count);
}

}  // namespace rdam::probe

extern "C" __attribute__((visibility("default"))) void rdam_region_begin(rdam_region* place,
                                                                         const rdam_value* values) {
    using namespace rdam;
    if (!probe::recording()) return;
    const std::uint32_t function = probe::function_of(*place);
    if (function == 0) return;
    // A vfork child must not begin for its parent, whose storage it has.
    if (rdam_thread.vfork_cursor == 0) probe::begin_recording(rdam_thread);
    probe::announce_events(rdam_thread);
    probe::note_place(rdam_thread, reinterpret_cast<std::uint64_t>(__builtin_frame_address(0)));
    const std::uint32_t words = probe::regions[function - shm::kFirstRegion].values;
    std::uint64_t* record = probe::reserve_record(24 + 8 * std::uint64_t{words} + probe::count_bytes());
    if (record == nullptr) return;
    record[2] = reinterpret_cast<std::uint64_t>(__builtin_return_address(0));
    for (std::uint32_t i = 0; i < words; ++i)
        record[3 + i] = i < place->values ? values[i] : 0;
    probe::Stamp stamp{.count = probe::read_count()};
    stamp.ticks = probe::read_clock(stamp.processor);
    probe::publish(record, 3 + words, stamp, shm::make_head(shm::RecordKind::enter, words, function));
    probe::fence_clock();
}

extern "C" __attribute__((visibility("default"))) void rdam_region_end(rdam_region* place) {
    using namespace rdam;
    probe::Stamp stamp;
    stamp.ticks = probe::read_clock(stamp.processor);
    stamp.count = probe::read_count();
    if (!rdam_guard.active()) return;
    const std::uint32_t function = probe::function_of(*place);
    if (function == 0) return;
    probe::note_place(rdam_thread, reinterpret_cast<std::uint64_t>(__builtin_frame_address(0)));
    std::uint64_t* record = probe::reserve_record(16 + probe::count_bytes());
    if (record == nullptr) return;
    probe::publish(record, 2, stamp, shm::make_head(shm::RecordKind::leave, 0, function));
}
