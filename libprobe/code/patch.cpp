#include "libprobe/code/patch.h"

#include <sys/mman.h>

#include "libprobe/base/runtime.h"
#include "libprobe/base/state.h"
#include "libprobe/base/sys.h"
#include "libprobe/code/code_memory.h"
#include "libprobe/code/gates.h"
#include "libprobe/code/moved_frames.h"
#include "libprobe/event/budget.h"
#include "libprobe/event/call_counts.h"

extern "C" {
/// The trampolines of one kind: where a call with a frame on the stack begins, where one without does,
/// and where that one returns to.
struct Trampolines {
    void* stack;
    void* shadow;
    void* back;
};
/// By clock (shm::Clock), and counting or not.
extern const Trampolines rdam_variants[rdam::shm::kClocks][2];

/// For FunctionEntry::store_integers and store_vectors, by the number of registers.
/// The last one is for Recording::owner.
extern const std::uint8_t rdam_store_integers[rdam::plan::kMaxIntegerRegisters + 2];
extern const std::uint8_t rdam_store_vectors[rdam::plan::kMaxVectorRegisters + 1];
}

namespace rdam::probe {
namespace {

constexpr std::uint32_t kIslandSize = 16;  ///< jmp *0(%rip) and the address behind it
constexpr std::uint64_t kReach = (std::uint64_t{1} << 31) - (std::uint64_t{64} << 20);

bool reaches(std::uint64_t from_end, std::uint64_t to) {
    const auto distance = static_cast<std::int64_t>(to - from_end);
    return distance >= INT32_MIN && distance <= INT32_MAX;
}

void put32(std::uint64_t at, std::uint64_t value) {
    const auto low = static_cast<std::uint32_t>(value);
    copy_bytes(reinterpret_cast<void*>(at), &low, sizeof low);
}

void put64(std::uint64_t at, std::uint64_t value) {
    copy_bytes(reinterpret_cast<void*>(at), &value, sizeof value);
}

/// Maps `size` bytes so near `low`…`high` that a 32-bit displacement reaches from any of the one to any of
/// the other. Below first: the heap grows above an executable.
std::uint64_t map_near(std::uint64_t low, std::uint64_t high, std::uint64_t size) {
    const auto try_at = [size](std::uint64_t address) {
        const long got = sys::mmap(address, size, PROT_READ | PROT_WRITE,
                                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
        if (sys::failed(got)) return false;
        if (static_cast<std::uint64_t>(got) == address) return true;
        sys::call(SYS_munmap, got, static_cast<long>(size));
        return false;
    };
    const std::uint64_t step_first = std::uint64_t{64} << 10;
    std::uint64_t step = step_first;
    for (std::uint64_t down = (low & ~(sys::kPage - 1)) - size;
         high - down < kReach && down >= 0x10000 && down < low; down -= step) {
        if (try_at(down)) return down;
        if (low - down > (16u << 20)) step = 4u << 20;
    }
    step = step_first;
    // Well above, or the gap between an executable and its heap would be lost to brk.
    for (std::uint64_t up = ((high + sys::kPage - 1) & ~(sys::kPage - 1)) + (std::uint64_t{1} << 30);
         up + size - low < kReach; up += step) {
        if (try_at(up)) return up;
        if (up - high > (std::uint64_t{1} << 30) + (16u << 20)) step = 4u << 20;
    }
    step = step_first;
    for (std::uint64_t up = (high + sys::kPage - 1) & ~(sys::kPage - 1); up + size - low < kReach;
         up += step) {
        if (try_at(up)) return up;
        if (up - high > (16u << 20)) step = 4u << 20;
    }
    return 0;
}

const Trampolines& trampolines() {
    const auto clock = static_cast<std::size_t>(globals.settings.clock);
    const std::size_t counting = globals.counting ? 1 : 0;
    return rdam_variants[clock][counting];
}

std::uint64_t stub(std::uint32_t number, plan::Frame frame) {
    const char* stubs = frame == plan::Frame::stack ? rdam_stubs_stack : rdam_stubs_shadow;
    return reinterpret_cast<std::uint64_t>(stubs) + std::uint64_t{number} * RDAM_STUB_SIZE;
}

/// Threads count the calls of a function that has gone by its key: one that gets its number needs another.
std::uint64_t make_pair_key(std::uint32_t number, bool anew) {
    static constinit std::uint32_t salt = 0;
    if (anew) ++salt;
    const std::uint32_t spread = (number + 1) * RDAM_PAIR_HASH ^ (anew ? salt * RDAM_PAIR_HASH : 0);
    return std::uint64_t{number + 1} << 48 ^ spread;
}

void fill_entry(std::uint32_t number, const plan::Recording& recording, std::uint32_t stack_bytes, bool waits,
                bool anew, void* resume) {
    FunctionEntry& entry = rdam_functions[number];
    const std::uint32_t words = recording.enter_words();
    const std::uint32_t result_words = recording.return_value != plan::ReturnValue::none ? 1 : 0;
    entry.resume = resume;
    const std::uint64_t counted = globals.counting ? shm::kCounted : 0;
    const std::uint32_t count_words = globals.counting ? 1 : 0;
    entry.enter_head = shm::make_head(shm::RecordKind::enter, words, number) | counted;
    entry.leave_head = shm::make_head(shm::RecordKind::leave, result_words, number) | counted;
    entry.enter_size = static_cast<std::uint16_t>(24 + 8 * (words + count_words));
    entry.leave_size = static_cast<std::uint16_t>(16 + 8 * (result_words + count_words));
    entry.last_begin = waits ? shm::kChunkWaits : shm::kChunkLimit;
    entry.stack_bytes = (stack_bytes + 63) & ~63u;
    entry.integers = static_cast<std::uint8_t>(recording.integer_registers + recording.owner);
    entry.vectors = recording.vector_registers;
    entry.stack_words = recording.stack_words;
    entry.return_value = static_cast<std::uint8_t>(recording.return_value);
    entry.store_integers = rdam_store_integers[recording.owner != 0 ? plan::kMaxIntegerRegisters + 1
                                                                    : recording.integer_registers];
    entry.store_vectors = rdam_store_vectors[recording.vector_registers];
    if (anew || entry.pair_key == 0) entry.pair_key = make_pair_key(number, anew);
}

/// Places the moved prologue of one function; false when a fix-up does not reach.
bool place_code(const char* area, const shm::PlannedFunction& function, std::uint64_t at) {
    copy_bytes(reinterpret_cast<void*>(at), area + function.code.offset, function.code.size);
    const auto* fixups = reinterpret_cast<const plan::Fixup*>(area + function.fixups.offset);
    for (std::uint32_t i = 0; i < function.fixups.size / sizeof(plan::Fixup); ++i) {
        const std::uint64_t field = at + fixups[i].code_offset;
        const std::uint64_t target = function.base + static_cast<std::uint64_t>(fixups[i].target);
        if (fixups[i].kind == plan::FixupKind::abs64) {
            put64(field, target);
        } else {
            if (!reaches(field + 4, target)) return false;
            put32(field, target - (field + 4));
        }
    }
    return true;
}

/// Writes `jmp island-or-stub` over the entry, or into the padding before it and a short jump back to there
/// over the entry; or `call` in the place of a call.
bool write_jump(const shm::PlannedFunction& function, std::uint64_t to) {
    constexpr std::uint8_t kCall = 0xe8;
    constexpr std::uint8_t kJump = 0xe9;
    constexpr std::uint64_t kShortJump = 2;
    const std::uint64_t entry = function.address;
    const std::uint32_t before = function.jump_before;
    std::uint8_t bytes[plan::kPatchSize + 255 + kShortJump];
    const std::uint64_t jump = entry - before;
    const std::uint64_t size = before > 0 ? before + kShortJump : plan::kPatchSize;
    copy_bytes(bytes, reinterpret_cast<const void*>(jump), size);
    bytes[0] = function.call != 0 ? kCall : kJump;
    put32(reinterpret_cast<std::uint64_t>(bytes) + 1, to - (jump + plan::kPatchSize));
    if (before > 0) {
        bytes[before] = 0xeb;
        bytes[before + 1] = static_cast<std::uint8_t>(-static_cast<int>(before) - 2);
    }
    return write_code(jump, bytes, size);
}

bool same_bytes(const shm::PlannedFunction& function) {
    const auto* memory = reinterpret_cast<const std::uint8_t*>(function.address);
    for (std::uint32_t i = 0; i < function.original_size; ++i)
        if (memory[i] != function.original[i]) return false;
    return true;
}

struct Group {
    std::uint32_t first = 0;
    std::uint32_t end = 0;
};

constexpr std::uint32_t aligned(std::uint32_t size) {
    return (size + 15u) & ~15u;
}

/// Without a budget every call is recorded.
bool looks_for_waiters(const shm::PlannedFunction& function) {
    return function.waiters_mask != 0 && has_budget();
}

/// With a budget whatever turns out to be too hot is sampled in windows. A gate changes the flags.
bool is_gated(const shm::PlannedFunction& function) {
    if (function.takes_flags != 0) return false;
    return function.sampled != 0 || has_budget();
}

bool counts_far(const shm::PlannedFunction& function) {
    return is_gated(function) && is_far(call_counter_of(function.number));
}

/// Bytes right before the moved code of a gated function, without what counts its calls, and with it.
std::uint32_t bare_gate_size(const shm::PlannedFunction& function) {
    return kGateCode + (looks_for_waiters(function) ? kWaitersCode : 0);
}
std::uint32_t gate_size(const shm::PlannedFunction& function) {
    const std::uint32_t counter = call_counter_of(function.number);
    if (counter == kNoCallCounter) return bare_gate_size(function);
    return bare_gate_size(function) + (is_far(counter) ? kFarCountCode : kCountCode);
}

/// From the island to the moved code: the gate ends where that begins.
std::uint32_t before_code(const shm::PlannedFunction& function) {
    return kIslandSize + (is_gated(function) ? aligned(gate_size(function)) : 0);
}

/// Functions that the user has marked come first: under a budget every function is gated. The number of a
/// function that has a counter is never given to another one, so that libraries that come and go get no more of
/// them than these: they would run out of numbers.
void give_call_counters(const shm::PlannedFunction* functions, std::uint32_t count) {
    constexpr std::uint32_t kMostOnceRunning = 2048;
    for (const bool marked : {true, false})
        for (std::uint32_t i = 0; i < count; ++i)
            if (is_gated(functions[i]) && (functions[i].sampled != 0) == marked &&
                (!globals.patched || globals.call_counters.load() < kMostOnceRunning))
                give_call_counter(functions[i].number);
}

std::uint32_t room_for(const shm::PlannedFunction& function) {
    return before_code(function) + aligned(function.code.size);
}

/// The gates that the code from `memory` on can read; 0: there is no room for them.
std::uint64_t gates_near(std::uint64_t memory, std::uint64_t size) {
    if (const std::uint64_t known = gates_within_reach(memory, memory + size); known != 0) return known;
    const std::uint64_t place = map_near(memory, memory + size, shm::kGatesSize);
    return place != 0 && copy_gates_to(place) ? place : 0;
}

/// Where a recorded call goes from code at `from`: to the stub, or where that is out of reach to the island.
std::uint64_t recorded_from(std::uint64_t from_end, const shm::PlannedFunction& function,
                            std::uint64_t island) {
    const std::uint64_t direct = stub(function.number, function.frame);
    return reaches(from_end, direct) ? direct : island;
}

/// Island, gate and moved code of one function at `at`. False: it cannot be wrapped here.
bool place_function(const char* area, const shm::PlannedFunction& function, std::uint64_t at,
                    std::uint64_t gates) {
    const std::uint8_t island[6] = {0xff, 0x25, 0, 0, 0, 0};
    copy_bytes(reinterpret_cast<void*>(at), island, sizeof island);
    put64(at + sizeof island, stub(function.number, function.frame));
    const std::uint64_t code = at + before_code(function);
    if (is_gated(function)) {
        const std::uint64_t gate = code - kGateCode;
        if (gates != 0) {
            write_gate(gate, gates + function.number, recorded_from(code, function, at));
        } else {
            write_open_gate(gate, recorded_from(code, function, at));
            exempt(function.number);
        }
        if (looks_for_waiters(function))
            write_waiters(code - bare_gate_size(function),
                          {.mask = function.waiters_mask,
                           .offset = static_cast<std::uint8_t>(function.waiters_offset)});
        const std::uint32_t counter = call_counter_of(function.number);
        if (is_far(counter))
            write_far_count(code - gate_size(function), displacement_of_far(), offset_of_far(counter));
        else if (counter != kNoCallCounter)
            write_count(code - gate_size(function), displacement_of(counter));
    }
    return place_code(area, function, code);
}

/// The mappings that have the moved code of objects: what is not needed any more is given back, or a program
/// that loads and unloads libraries would run out of room near them. What finds no place here stays.
struct Mapping {
    std::uint64_t address = 0;  ///< 0: free
    std::uint64_t frames = 0;   ///< of its code
    std::uint64_t size = 0;
    std::uint64_t low = 0;  ///< of the entries whose code it has
    std::uint64_t high = 0;
};
constexpr std::uint32_t kMaxMappings = 4096;
constinit Mapping mappings[kMaxMappings] = {};

void note_mapping(const Mapping& mapping) {
    for (Mapping& place : mappings) {
        if (place.address != 0) continue;
        std::atomic_ref{place.size}.store(mapping.size, std::memory_order_relaxed);
        std::atomic_ref{place.frames}.store(mapping.frames, std::memory_order_relaxed);
        place.low = mapping.low;
        place.high = mapping.high;
        // Whoever unwinds reads it at any time.
        std::atomic_ref<std::uint64_t>{place.address}.store(mapping.address, std::memory_order_release);
        return;
    }
}

/// The functions of one object: their moved code and islands in one mapping, then the patches.
void apply_group(const char* area, const shm::PlannedFunction* functions, const Group& group,
                 PatchResult& result) {
    std::uint64_t low = ~std::uint64_t{0};
    std::uint64_t high = 0;
    std::uint64_t size = 0;
    std::uint32_t jumps = 0, pushing = 0;
    for (std::uint32_t i = group.first; i < group.end; ++i) {
        if (functions[i].jump_before != 0) ++jumps;
        if (counts_far(functions[i])) ++pushing;
        if (functions[i].base != 0 && functions[i].base < low) low = functions[i].base;
        if (functions[i].address < low) low = functions[i].address;
        if (functions[i].address > high) high = functions[i].address;
        size += room_for(functions[i]);
    }
    const std::uint64_t code_size = size;
    const FrameCounts rows{.functions = group.end - group.first, .pushing = pushing, .jumps = jumps};
    size = (size + frames_size(rows) + sys::kPage - 1) & ~(sys::kPage - 1);
    const std::uint64_t memory = map_near(low, high, size);
    if (memory == 0) {
        result.no_room += group.end - group.first;
        return;
    }
    bool gated = false;
    for (std::uint32_t i = group.first; i < group.end; ++i)
        gated = gated || is_gated(functions[i]);
    const std::uint64_t gates = gated ? gates_near(memory, size) : 0;
    FrameTables frames{memory + code_size, memory, size, rows};
    std::uint64_t at = memory;
    for (std::uint32_t i = group.first; i < group.end; ++i) {
        const shm::PlannedFunction& function = functions[i];
        const std::uint64_t code = at + before_code(function);
        frames.add(at);
        if (counts_far(function)) {
            const std::uint64_t count = code - gate_size(function);
            frames.add_pushed(count + kPushCode, count + kFarCountCode);
        }
        frames.add_moved(code, function.description != 0 ? code + function.description : 0);
        if (function.jump_before != 0) frames.add_jump(function.address - function.jump_before);
        const bool placed = place_function(area, function, at, gates);
        fill_entry(function.number, function.recording, function.stack_bytes, function.waits != 0,
                   function.anew != 0, placed ? reinterpret_cast<void*>(code) : nullptr);
        at += room_for(function);
    }
    if (!make_executable(memory, size)) {
        result.no_room += group.end - group.first;
        return;
    }
    note_mapping({.address = memory, .frames = frames.header(), .size = size, .low = low, .high = high + 1});
    std::uint32_t jump = 0;
    for (std::uint32_t i = group.first; i < group.end; ++i) {
        const shm::PlannedFunction& function = functions[i];
        const std::uint64_t table = function.jump_before != 0 ? frames.jump_table(jump++) : 0;
        const auto code = reinterpret_cast<std::uint64_t>(rdam_functions[function.number].resume);
        if (code == 0) {
            ++result.no_room;
        } else if (!same_bytes(function)) {
            ++result.changed;
        } else {
            const std::uint64_t island = code - before_code(function);
            const std::uint64_t to =
                is_gated(function) ? code - gate_size(function)
                                   : recorded_from(function.address + plan::kPatchSize, function, island);
            if (table != 0) note_jump(function.address - function.jump_before, table);
            write_jump(function, to) ? ++result.wrapped : ++result.closed;
        }
    }
}

}  // namespace

PatchResult apply_plan(const char* plan_area, const shm::PlanReply& reply) {
    PatchResult result;
    rdam_target_stack = trampolines().stack;
    rdam_target_shadow = trampolines().shadow;
    rdam_target_return = trampolines().back;
    const auto* functions = reinterpret_cast<const shm::PlannedFunction*>(plan_area + reply.functions.offset);
    const std::uint32_t count = reply.functions.size / sizeof(shm::PlannedFunction);
    for (std::uint32_t i = 0; i < count; ++i) {
        globals.addresses[functions[i].number] = functions[i].address;
        if (functions[i].number >= globals.functions) globals.functions = functions[i].number + 1;
    }
    begin_budget(functions, count);
    give_call_counters(functions, count);
    tell_call_counters();
    Group group;
    while (group.first < count) {
        group.end = group.first + 1;
        while (group.end < count && functions[group.end].object == functions[group.first].object)
            ++group.end;
        apply_group(plan_area, functions, group, result);
        group.first = group.end;
    }
    return result;
}

MovedCode moved_code_at(std::uint64_t address) {
    for (Mapping& mapping : mappings) {
        const std::atomic_ref<std::uint64_t> place{mapping.address};
        const std::uint64_t begin = place.load(std::memory_order_acquire);
        if (begin == 0 || address < begin) continue;
        const std::uint64_t size = std::atomic_ref{mapping.size}.load(std::memory_order_relaxed);
        const std::uint64_t frames = std::atomic_ref{mapping.frames}.load(std::memory_order_relaxed);
        std::atomic_thread_fence(std::memory_order_acquire);
        // The mapping may have been given back, and another one noted in its place.
        if (address - begin < size && place.load(std::memory_order_relaxed) == begin)
            return {begin, begin + size, frames};
    }
    return {};
}

void forget_moved_code(std::uint64_t low, std::uint64_t high) {
    forget_jumps(low, high);
    for (Mapping& mapping : mappings) {
        if (mapping.address == 0 || mapping.low < low || mapping.high > high) continue;
        const auto address = static_cast<long>(mapping.address);
        // Before the program can map something of its own there.
        std::atomic_ref{mapping.address}.store(0, std::memory_order_release);
        std::atomic_thread_fence(std::memory_order_release);
        sys::call(SYS_munmap, address, static_cast<long>(mapping.size));
    }
}

void report(const PatchResult& result) {
    struct Reason {
        std::uint32_t count;
        std::string_view text;
    };
    const Reason reasons[] = {
        {result.changed, ": the code in memory differs from the file"},
        {result.no_room, ": there is no free memory near the code"},
        {result.closed,
         ": the code is sealed (mseal), and the kernel does not let /proc/self/mem write to it"}};
    for (const Reason& reason : reasons) {
        if (reason.count == 0) continue;
        Line line;
        if (result.wrapped > 0) line << "of these, ";
        (line << reason.count
              << (reason.count == 1 ? " function was not wrapped" : " functions were not wrapped")
              << reason.text)
            .print();
    }
    static constinit bool any = false;
    any = any || result.wrapped > 0;
    globals.control->none_took.store(!any && result.none_took() ? 1 : 0);
}

void prepare_empty_function(std::uint32_t number) {
    fill_entry(number, {}, 0, false, false, reinterpret_cast<void*>(rdam_nothing));
}

}  // namespace rdam::probe
