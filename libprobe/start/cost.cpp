#include "libprobe/start/cost.h"

#include "libprobe/base/runtime.h"
#include "libprobe/code/patch.h"
#include "libprobe/event/clock.h"
#include "libprobe/event/counter.h"

namespace rdam::probe {
namespace {

/// Numbers of tries: the fastest of them is what a call costs when nothing disturbs it.
constexpr std::uint32_t kCostBatches = 24;
constexpr std::uint32_t kCostCalls = 64;

std::uint64_t per_call_x16(std::uint64_t ticks) {
    return ticks * 16 / kCostCalls;
}

std::uint64_t ticks_of_batch(void (*function)()) {
    const std::uint64_t begin = read_clock();
    for (std::uint32_t i = 0; i < kCostCalls; ++i)
        function();
    return read_clock() - begin;
}

std::uint64_t ticks_of_floor() {
    const std::uint64_t begin = read_clock();
    std::uint64_t sum = 0;
    for (std::uint32_t i = 0; i < kCostCalls; ++i) {
        sum += read_clock();
        fence_clock();
        sum -= read_clock();
    }
    asm volatile("" : : "r"(sum));
    return read_clock() - begin;
}

/// The ticks by which the clock advances at a time: what the differences of many readings have in common.
std::uint32_t measure_step() {
    constexpr std::uint32_t kReadings = 256;
    std::uint64_t step = 0;
    std::uint64_t last = read_clock();
    for (std::uint32_t i = 0; i < kReadings; ++i) {
        const std::uint64_t now = read_clock();
        std::uint64_t rest = now - last;
        last = now;
        while (rest != 0) {
            const std::uint64_t next = step % rest;
            step = rest;
            rest = next;
        }
    }
    return step != 0 && step <= 0xffff ? static_cast<std::uint32_t>(step) : 1;
}

/// The records of the empty function, in words.
struct RecordWords {
    std::size_t enter = rdam_functions[shm::kEmptyFunction].enter_size / sizeof(std::uint64_t);
    std::size_t both = enter + rdam_functions[shm::kEmptyFunction].leave_size / sizeof(std::uint64_t);
};

/// The sum of what is between the two timestamps of each call since `from`. A sum, because the counter may
/// move in steps that are as long as the time it is to measure.
std::uint64_t inner_ticks(const std::uint64_t* from, const std::uint64_t* end) {
    std::uint64_t sum = 0;
    const RecordWords words;
    for (const std::uint64_t* at = from; at + words.both <= end; at += words.both)
        sum += at[words.enter] - at[0];
    return sum;
}

/// Takes the events behind `origin` out of the chunk.
void take_back(ThreadState& thread, std::uint64_t origin) {
    zero_bytes(reinterpret_cast<void*>(origin), thread.cursor - origin);
    thread.cursor = origin;
}

/// Work for a wrapped function: so many multiplications, each depending on the one before.
std::uint32_t work_turns;

__attribute__((noinline)) void constant_work() {
    std::uint64_t value = 3;
    for (std::uint32_t i = 0; i < work_turns; ++i) {
        value *= 0x9E3779B97F4A7C15;
        asm volatile("" : "+r"(value));
    }
}

/// The two least of the durations and how often each was seen, as analyzer/statistics/distribution.h has them.
struct Fastest {
    std::uint64_t ticks = ~std::uint64_t{0};
    std::uint64_t next = ~std::uint64_t{0};
    std::uint64_t at_ticks = 0;
    std::uint64_t at_next = 0;

    void add(std::uint64_t value) {
        if (value == ticks) {
            ++at_ticks;
        } else if (value < ticks) {
            next = ticks;
            at_next = at_ticks;
            ticks = value;
            at_ticks = 1;
        } else if (value == next) {
            ++at_next;
        } else if (value < next) {
            next = value;
            at_next = 1;
        }
    }

