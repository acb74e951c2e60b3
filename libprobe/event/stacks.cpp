#include "libprobe/event/stacks.h"

#include <signal.h>
#include <sys/resource.h>

#include "libprobe/base/filter.h"
#include "libprobe/base/runtime.h"
#include "libprobe/base/sys.h"
#include "libprobe/event/clock.h"
#include "libprobe/event/slow.h"

extern "C" {
// stacks.S
void* rdam_real_makecontext;
void rdam_stack_made(std::uint64_t low, std::uint64_t size);
}

namespace rdam::probe {
namespace {

constexpr std::uint64_t kShareOfStack = 8;

/// A stack that a thread did not begin on, by its number.
struct KnownStack {
    std::atomic<std::uint64_t> low;
    std::atomic<std::uint64_t> high;  ///< 0: another one has been made there
    bool exact;                       ///< the program has said so; else what is near its events
};

constexpr std::uint32_t kMaxStacks = 1 << 16;
constinit KnownStack stacks[kMaxStacks] = {};
constinit std::atomic<std::uint32_t> stack_count{1};

// Which stacks there are in a block of memory: 4 KiB << level. A stack is in a few blocks of one level.
constexpr std::uint32_t kBlockShift = 12;
constexpr std::uint32_t kLevels = 16;
constexpr std::uint64_t kBlocksOfStack = 4;
constexpr std::uint32_t kIndexSize = 1 << 18;
constexpr std::uint32_t kFullIndex = kIndexSize / 4 * 3;
constexpr std::uint32_t kNumberBits = 20;
static_assert(kMaxStacks <= 1u << kNumberBits);
constinit std::atomic<std::uint64_t> index[kIndexSize] = {};
constinit std::atomic<std::uint32_t> indexed;
constinit std::atomic<std::uint32_t> levels_used;  ///< a bit each

// What belongs to a stack whose extent is not known: events so near to those that it had already. Stacks of
// less than 16 KiB are rare.
constexpr std::uint64_t kNear = 6 << 10;
constexpr std::uint64_t kNearAbove = 3 << 10;
constexpr std::uint64_t kRoomBelow = 4 << 10;
constexpr std::uint64_t kRoomAbove = 1 << 10;

/// On which a thread began that is still there, by its slot.
struct LentStack {
    std::atomic<std::uint64_t> low;
    std::atomic<std::uint64_t> high;  ///< 0: none
    std::atomic<std::uint32_t> tid;
};
constinit LentStack lent_stacks[shm::kMaxThreads] = {};
constinit std::atomic<std::uint32_t> lent_count;  ///< no slot from here on has one

/// Where the stack of the process's first thread ends.
constinit std::uint64_t first_high = 0;

/// What the index has of a block, but for the number of the stack.
std::uint64_t block_key(std::uint64_t address, std::uint32_t level) {
    const std::uint64_t block = address >> (kBlockShift + level);
    return (block << 4 | level) << kNumberBits;
}

std::uint32_t first_slot(std::uint64_t key) {
    constexpr std::uint64_t kSpread = 0x9E3779B97F4A7C15;
    return static_cast<std::uint32_t>(key * kSpread >> 40) % kIndexSize;
}

/// Calls `visit(number)` for the stacks in a block until it returns true.
template <typename Visit>
bool any_stack(std::uint64_t address, std::uint32_t level, const Visit& visit) {
    const std::uint64_t key = block_key(address, level);
    for (std::uint32_t at = first_slot(key);; at = (at + 1) % kIndexSize) {
        const std::uint64_t entry = index[at].load(std::memory_order_acquire);
        if (entry == 0) return false;
        constexpr std::uint64_t kNumber = (std::uint64_t{1} << kNumberBits) - 1;
        if ((entry & ~kNumber) == key && visit(static_cast<std::uint32_t>(entry & kNumber))) return true;
    }
}

bool add_to_index(std::uint64_t address, std::uint32_t level, std::uint32_t number) {
    if (indexed.load() >= kFullIndex) return false;
    if (any_stack(address, level, [number](std::uint32_t other) { return other == number; })) return true;
    const std::uint64_t entry = block_key(address, level) | number;
    for (std::uint32_t at = first_slot(block_key(address, level));; at = (at + 1) % kIndexSize) {
        std::uint64_t expected = 0;
        if (!index[at].compare_exchange_strong(expected, entry)) continue;
        indexed.fetch_add(1);
        levels_used.fetch_or(1u << level);
        return true;
    }
}

bool contains(const KnownStack& stack, std::uint64_t place) {
    return place >= stack.low.load() && place < stack.high.load();
}

/// 0: none is known.
std::uint32_t find_stack(std::uint64_t place) {
    std::uint32_t found = 0;
    const std::uint32_t used = levels_used.load();
    for (std::uint32_t level = 0; level < kLevels && found == 0; ++level)
        if ((used >> level & 1) != 0)
            any_stack(place, level, [place, &found](std::uint32_t number) {
                if (!contains(stacks[number], place)) return false;
                found = number;
                return true;
            });
    return found;
}

/// 0: there are too many.
std::uint32_t add_stack(std::uint64_t low, std::uint64_t high, bool exact) {
    std::uint32_t number = stack_count.load();
    do {
        if (number == kMaxStacks) return 0;
    } while (!stack_count.compare_exchange_weak(number, number + 1));
    std::uint32_t level = 0;
    while (level + 1 < kLevels && (high - low) >> (kBlockShift + level) > kBlocksOfStack)
        ++level;
    stacks[number].exact = exact;
    stacks[number].low.store(low);
    stacks[number].high.store(high);
    const std::uint64_t block = std::uint64_t{1} << (kBlockShift + level);
    for (std::uint64_t at = low & ~(block - 1); at < high; at += block)
        if (!add_to_index(at, level, number)) return 0;
    return number;
}

/// The stack of unknown extent that an event at `place` is so near to that it belongs to it, which it does
/// from then on.
std::uint32_t grow_nearest(std::uint64_t place) {
    std::uint32_t nearest = 0;
    std::uint64_t least = ~std::uint64_t{0};
    constexpr std::uint64_t kPagesAround = 2;
    const std::uint64_t first = place - kPagesAround * sys::kPage;
    for (std::uint64_t page = 0; page <= 2 * kPagesAround; ++page)
        any_stack(first + page * sys::kPage, 0, [&](std::uint32_t number) {
            const KnownStack& stack = stacks[number];
            const std::uint64_t low = stack.low.load();
            const std::uint64_t high = stack.high.load();
            // Another thread may have made it grow up to here meanwhile.
            const std::uint64_t distance = place < low ? low - place : place < high ? 0 : place - high;
            if (stack.exact || high == 0 || distance > (place < low ? kNear : kNearAbove) ||
                distance >= least)
                return false;
            least = distance;
            nearest = number;
            return false;
        });
    if (nearest == 0) return 0;
    KnownStack& stack = stacks[nearest];
    const std::uint64_t low = place - kRoomBelow;
    std::uint64_t known = stack.low.load();
    while (low < known && !stack.low.compare_exchange_weak(known, low)) {
    }
    known = stack.high.load();
    while (place >= known && !stack.high.compare_exchange_weak(known, place + kRoomAbove)) {
    }
    for (std::uint64_t at = low & ~(sys::kPage - 1); at < place + kRoomAbove; at += sys::kPage)
        if (!add_to_index(at, 0, nearest)) return 0;
    return nearest;
}

bool holds(const Stack& stack, std::uint64_t place) {
    return place >= stack.low && place < stack.high;
}

/// The stack that a signal handler runs on; empty: the thread is in none that has its own.
Stack signal_stack() {
    stack_t stack{};
    if (sys::call(SYS_sigaltstack, 0, sys::word(&stack)) != 0 || (stack.ss_flags & SS_ONSTACK) == 0)
        return {};
    const auto low = reinterpret_cast<std::uint64_t>(stack.ss_sp);
    return {.low = low, .high = low + stack.ss_size};
}

void set_window(ThreadState& thread, const Stack& stack, std::uint64_t limit) {
    thread.stack_limit = limit;
    thread.stack_low = stack.low;
    thread.stack_high = stack.high;
}

/// A stack, and its number.
struct Numbered {
    Stack stack;
    std::uint32_t number = 0;
};

/// The number is 0 where no other thread began there.
Numbered lent_stack_at(std::uint64_t place) {
    const std::uint32_t count = lent_count.load();
    for (std::uint32_t at = 0; at < count; ++at) {
        const LentStack& each = lent_stacks[at];
        const Stack stack{.low = each.low.load(), .high = each.high.load()};
        if (holds(stack, place)) return {stack, kThreadStacks + each.tid.load()};
    }
    return {};
}

/// Whether every page from `low` to `high` is there.
bool is_mapped(std::uint64_t low, std::uint64_t high) {
    // What is written here is of no interest.
    static constinit unsigned char residence[1 << 12] = {};
    constexpr std::uint64_t kStep = sizeof residence * sys::kPage;
    for (std::uint64_t at = low; at < high; at += kStep) {
        const std::uint64_t size = at + kStep < high ? kStep : high - at;
        if (sys::call(SYS_mincore, at, size, sys::word(residence)) != 0) return false;
    }
    return true;
}

/// Whether the program has raised the limit of its first thread's stack, and that has grown down to `place`.
/// The kernel leaves a gap between a stack that grows and what is below it.
bool has_grown(ThreadState& thread, std::uint64_t place) {
    Stack& stack = thread.stack;
    if (stack.high == 0 || stack.high != first_high || place >= stack.low || globals.filtered_start ||
        is_filtered())
        return false;
    constexpr std::uint64_t kAhead = 1 << 20;
    rlimit limit{};
    if (sys::call(SYS_prlimit64, 0, RLIMIT_STACK, 0, sys::word(&limit)) != 0) return false;
    const std::uint64_t lowest = limit.rlim_cur < stack.high ? stack.high - limit.rlim_cur : sys::kPage;
    const std::uint64_t page = place & ~(sys::kPage - 1);
    if (page < lowest || !is_mapped(page, stack.low)) return false;
    stack.low = page > lowest + kAhead ? page - kAhead : lowest;
    if (thread.slot != nullptr) lent_stacks[thread.slot - globals.control->threads].low.store(stack.low);
    return true;
}

Numbered stack_at(ThreadState& thread, std::uint64_t place) {
    std::uint32_t number = find_stack(place);
    if (number == 0) {
        if (const Stack own = signal_stack(); holds(own, place)) return {own, thread.on_stack};
        if (const Numbered other = lent_stack_at(place); other.number != 0) return other;
        if (has_grown(thread, place)) return {.stack = thread.stack};
        number = grow_nearest(place);
        if (number == 0) number = add_stack(place - kRoomBelow, place + kRoomAbove, false);
    }
    if (number == 0) return {{.low = place - kRoomBelow, .high = place + kRoomAbove}, kMaxStacks};
    return {{.low = stacks[number].low.load(), .high = stacks[number].high.load()}, number};
}

}  // namespace

void watch_contexts() {
    rdam_real_makecontext = find_next("makecontext");
}

void watch_stack(ThreadState& thread, const Stack& stack) {
    thread.stack = stack;
    if (stack.high == 0)
        set_window(thread, {.low = 0, .high = ~std::uint64_t{0}}, 0);
    else
        set_window(thread, stack, stack.high - (stack.high - stack.low) / kShareOfStack);
}

void lend_stack(const ThreadState& thread) {
    const std::uint32_t tid = own_tid();
    if (thread.stack.high == 0 || thread.slot == nullptr || tid == 0) return;
    // What was known of this memory was about another stack.
    for (const std::uint64_t place : {thread.stack.low, thread.stack.high - 1})
        if (const std::uint32_t number = find_stack(place); number != 0) {
            stacks[number].high.store(0);
            stacks[number].low.store(~std::uint64_t{0});
        }
    const auto at = static_cast<std::uint32_t>(thread.slot - globals.control->threads);
    LentStack& own = lent_stacks[at];
    own.high.store(0);
    own.tid.store(tid);
    own.low.store(thread.stack.low);
    own.high.store(thread.stack.high);
    std::uint32_t count = lent_count.load();
    while (count <= at && !lent_count.compare_exchange_weak(count, at + 1)) {
    }
}

void take_stack_back(const ThreadState& thread) {
    if (thread.slot != nullptr) lent_stacks[thread.slot - globals.control->threads].high.store(0);
}

void forget_lent_stacks() {
    const std::uint32_t count = lent_count.exchange(0);
    for (std::uint32_t at = 0; at < count; ++at)
        lent_stacks[at].high.store(0);
}

Stack stack_of(std::uint64_t address, std::uint64_t size) {
    const std::uint64_t high = (address + sys::kPage - 1) & ~(sys::kPage - 1);
    return size == 0 || size > high ? Stack{} : Stack{.low = high - size, .high = high};
}

Stack first_stack(char** environment) {
    rlimit limit{};
    sys::call(SYS_prlimit64, 0, RLIMIT_STACK, 0, sys::word(&limit));
    const Stack stack = stack_of(reinterpret_cast<std::uint64_t>(environment),
                                 limit.rlim_cur == RLIM_INFINITY ? 0 : limit.rlim_cur);
    first_high = stack.high;
    return stack;
}

void forget_place(ThreadState& thread) {
    thread.on_stack = 0;
    if (thread.stack.high != 0) set_window(thread, {}, 0);
}

}  // namespace rdam::probe

