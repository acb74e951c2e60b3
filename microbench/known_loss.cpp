// A program whose interference is known by construction and which measures itself: what rdam reports can be
// compared with what it prints.
//
//     known_loss VARIANT [THREADS [CALLS [SEED]]]        prints JSON (known_loss_truth.h)
//
// Each thread calls the functions below CALLS times. They spin for a fixed time and, in a seeded
// pseudo-random pattern, for some more: the interference. They read the clock first and last thing
// themselves, so that what the machine adds (preemption, interrupts, the real wait for a mutex) is part of
// the truth. Calls last 20 µs or more, or are few enough for it: a probe's cost does not matter.
#include <pthread.h>
#include <unistd.h>
#include <x86intrin.h>

#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <random>
#include <stdexcept>
#include <string_view>
#include <thread>
#include <vector>

#include "microbench/known_loss_truth.h"

namespace known_loss {
namespace {

constexpr std::uint64_t kBaseMicroseconds = 20;
constexpr std::uint64_t kDisturbedOneIn = 6;

struct Plan {
    std::string_view variant;
    std::uint64_t threads = 3;
    std::uint64_t calls = 10000;
    std::uint64_t seed = 1;
};

/// What the threads share.
struct Shared {
    Plan plan;
    std::uint64_t base = 0;  ///< ticks of an undisturbed spin
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
};

std::uint64_t now() {
    unsigned int processor = 0;
    return __rdtscp(&processor);
}

void spin(std::uint64_t ticks) {
    const std::uint64_t begin = now();
    while (now() - begin < ticks)
        _mm_pause();
}

/// The calls of one function in this thread. Room is made, and touched, before the first of them: a page
/// fault belongs to no call.
class Log {
  public:
    Log(const char* name, std::size_t most) : calls_{name, std::vector<Call>(most), 0} {}

    void add(const Call& call) {
        calls_.calls.at(used_++) = call;
        last_duration_ = call.duration;
    }

    void add_unsettled(std::uint64_t ticks) { calls_.unsettled += ticks; }
    std::uint64_t last_duration() const { return last_duration_; }

    FunctionCalls take() {
        calls_.calls.resize(used_);
        return std::move(calls_);
    }

  private:
    FunctionCalls calls_;
    std::size_t used_ = 0;
    std::uint64_t last_duration_ = 0;
};

struct Worker {
    Worker(Shared& everyone, std::uint64_t number)
        : shared(everyone),
          random(everyone.plan.seed * 1000 + number),
          first("first", 0),
          second("second", 0) {}

    /// Ticks to spin: the fixed time and now and then the interference, one to four times as long.
    std::uint64_t disturbed() {
        if (calm) return shared.base;
        const std::uint64_t extra = random() % kDisturbedOneIn == 0 ? 1 + random() % 4 : 0;
        return shared.base * (1 + extra);
    }

    Shared& shared;
    std::mt19937_64 random;
    Log first;
    Log second;
    std::uint64_t inside = 0;  ///< ticks in measured calls, within the open one
    std::uint32_t depth = 0;
    bool calm = false;             ///< no interference now
    const char* caller = nullptr;  ///< who calls next, if that matters
};

/// Stands in a function's first line and measures it to its last, however it is left.
class Stopwatch {
  public:
    Stopwatch(Worker& worker, Log& log, std::uint32_t shape, bool outermost = true)
        : worker_(worker),
          log_(log),
          shape_(shape),
          outermost_(outermost),
          before_(worker.inside),
          begin_(now()) {
        worker.inside = 0;
    }
    ~Stopwatch() {
        const std::uint64_t duration = now() - begin_;
        log_.add({shape_, outermost_, duration, duration - worker_.inside, worker_.caller});
        worker_.inside = before_ + duration;
    }
    Stopwatch(const Stopwatch&) = delete;
    Stopwatch(Stopwatch&&) = delete;
    Stopwatch& operator=(const Stopwatch&) = delete;
    Stopwatch& operator=(Stopwatch&&) = delete;

  private:
    Worker& worker_;
    Log& log_;
    std::uint32_t shape_;
    bool outermost_;
    std::uint64_t before_;
    std::uint64_t begin_;
};

/// Stands in the caller's block around one call. Between its readings of the clock and the Stopwatch's lie
/// the recorder's: what happens there is the call's for one and not for the other. That is nothing unless the
/// thread loses its processor just then.
class Surroundings {
  public:
    Surroundings(Worker& worker, Log& log) : log_(log), most_(worker.shared.base / 2), begin_(now()) {}
    ~Surroundings() {
        const std::uint64_t gap = now() - begin_ - log_.last_duration();
        if (gap > most_) log_.add_unsettled(gap);
    }
    Surroundings(const Surroundings&) = delete;
    Surroundings(Surroundings&&) = delete;
    Surroundings& operator=(const Surroundings&) = delete;
    Surroundings& operator=(Surroundings&&) = delete;

