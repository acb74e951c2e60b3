#include "microbench/interference/pause.h"

#include <sys/prctl.h>

#include <cmath>
#include <ctime>

#include "microbench/interference/least_time.h"

namespace rdam::microbench {

void Compute::rounds(std::uint64_t count) {
    std::uint64_t x = count;
    for (std::uint64_t i = 0; i < count; ++i) {
        x = x * 6364136223846793005 + 1442695040888963407;
        asm volatile("" : "+r"(x));
    }
}

double Compute::calibrate() {
    constexpr std::uint64_t kRounds = 100'000;
    return least_time([] { rounds(kRounds); }) / double{kRounds};
}

Compute::Compute(double nanoseconds) {
    static const double nanoseconds_a_round = calibrate();
    rounds_ = static_cast<std::uint64_t>(std::llround(nanoseconds / nanoseconds_a_round));
}

void Sleep::operator()() const {
    if (nanoseconds_ == 0) return;
    // The kernel's default lets a sleep last 50 microseconds longer, so as to wake several threads at once.
    static thread_local const int precise = prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
    static_cast<void>(precise);
    constexpr std::int64_t kSecond = 1'000'000'000;
    const timespec time{.tv_sec = nanoseconds_ / kSecond, .tv_nsec = nanoseconds_ % kSecond};
    clock_nanosleep(CLOCK_MONOTONIC, 0, &time, nullptr);
}

}  // namespace rdam::microbench
