// What the trampolines call when the straight path does not suffice.
#include "libprobe/event/slow.h"

#include "libprobe/base/runtime.h"
#include "libprobe/base/sys.h"
#include "libprobe/event/call_sites.h"
#include "libprobe/event/chunks.h"
#include "libprobe/event/clock.h"
#include "libprobe/event/packing.h"

namespace rdam::probe {

/// The pairs of a thread whose place in ThreadState::pairs another one has. Open addressing, grown by
/// doubling.
struct PairTable {
    std::uint64_t capacity;  ///< a power of two
    std::uint64_t used;
    /// Half as large. A signal may have come while its thread was looking into that one, so it stays.
    PairTable* smaller;

    Pair* pairs() { return reinterpret_cast<Pair*>(this + 1); }
};

namespace {

constexpr std::uint64_t kNever = std::uint64_t{1} << 62;
/// Where no call stacks are taken, a pair of the large table that has been called so often moves to the small
/// one.
constexpr std::uint64_t kOften = 1024;
constexpr std::uint64_t kFirstPairs = 1024;
constexpr std::uint64_t kMaxPairs = 1 << 20;

std::size_t pair_table_bytes(std::uint64_t capacity) {
    return sizeof(PairTable) + capacity * sizeof(Pair);
}

Pair* find_pair(PairTable& table, std::uint64_t key) {
    std::uint64_t at = key * 0x9E3779B97F4A7C15 >> 32;
    for (;; ++at) {
        Pair& pair = table.pairs()[at & (table.capacity - 1)];
        if (pair.key == key || pair.key == 0) return &pair;
    }
}

PairTable* grow(PairTable* table) {
    const std::uint64_t capacity = table == nullptr ? kFirstPairs : table->capacity * 2;
    if (capacity > kMaxPairs) return nullptr;
    auto* larger = static_cast<PairTable*>(map_private(pair_table_bytes(capacity)));
    if (larger == nullptr) return nullptr;
    larger->capacity = capacity;
    larger->smaller = table;
    if (table == nullptr) return larger;
    for (std::uint64_t i = 0; i < table->capacity; ++i)
        if (table->pairs()[i].key != 0) *find_pair(*larger, table->pairs()[i].key) = table->pairs()[i];
    larger->used = table->used;
    return larger;
}

/// Puts a pair that has no place in the thread's small table into the large one, if there is room.
bool keep(ThreadState& thread, const Pair& pair) {
    PairTable* table = thread.pair_table;
    if (table == nullptr || table->used * 2 >= table->capacity) {
        table = grow(table);
        if (table == nullptr) return false;
        thread.pair_table = table;
    }
    Pair* place = find_pair(*table, pair.key);
    if (place->key == 0) ++table->used;
    *place = pair;
    return true;
}

/// The pair in the thread's large table; null: it is not there.
Pair* kept_pair(const ThreadState& thread, std::uint64_t key) {
    if (thread.pair_table == nullptr) return nullptr;
    Pair* const pair = find_pair(*thread.pair_table, key);
    return pair->key == key ? pair : nullptr;
}

/// Counts one call of a pair in the large table for which no call stack is due; false: there is no such pair.
/// Signals may come in between: a count may be lost.
bool count_kept(const ThreadState& thread, const FunctionEntry& entry, std::uint64_t return_address) {
    const std::uint64_t key = return_address ^ entry.pair_key;
    if (thread.pairs[pair_index(key)].key == key) return false;
    Pair* const pair = kept_pair(thread, key);
    if (pair == nullptr || pair->countdown <= 1) return false;
    --pair->countdown;
    return true;
}

/// Counts one call of a pair that is new, or has counted down; true when its call stack is to be taken.
bool count_pair(ThreadState& thread, const FunctionEntry& entry, std::uint64_t return_address) {
    const std::uint64_t key = return_address ^ entry.pair_key;
    const std::uint64_t period = globals.settings.values[settings::Id::stack_period];
    const Pair mine{key, period != 0 ? period : kNever};
    Pair& place = thread.pairs[pair_index(key)];
    if (place.key == key || place.key == 0) {
        place = mine;
    } else if (kept_pair(thread, key) == nullptr) {
        // The pair that was here first stays until the other is known to be frequent.
        if (!keep(thread, {key, period != 0 ? period : kOften})) place = mine;
    } else {
        if (period == 0) place.countdown = kOften;
        keep(thread, place);
        place = mine;
    }
    return period != 0;
}

/// A child on the thread's memory has counted its last call down, or a handler in the middle of something:
/// the stack is for the thread's next one.
void put_back_pair(ThreadState& thread, const FunctionEntry& entry, std::uint64_t return_address) {
    const std::uint64_t key = return_address ^ entry.pair_key;
    Pair& pair = thread.pairs[pair_index(key)];
    if (pair.key == key) pair.countdown = 1;
}

/// How much of the stack can be copied: libc puts thread-local storage, and with it `thread`, right above the
/// stacks that it makes.
std::uint32_t stack_above(const ThreadState& thread, std::uint64_t rsp) {
    const std::uint64_t distance = reinterpret_cast<std::uint64_t>(&thread) - rsp;
    return distance < shm::kMaxStackCopy ? static_cast<std::uint32_t>(distance) : shm::kMaxStackCopy;
}

/// Copies the stack, after `before` bytes, behind a header in the thread's packed chunk, and into a new chunk
/// only if it does not fit into the rest of this one. `copied`: how much. Null: there is no room.
shm::PackHeader* copy_stack(ThreadState& thread, std::uint32_t before, std::uint64_t rsp,
                            std::uint32_t& copied) {
    constexpr std::uint32_t kWorthTrying = 2048;
    const std::uint32_t wanted = stack_above(thread, rsp);
    std::uint32_t least = wanted < kWorthTrying ? wanted : kWorthTrying;
    for (;;) {
        std::uint64_t waited = 0;
        std::uint32_t room = 0;
        shm::PackHeader* header = reserve_pack(thread, before + least, room, waited);
        if (header == nullptr) return nullptr;
        const std::uint32_t size = room - before < wanted ? room - before : wanted;
        copied = read_memory(reinterpret_cast<char*>(header + 1) + before, rsp, size);
        if (size == wanted || copied < size) return header;
        least = wanted;
    }
}

void record_stack(ThreadState& thread, const FunctionEntry& entry, std::uint64_t return_address,
                  const shm::EntryRegisters& registers) {
    const std::uint64_t begin = read_clock();
    std::uint32_t stack_bytes = 0;
    shm::PackHeader* header = copy_stack(thread, sizeof(shm::StackCopy), registers.rsp, stack_bytes);
    if (header == nullptr) return;
    auto* copy = reinterpret_cast<shm::StackCopy*>(header + 1);
    auto* words = reinterpret_cast<std::uint64_t*>(copy + 1);
    copy->function = static_cast<std::uint32_t>(entry.enter_head) - 1;
    copy->number = ++thread.stack_number;
    copy->caller = return_address;
    copy->registers = registers;
    copy->stack_bytes = stack_bytes & ~7u;
    for (std::uint32_t i = 0; i < copy->stack_bytes / sizeof *words; ++i)
        words[i] = without_pad(words[i]);
    const std::uint32_t size = static_cast<std::uint32_t>(sizeof *header + sizeof *copy) + copy->stack_bytes;
    publish_pack(thread, header, {.size = size, .kind = shm::PackKind::stack});
    std::uint64_t* record = take_record(thread, shm::kStackRecordWords * sizeof(std::uint64_t));
    if (record == nullptr) return;
    record[0] = begin;
    record[2] = read_clock();
    record[3] = return_address;
    record[4] = thread.stack_number;
    const auto function = static_cast<std::uint32_t>(entry.enter_head) - 1;
    std::atomic_ref<std::uint64_t>{record[1]}.store(shm::make_head(shm::RecordKind::stack, 0, function),
                                                    std::memory_order_release);
}

bool ready(ThreadState& thread) {
    if (thread.slot != nullptr) return true;
    return !thread.lent && begin_thread(thread, read_clock());
}

/// 1: the thread's next record may be taken, at up to `last` of its chunk.
std::uint64_t make_room(std::uint32_t last) {
    ThreadState& thread = rdam_thread;
    if (thread.vfork_cursor != 0 && !come_back(thread)) {
        // Each call moves the cursor on: it must not come round to where records are handed out.
        park(thread);
        return 0;
    }
    const sys::BlockSignals blocked;
    if (!rdam_guard.active()) return 0;
    if (blocked.nested()) {
        drop_disturbed(thread);
        return 0;
    }
    // A signal handler may have been here first.
    if (thread.cursor % shm::kChunkSize <= last) return 1;
    if (ready(thread) && change_chunk(thread)) return 1;
    count_dropped(thread);
    park(thread);
    return 0;
}

}  // namespace

bool begin_recording(ThreadState& thread) {
    if (thread.slot != nullptr) return true;
    const sys::BlockSignals blocked;
    return !blocked.nested() && ready(thread);
}

std::uint64_t* reserve_record(std::uint64_t size) {
    for (;;) {
        std::uint64_t at = size;
        asm volatile("xadd %0, %1" : "+r"(at), "+m"(rdam_thread.cursor) : : "memory");
        if ((at & (shm::kChunkSize - 1)) <= shm::kChunkLimit) return reinterpret_cast<std::uint64_t*>(at);
        if (rdam_slow_chunk(nullptr, 0) == 0) return nullptr;
    }
}

void release_pairs(ThreadState& thread) {
    while (PairTable* const table = thread.pair_table) {
        thread.pair_table = table->smaller;
        unmap_private(table, pair_table_bytes(table->capacity));
    }
}

}  // namespace rdam::probe