  private:
    Log& log_;
    std::uint64_t most_;
    std::uint64_t begin_;
};

}  // namespace
}  // namespace known_loss

// What is recorded: plain names, never inlined.
extern "C" {

[[gnu::noipa]] void work(known_loss::Worker& worker) {
    const known_loss::Stopwatch stopwatch(worker, worker.first, 0);
    known_loss::spin(worker.disturbed());
}

[[gnu::noipa]] void inner(known_loss::Worker& worker) {
    const known_loss::Stopwatch stopwatch(worker, worker.second, 0);
    known_loss::spin(worker.disturbed());
}

[[gnu::noipa]] void outer(known_loss::Worker& worker, std::uint32_t times) {
    const known_loss::Stopwatch stopwatch(worker, worker.first, times);
    known_loss::spin(worker.disturbed());
    for (std::uint32_t i = 0; i < times; ++i) {
        const known_loss::Surroundings around(worker, worker.second);
        inner(worker);
    }
}

[[gnu::noipa]] void descend(known_loss::Worker& worker, std::uint32_t levels) {
    const known_loss::Stopwatch stopwatch(worker, worker.first, levels, worker.depth == 0);
    ++worker.depth;
    known_loss::spin(worker.disturbed());
    if (levels > 1) {
        const known_loss::Surroundings around(worker, worker.first);
        descend(worker, levels - 1);
    }
    --worker.depth;
}

[[gnu::noipa]] void take_turn(known_loss::Worker& worker) {
    const known_loss::Stopwatch stopwatch(worker, worker.first, 0);
    pthread_mutex_lock(&worker.shared.mutex);
}

[[gnu::noipa]] void end_turn(known_loss::Worker& worker) {
    const known_loss::Stopwatch stopwatch(worker, worker.second, 0);
    pthread_mutex_unlock(&worker.shared.mutex);
}

[[gnu::noipa]] void may_throw(known_loss::Worker& worker, bool throws) {
    const known_loss::Stopwatch stopwatch(worker, worker.first, 0);
    known_loss::spin(worker.disturbed());
    if (throws) throw std::runtime_error("as planned");
}
}