    std::uint64_t x16(std::uint64_t step) const {
        if (at_next == 0 || next - ticks > step) return ticks * 16;
        return ticks * 16 + (next - ticks) * 16 * at_next / (at_ticks + at_next);
    }
};

/// How long calls of the same work seem to last.
struct Durations {
    Fastest fastest;
    std::uint64_t sum = 0;
    std::uint64_t count = 0;

    /// Adds the calls of a batch. The first calls of a batch find different caches from the rest, and a call
    /// that lasts far longer than the others was disturbed by the machine.
    void add(const std::uint64_t* from, const std::uint64_t* end) {
        constexpr std::uint32_t kFirst = 2;
        constexpr std::uint64_t kDisturbed = 500;
        const RecordWords words;
        std::uint32_t number = 0;
        for (const std::uint64_t* at = from; at + words.both <= end; at += words.both) {
            const std::uint64_t ticks = at[words.enter] - at[0];
            fastest.add(ticks);
            if (++number <= kFirst || ticks > fastest.ticks + kDisturbed) continue;
            sum += ticks;
            ++count;
        }
    }

    std::uint64_t error_x16() const {
        const std::uint64_t mean = count > 0 ? sum * 16 / count : 0;
        const std::uint64_t base = fastest.x16(globals.measured.step);
        return mean > base ? mean - base : 0;
    }
};

/// What a wrapped call costs whose work would have overlapped with that of its neighbours.
std::uint64_t measure_flow_x16(ThreadState& thread, std::uint64_t origin, void (*wrapped)()) {
    constexpr std::uint32_t kTurns = 20;
    void*& resume = rdam_functions[shm::kEmptyFunction].resume;
    void* const empty = resume;
    void* opaque = reinterpret_cast<void*>(constant_work);
    asm volatile("" : "+r"(opaque));  // a call, as the wrapped one is
    resume = opaque;
    work_turns = kTurns;
    std::uint64_t with = ~std::uint64_t{0};
    std::uint64_t without = with;
    for (std::uint32_t batch = 0; batch < kCostBatches; ++batch) {
        const std::uint64_t now = ticks_of_batch(wrapped);
        with = now < with ? now : with;
        const std::uint64_t plain = ticks_of_batch(reinterpret_cast<void (*)()>(opaque));
        without = plain < without ? plain : without;
        take_back(thread, origin);
    }
    resume = empty;
    return with > without ? per_call_x16(with - without) : 0;
}

/// How much longer than the fastest of them calls of equal work seem to last, on average: for the worst of
/// some lengths of work.
std::uint64_t measure_error_x16(ThreadState& thread, std::uint64_t origin, void (*wrapped)()) {
    constexpr std::uint32_t kTurns[] = {10, 20, 40, 70, 120};
    constexpr std::uint32_t kBatches = 16;
    void*& resume = rdam_functions[shm::kEmptyFunction].resume;
    void* const empty = resume;
    resume = reinterpret_cast<void*>(constant_work);
    std::uint64_t worst = 0;
    for (const std::uint32_t turns : kTurns) {
        work_turns = turns;
        Durations durations;
        for (std::uint32_t batch = 0; batch < kBatches; ++batch) {
            ticks_of_batch(wrapped);
            durations.add(reinterpret_cast<std::uint64_t*>(origin),
                          reinterpret_cast<std::uint64_t*>(thread.cursor));
            take_back(thread, origin);
        }
        worst = durations.error_x16() > worst ? durations.error_x16() : worst;
    }
    resume = empty;
    return worst;
}

/// The least number of instructions between the readings of the counter in one of these calls. The function's
/// own (it returns) are not the probe's.
std::uint64_t inner_instructions(const std::uint64_t* from, const std::uint64_t* end) {
    constexpr std::uint64_t kNothing = 1;
    std::uint64_t least = ~std::uint64_t{0};
    const RecordWords words;
    for (const std::uint64_t* at = from; at + words.both <= end; at += words.both) {
        const std::uint64_t before = at[words.enter - 1];
        const std::uint64_t after = at[words.both - 1];
        if (before != 0 && after > before && after - before < least) least = after - before;
    }
    return least == ~std::uint64_t{0} ? 0 : least - kNothing;
}

std::uint64_t instructions_of_batch(void (*function)()) {
    const std::uint64_t before = rdam_read_counter();
    ticks_of_batch(function);
    const std::uint64_t after = rdam_read_counter();
    return before != 0 && after > before ? after - before : 0;
}

/// Measures what a wrapped call executes in addition to the function. The last batch is in the chunk, after
/// `origin`.
void measure_instructions(const ThreadState& thread, std::uint64_t origin, void (*wrapped)()) {
    shm::Measured& measured = globals.measured;
    const std::uint64_t with = instructions_of_batch(wrapped);
    const std::uint64_t without = instructions_of_batch(rdam_nothing);
    measured.probe_instructions_x16 = with > without ? per_call_x16(with - without) : 0;
    measured.inner_instructions_x16 =
        16 * inner_instructions(reinterpret_cast<std::uint64_t*>(origin),
                                reinterpret_cast<std::uint64_t*>(thread.cursor));
}

}  // namespace

bool know_cost() {
    if (globals.counting) return false;
    shm::Measured known = globals.control->measured;
    const bool told =
        known.step != 0 && shm::check_of(&known, sizeof known, 0) == globals.control->measured_check;
    if (!told) return false;
    known.counters = globals.measured.counters;
    known.counters_error = globals.measured.counters_error;
    globals.measured = known;
    return true;
}

void measure_cost(ThreadState& thread) {
    shm::Measured& measured = globals.measured;
    measured.step = measure_step();
    prepare_empty_function(shm::kEmptyFunction);
    const auto wrapped = reinterpret_cast<void (*)()>(reinterpret_cast<std::uint64_t>(rdam_stubs_stack) +
                                                      std::uint64_t{shm::kEmptyFunction} * RDAM_STUB_SIZE);
    rdam_guard.activate();
    wrapped();
    wrapped();
    const std::uint64_t origin = thread.cursor;
    if (origin % shm::kChunkSize > shm::kChunkLimit) return;
    std::uint64_t cost = ~std::uint64_t{0};
    std::uint64_t plain = cost;
    std::uint64_t floor = cost;
    std::uint64_t inner = cost;
    const auto least = [](std::uint64_t& value, std::uint64_t now) { value = now < value ? now : value; };
    for (std::uint32_t i = 0; i < kCostBatches; ++i) {
        least(cost, ticks_of_batch(wrapped));
        least(plain, ticks_of_batch(rdam_nothing));
        least(floor, ticks_of_floor());
        least(inner, inner_ticks(reinterpret_cast<std::uint64_t*>(origin),
                                 reinterpret_cast<std::uint64_t*>(thread.cursor)));
        take_back(thread, origin);
    }
    measured.flow_ticks_x16 = measure_flow_x16(thread, origin, wrapped);
    measured.error_ticks_x16 = measure_error_x16(thread, origin, wrapped);
    if (globals.counting) measure_instructions(thread, origin, wrapped);
    take_back(thread, origin);
    measured.probe_ticks_x16 = cost > plain ? per_call_x16(cost - plain) : 0;
    measured.inner_ticks_x16 = per_call_x16(inner);
    measured.floor_ticks_x16 = per_call_x16(floor);
    // The first two calls and what came before them go too: the trace begins with the program.
    const std::uint64_t begin = (origin & ~std::uint64_t{shm::kChunkSize - 1}) + shm::kChunkHeader;
    zero_bytes(reinterpret_cast<void*>(begin), origin - begin);
    thread.cursor = begin;
    zero_bytes(thread.pairs, sizeof thread.pairs);
}

}  // namespace rdam::probe