using rdam::probe::FunctionEntry;

std::uint64_t rdam_slow_pair(FunctionEntry* entry, std::uint64_t return_address,
                             const rdam::shm::EntryRegisters* registers) {
    auto& thread = rdam_thread;
    // Programs with more call sites than the small table has places come here often: two system calls less.
    if (rdam::probe::count_kept(thread, *entry, return_address)) return 0;
    if (thread.vfork_alone) rdam::probe::come_back(thread);
    const rdam::sys::BlockSignals blocked;
    if (thread.vfork_cursor != 0 || blocked.nested()) {
        rdam::probe::put_back_pair(thread, *entry, return_address);
        return 0;
    }
    if (!rdam::probe::ready(thread)) return 0;
    const bool of_program = entry < rdam_functions + rdam::probe::globals.functions;
    if (of_program) rdam::probe::announce_events(thread);
    if (rdam::probe::count_pair(thread, *entry, return_address) && of_program)
        rdam::probe::record_stack(thread, *entry, return_address, *registers);
    return 0;
}

std::uint64_t rdam_slow_chunk(FunctionEntry*, std::uint64_t) {
    return rdam::probe::make_room(rdam::shm::kChunkLimit);
}

std::uint64_t rdam_slow_begin(FunctionEntry* entry, std::uint64_t) {
    return rdam::probe::make_room(entry->last_begin);
}

std::uint64_t rdam_slow_inactive(FunctionEntry*, std::uint64_t) {
    using namespace rdam::probe;
    if (rdam_guard.initialised.load() == kSettled) return rdam_guard.active() ? 1 : 0;
    if (in_shared_child(rdam_thread)) return 0;
    {
        const rdam::sys::BlockSignals blocked;
        if (start_in_fork_child()) return 1;
    }
    return await_start() ? 1 : 0;
}
