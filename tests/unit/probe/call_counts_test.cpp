// Counted calls: which function has which counter, and what of a thread's counters reaches the agent.
#include "libprobe/event/call_counts.h"

#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <thread>
#include <utility>
#include <vector>

#include "libprobe/base/runtime.h"
#include "libprobe/base/sys.h"
#include "libprobe/event/clock.h"
#include "tests/unit/catch.h"
#include "tests/unit/probe/fresh_memory.h"
#include "tools/agent/memory/call_counts.h"
#include "tools/agent/memory/shared_memory.h"

constinit __thread rdam::probe::ThreadState rdam_thread;
constinit rdam::probe::Guard rdam_guard = {};

namespace rdam::probe {

constinit Globals globals;
constinit OwnCopies own_copies;

std::uint32_t read_memory(void* to, std::uint64_t from, std::uint32_t size) {
    iovec local{to, size};
    iovec remote{reinterpret_cast<void*>(from), size};
    const ssize_t got = process_vm_readv(getpid(), &local, 1, &remote, 1, 0);
    return got < 0 ? 0 : static_cast<std::uint32_t>(got);
}

std::uint64_t read_clock() {
    static std::atomic<std::uint64_t> now{100};
    return ++now;
}

namespace {

/// The memory of a process with `functions` functions, seen by its agent, and nothing counted yet.
class Process {
  public:
    explicit Process(std::size_t functions) : shared_(test::fresh_memory()) {
        info.functions.resize(functions);
        for (std::uint32_t i = 0; i < functions; ++i)
            numbers.set(i, i);
        globals.control = &shared_.control();
        globals.call_counters.store(0);
    }
    shm::ThreadSlot& slot(std::uint32_t index) const { return shared_.control().threads[index]; }
    const agent::SharedMemory& memory() const { return shared_; }
    trace::ThreadInfo seen(const shm::ThreadSlot& slot) {
        trace::ThreadInfo thread;
        agent::note_calls(shared_, numbers, slot, info, thread);
        return thread;
    }

    trace::TraceInfo info;
    agent::FunctionNumbers numbers;