// A handler that interrupts this finds either the old stack or the new one, writes its own record behind the
// one that has been taken here, and leaves what is right for its place; the last word is this one's.
void rdam_slow_stack(std::uint64_t place) {
    using namespace rdam::probe;
    ThreadState& thread = rdam_thread;
    if (in_shared_child(thread) || thread.lent) return;
    if (!rdam_guard.active() && rdam_slow_inactive(nullptr, 0) == 0) return;
    if (!begin_recording(thread)) return;
    const Numbered now =
        holds(thread.stack, place) ? Numbered{.stack = thread.stack} : stack_at(thread, place);
    const bool own = now.number == 0 || holds(thread.stack, place);
    if (now.number != thread.on_stack) {
        std::uint64_t* const record = reserve_record(3 * sizeof(std::uint64_t));
        if (record == nullptr) return;
        record[0] = read_clock();
        record[2] = now.number;
        std::atomic_ref<std::uint64_t>{record[1]}.store(
            rdam::shm::make_head(rdam::shm::RecordKind::stack_switch, 0, 0) | std::uint64_t{0xfff}
                                                                                  << RDAM_HEAD_CPU_SHIFT,
            std::memory_order_release);
        thread.on_stack = now.number;
    }
    if (own)
        watch_stack(thread, thread.stack);
    else
        set_window(thread, now.stack, now.stack.low);
}

/// The program makes a stack on which no call is open.
void rdam_stack_made(std::uint64_t low, std::uint64_t size) {
    using namespace rdam::probe;
    const std::uint64_t high = low + size;
    // Nothing is ever recorded in a program whose code is as it was.
    if (!globals.patched || high < low || size < rdam::sys::kPage) return;
    for (const std::uint64_t place : {low, low + size / 2, high - 1})
        if (const std::uint32_t number = find_stack(place); number != 0) {
            KnownStack& stack = stacks[number];
            if (stack.exact && stack.low.load() == low && stack.high.load() == high) return;
            stack.high.store(0);
            stack.low.store(~std::uint64_t{0});
        }
    add_stack(low, high, true);
}
