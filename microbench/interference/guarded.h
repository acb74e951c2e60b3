// Threads that increment a counter which a lock protects (listing 5.1 of the thesis), whatever the lock.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "microbench/interference/increment.h"
#include "microbench/interference/pause.h"
#include "microbench/interference/places.h"
#include "microbench/interference/team.h"

namespace rdam::microbench {

/// What threads share. The counter lies beside the lock: who waits for one disturbs who works on the other.
/// `Lock` has lock() and unlock().
template <class Lock>
struct Guarded {
    Lock lock;
    volatile std::uint64_t counters[kWordsOfAThread] = {};

    void increment_locked(std::uint64_t updates) {
        lock.lock();
        increment_at_pace(counters, updates);
        lock.unlock();
    }
};

struct GuardedOptions {
    bool own = false;
    Work work;
};

/// The benchmark whose measured operation is `increment_locked(guarded, updates)`; declares its options.
template <class Lock>
Runner measures_guarded(CLI::App& app, std::string_view operation,
                        void (*increment_locked)(Guarded<Lock>*, std::uint64_t)) {
    const auto options = std::make_shared<GuardedOptions>();
    app.add_flag("--private", options->own, "Control: each thread has a lock of its own");
    add_work(app, options->work);
    return measures(operation, [options, increment_locked](const Point& point) {
        Places<Guarded<Lock>> places(point.threads, options->own);
        const Compute pause(point.delay_ns);
        const std::uint64_t updates = options->work.count(increment_at_pace);
        return run_team(point, [&](const Seat& seat) {
            Guarded<Lock>& guarded = places.of(seat.number);
            return repeat(point, seat, pause, [&] { increment_locked(&guarded, updates); });
        });
    });
}

}  // namespace rdam::microbench