  private:
    agent::SharedMemory shared_;
};

using Calls = std::vector<trace::CallCount>;

void tell_begin(shm::ThreadSlot& slot, std::uint32_t tid, std::uint64_t counting) {
    slot.begin.tid = tid;
    slot.begin.counting = counting;
    slot.begin_check = shm::check_of(&slot.begin, sizeof slot.begin, 0);
}

}  // namespace

TEST_CASE("a function keeps its counter, and each can have one", "[calls]") {
    const Process process{10};
    CHECK(call_counter_of(5) == kNoCallCounter);
    CHECK(give_call_counter(5) == 0);
    CHECK(give_call_counter(3) == 1);
    CHECK(give_call_counter(5) == 0);
    CHECK(call_counter_of(3) == 1);
    std::uint32_t last = 0;
    for (std::uint32_t function = 0; function < shm::kMaxFunctions; ++function)
        last = give_call_counter(function);
    CHECK(last == shm::kCallCounters - 1);
    CHECK(call_counter_of(3) == 1);
    CHECK(is_far(last));
    CHECK_FALSE(is_far(call_counter_of(5)));
}

TEST_CASE("a counter is at the same distance from every thread's pointer", "[calls]") {
    const auto is_there = [] {
        rdam_thread.gate_calls[2] = 41;
        asm volatile("incq %%fs:(%0)"
                     :
                     : "r"(std::int64_t{static_cast<std::int32_t>(displacement_of(2))})
                     : "memory", "cc");
        return rdam_thread.gate_calls[2] == 42;
    };
    CHECK(is_there());
    bool elsewhere = false;
    std::thread([&] { elsewhere = is_there(); }).join();
    CHECK(elsewhere);
}

TEST_CASE("the agent sees what a thread has published last", "[calls]") {
    Process process{10};
    give_call_counter(5);
    give_call_counter(3);
    tell_call_counters();
    ThreadState thread;
    shm::ThreadSlot& slot = process.slot(7);
    thread.slot = &slot;
    CHECK(process.seen(slot).calls_until == 0);
    CHECK_FALSE(process.info.functions[5].counted);
    begin_publishing(thread, slot);
    const std::uint64_t begun = process.seen(slot).calls_until;
    CHECK(begun > 0);
    CHECK(process.seen(slot).calls.empty());
    thread.gate_calls[0] = 17;
    thread.gate_calls[1] = 4;
    CHECK(process.seen(slot).calls.empty());
    publish_calls(thread, slot);
    CHECK(process.seen(slot).calls == Calls{{3, 4}, {5, 17}});
    CHECK(process.seen(slot).calls_until > begun);
    CHECK(process.info.functions[5].counted);
    CHECK(process.info.functions[3].counted);
    CHECK_FALSE(process.info.functions[4].counted);
    CHECK(agent::counted_numbers(process.memory().control()) == std::vector<std::uint32_t>{5, 3});

    // While it writes there is nothing to see.
    const std::uint64_t until = slot.counted_until.exchange(0);
    CHECK(process.seen(slot).calls_until == 0);
    slot.counted_until.store(until);

    // Nor where somebody has written over it.
    trace::ThreadInfo info;
    REQUIRE(agent::note_calls(process.memory(), process.numbers, slot, process.info, info));
    SECTION("the numbers") {
        thread.published->calls[1].fetch_xor(2);
    }
    SECTION("how many there are") {
        reinterpret_cast<std::uint8_t&>(slot.call_counters) ^= 1;
    }
    SECTION("what they are of") {
        process.memory().control().counted[0] ^= 1;
    }
    SECTION("until when they go") {
        slot.counted_until.fetch_xor(1);
    }
    info = {};
    CHECK_FALSE(agent::note_calls(process.memory(), process.numbers, slot, process.info, info));
    CHECK(info.calls.empty());
}

TEST_CASE("a slot that is used again shows nothing of the thread before", "[calls]") {
    Process process{10};
    give_call_counter(5);
    tell_call_counters();
    shm::ThreadSlot& slot = process.slot(7);
    ThreadState first;
    first.gate_calls[0] = 17;
    begin_publishing(first, slot);
    CHECK(process.seen(slot).calls == Calls{{5, 17}});
    ThreadState second;
    begin_publishing(second, slot);
    CHECK(process.seen(slot).calls.empty());
    // A library is loaded later, and its function's counter is not in what the thread has told.
    give_call_counter(6);
    tell_call_counters();
    second.gate_calls[1] = 9;
    CHECK(process.seen(slot).calls.empty());
    publish_calls(second, slot);
    CHECK(process.seen(slot).calls == Calls{{6, 9}});
}

TEST_CASE("what a child has counted in its maker's storage is taken back", "[calls]") {
    Process process{10};
    give_call_counter(5);
    ThreadState thread;
    thread.slot = &process.slot(1);
    thread.gate_calls[0] = 17;
    begin_publishing(thread, *thread.slot);
    thread.gate_calls[0] = 30;
    take_back_calls(thread);
    CHECK(thread.gate_calls[0] == 17);
    thread.slot = nullptr;  // there was none when the child was made
    thread.gate_calls[0] = 30;
    take_back_calls(thread);
    CHECK(thread.gate_calls[0] == 30);
    forget_calls(thread);
    CHECK(thread.gate_calls[0] == 0);
}

TEST_CASE("what other threads have counted is published for them, while they live", "[calls]") {
    Process process{10};
    give_call_counter(5);
    tell_call_counters();
    own_copies.threads_started.store(5);
    ThreadState lives, ended, gone, reopened, damaged;
    const auto begin = [&](ThreadState& thread, std::uint32_t slot, std::uint32_t tid,
                           std::uint64_t counting) {
        thread.slot = &process.slot(slot);
        tell_begin(*thread.slot, tid, counting);
        thread.slot->state.store(shm::ThreadSlotState::live);
        begin_publishing(thread, *thread.slot);
        thread.gate_calls[0] = 10 + slot;
    };
    const auto own = [](const ThreadState& thread) {
        return reinterpret_cast<std::uint64_t>(thread.gate_calls);
    };
    begin(lives, 0, sys::gettid(), own(lives));
    begin(ended, 1, sys::gettid(), own(ended));
    ended.slot->state.store(shm::ThreadSlotState::ended);
    constexpr std::uint32_t kNobody = 0x3fffffff;
    begin(gone, 2, kNobody, own(gone));
    begin(reopened, 3, sys::gettid(), 0);
    begin(damaged, 4, sys::gettid(), own(damaged));
    damaged.slot->begin.counting ^= 64;
    publish_others();
    CHECK(process.seen(*lives.slot).calls == Calls{{5, 10}});
    CHECK(process.seen(*ended.slot).calls.empty());
    CHECK(process.seen(*gone.slot).calls.empty());
    CHECK(process.seen(*reopened.slot).calls.empty());
    CHECK(process.seen(*damaged.slot).calls.empty());
    // Its memory is not there any more.
    lives.gate_calls[0] = 20;
    tell_begin(*lives.slot, sys::gettid(), 8);
    publish_others();
    CHECK(process.seen(*lives.slot).calls == Calls{{5, 10}});
}

namespace {

/// A process with a near and two blocks of far counters; function f has counter f.
struct FarProcess : Process {
    static constexpr std::uint32_t kCounted = 2 * shm::kNearCounters + 10;
    static constexpr std::uint32_t kLast = kCounted - 1;