namespace known_loss {
namespace {

using Body = void (*)(Worker&, std::uint64_t calls);

void run_single(Worker& worker, std::uint64_t calls) {
    worker.first = Log("work", calls);
    for (std::uint64_t i = 0; i < calls; ++i) {
        const Surroundings around(worker, worker.first);
        work(worker);
    }
}

// Two and four inner calls by turns: `outer` has two sequences, and its fastest is not comparable with all of
// them.
void run_nested(Worker& worker, std::uint64_t calls) {
    worker.first = Log("outer", calls);
    worker.second = Log("inner", calls * 4);
    for (std::uint64_t i = 0; i < calls / 4; ++i) {
        const Surroundings around(worker, worker.first);
        outer(worker, i % 2 == 0 ? 2 : 4);
    }
}

[[gnu::noipa]] void calm_caller(Worker& worker) {
    worker.calm = true;
    worker.caller = "calm_caller";
    const Surroundings around(worker, worker.first);
    work(worker);
}

[[gnu::noipa]] void disturbed_caller(Worker& worker) {
    worker.calm = false;
    worker.caller = "disturbed_caller";
    const Surroundings around(worker, worker.first);
    work(worker);
}

void run_callers(Worker& worker, std::uint64_t calls) {
    worker.first = Log("work", calls);
    for (std::uint64_t i = 0; i < calls; ++i) {
        if (i % 4 == 3) {
            disturbed_caller(worker);
        } else {
            calm_caller(worker);
        }
    }
}

void run_recursive(Worker& worker, std::uint64_t calls) {
    constexpr std::uint32_t kLevels = 3;
    worker.first = Log("descend", calls + kLevels);
    for (std::uint64_t i = 0; i < calls / kLevels; ++i) {
        const Surroundings around(worker, worker.first);
        descend(worker, kLevels);
    }
}

void run_mutex(Worker& worker, std::uint64_t calls) {
    worker.first = Log("take_turn", calls);
    worker.second = Log("end_turn", calls);
    for (std::uint64_t i = 0; i < calls; ++i) {
        {
            const Surroundings around(worker, worker.first);
            take_turn(worker);
        }
        spin(worker.shared.base);
        {
            const Surroundings around(worker, worker.second);
            end_turn(worker);
        }
        spin(worker.disturbed());
    }
}

void run_exceptions(Worker& worker, std::uint64_t calls) {
    worker.first = Log("may_throw", calls);
    for (std::uint64_t i = 0; i < calls; ++i) {
        try {
            const Surroundings around(worker, worker.first);
            may_throw(worker, worker.random() % 64 == 0);
        } catch (const std::runtime_error&) {
            // It was thrown to leave the function early; nothing is wrong.
        }
    }
}

struct Variant {
    std::string_view name;
    Body body;
};
constexpr Variant kVariants[] = {
    {"single", run_single}, {"nested", run_nested},         {"recursive", run_recursive},
    {"mutex", run_mutex},   {"exceptions", run_exceptions}, {"callers", run_callers},
};

Body find_body(std::string_view name) {
    for (const Variant& variant : kVariants)
        if (variant.name == name) return variant.body;
    return nullptr;
}

/// How long the calling thread has waited for a processor so far, in nanoseconds; 0: the kernel does not say.
std::uint64_t waited_for_processor() {
    std::ifstream file("/proc/thread-self/schedstat");
    std::uint64_t ran = 0, waited = 0;
    return file >> ran >> waited ? waited : 0;
}

ThreadRecord run_thread(Shared& shared, Body body, std::uint64_t number) {
    const std::uint64_t begin = now();
    Worker worker(shared, number);
    body(worker, shared.plan.calls);
    ThreadRecord record;
    record.tid = gettid();
    for (Log* log : {&worker.first, &worker.second})
        if (FunctionCalls calls = log->take(); !calls.calls.empty())
            record.functions.push_back(std::move(calls));
    record.duration = now() - begin;
    record.waited_ns = waited_for_processor();
    return record;
}

struct Instant {
    std::uint64_t ticks = now();
    std::chrono::steady_clock::time_point time = std::chrono::steady_clock::now();
};

double ticks_per_ns(const Instant& from, const Instant& to) {
    const std::chrono::duration<double, std::nano> spent = to.time - from.time;
    return static_cast<double>(to.ticks - from.ticks) / spent.count();
}

double measure_clock() {
    const Instant from;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return ticks_per_ns(from, Instant{});
}

int run(const Plan& plan, Body body) {
    const Instant start;
    Shared shared{.plan = plan,
                  .base = static_cast<std::uint64_t>(measure_clock() * 1000) * kBaseMicroseconds};
    std::vector<ThreadRecord> records(plan.threads + 1);
    {
        std::vector<std::jthread> threads;
        for (std::uint64_t i = 1; i <= plan.threads; ++i)
            threads.emplace_back([&, i] { records[i] = run_thread(shared, body, i); });
    }
    const Instant end;
    records[0].tid = gettid();
    records[0].duration = end.ticks - start.ticks;
    std::cout << truth(records, ticks_per_ns(start, end)).dump(1) << '\n' << std::flush;
    return std::cout ? 0 : 1;
}

bool parse(const char* text, std::uint64_t& value) {
    const std::string_view view(text);
    const auto [end, error] = std::from_chars(view.data(), view.data() + view.size(), value);
    return error == std::errc{} && end == view.data() + view.size() && value > 0;
}

}  // namespace
}  // namespace known_loss

int main(int argc, char** argv) {
    known_loss::Plan plan;
    std::uint64_t* const numbers[] = {&plan.threads, &plan.calls, &plan.seed};
    bool good = argc >= 2 && argc <= 5;
    for (int i = 2; good && i < argc; ++i)
        good = known_loss::parse(argv[i], *numbers[i - 2]);
    const known_loss::Body body = good ? known_loss::find_body(plan.variant = argv[1]) : nullptr;
    if (body == nullptr) {
        std::fputs("usage: known_loss VARIANT [THREADS [CALLS [SEED]]]\nvariants:", stderr);
        for (const known_loss::Variant& variant : known_loss::kVariants)
            std::fprintf(stderr, " %.*s", static_cast<int>(variant.name.size()), variant.name.data());
        std::fputs("\n", stderr);
        return 2;
    }
    try {
        return known_loss::run(plan, body);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "known_loss: %s\n", error.what());
        return 1;
    }
}