    FarProcess() : Process{kCounted} {
        for (std::uint32_t f = 0; f < kCounted; ++f)
            give_call_counter(f);
        tell_call_counters();
        own_copies.far_taken.store(0);
        for (std::atomic<std::uint32_t>& run : own_copies.far_runs)
            run.store(0);
    }
};

std::uint64_t& far_of(ThreadState& thread, std::uint32_t counter) {
    return thread.far_calls[offset_of_far(counter) / sizeof(std::uint64_t)];
}

}  // namespace

TEST_CASE("far counters are memory of the thread's own, and are published with the others", "[calls]") {
    FarProcess process;
    ThreadState first, second;
    shm::ThreadSlot& slot = process.slot(7);
    begin_publishing(first, slot);
    begin_publishing(second, process.slot(8));
    REQUIRE(first.far_calls != nobodys_calls);
    REQUIRE(first.far_calls != second.far_calls);
    CHECK(process.seen(slot).calls.empty());
    first.gate_calls[3] = 1;
    far_of(first, shm::kNearCounters) = 2;
    far_of(first, 2 * shm::kNearCounters - 1) = 3;
    far_of(first, FarProcess::kLast) = 4;
    far_of(second, FarProcess::kLast) = 5;
    publish_calls(first, slot);
    publish_calls(second, process.slot(8));
    CHECK(process.seen(slot).calls ==
          Calls{{3, 1}, {shm::kNearCounters, 2}, {2 * shm::kNearCounters - 1, 3}, {FarProcess::kLast, 4}});
    CHECK(process.seen(process.slot(8)).calls == Calls{{FarProcess::kLast, 5}});
    CHECK(process.info.functions[FarProcess::kLast].counted);

    // What a child counts on the thread's memory is taken back.
    first.slot = &slot;
    far_of(first, FarProcess::kLast) = 30;
    take_back_calls(first);
    CHECK(far_of(first, FarProcess::kLast) == 4);
    forget_calls(first);
    CHECK(far_of(first, FarProcess::kLast) == 0);

    // Where the memory was overwritten there is nothing to see.
    trace::ThreadInfo info;
    SECTION("the numbers") {
        first.published_far[1].calls[9].fetch_xor(1);
    }
    SECTION("where they are") {
        process.memory().control().far_calls[7].store(0);
    }
    CHECK_FALSE(agent::note_calls(process.memory(), process.numbers, slot, process.info, info));
    release_calls(first);
    release_calls(second);
    CHECK(first.far_calls == nobodys_calls);
}

TEST_CASE("a thread behind its last destructor keeps what its far counters have told", "[calls]") {
    FarProcess process;
    ThreadState thread;
    begin_publishing(thread, process.slot(0));
    thread.gate_calls[3] = 1;
    far_of(thread, FarProcess::kLast) = 4;
    publish_calls(thread, process.slot(0));
    trace::ThreadInfo info;
    REQUIRE(agent::note_calls(process.memory(), process.numbers, process.slot(0), process.info, info));
    thread.ended = true;
    release_calls(thread);
    far_of(thread, FarProcess::kLast) = 9;  // nobody's
    thread.gate_calls[3] = 2;
    begin_publishing(thread, process.slot(1));
    REQUIRE(agent::note_calls(process.memory(), process.numbers, process.slot(1), process.info, info));
    CHECK(info.calls == Calls{{3, 2}, {FarProcess::kLast, 4}});
}

TEST_CASE("a slot's run serves the threads that have it later, and runs end where the memory does",
          "[calls]") {
    FarProcess process;
    ThreadState first;
    begin_publishing(first, process.slot(7));
    const shm::PublishedCalls* const run = first.published_far;
    CHECK(first.far_blocks == 2);
    release_calls(first);
    ThreadState second;
    begin_publishing(second, process.slot(7));
    CHECK(second.published_far == run);
    ThreadState third;
    own_copies.far_taken.store(shm::kCallBlocks - shm::kMaxThreads - 1);
    begin_publishing(third, process.slot(8));
    CHECK(third.published_far == nullptr);
    third.gate_calls[3] = 6;
    publish_calls(third, process.slot(8));
    CHECK(process.seen(process.slot(8)).calls == Calls{{3, 6}});
    release_calls(second);
    release_calls(third);
}

TEST_CASE("far counters of other threads are published for them", "[calls]") {
    FarProcess process;
    own_copies.threads_started.store(1);
    ThreadState thread;
    thread.slot = &process.slot(0);
    tell_begin(*thread.slot, sys::gettid(), reinterpret_cast<std::uint64_t>(thread.gate_calls));
    thread.slot->state.store(shm::ThreadSlotState::live);
    begin_publishing(thread, *thread.slot);
    thread.gate_calls[3] = 1;
    far_of(thread, FarProcess::kLast) = 8;
    publish_others();
    CHECK(process.seen(*thread.slot).calls == Calls{{3, 1}, {FarProcess::kLast, 8}});
    release_calls(thread);
}

TEST_CASE("without counters nothing is published, and a function that the agent does not know is not told",
          "[calls]") {
    Process process{4};
    ThreadState thread;
    begin_publishing(thread, process.slot(0));
    CHECK(thread.published == nullptr);
    CHECK(process.seen(process.slot(0)).calls_until == 0);
    give_call_counter(9);
    tell_call_counters();
    thread.gate_calls[0] = 17;
    publish_calls(thread, process.slot(0));
    CHECK(process.seen(process.slot(0)).calls.empty());
}

}  // namespace rdam::probe
