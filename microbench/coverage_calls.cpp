// Programs whose score is not the same in every run: what is drawn at random is drawn anew with each seed.
//
//     coverage_calls NUMBER SEED CALLS
//
// Calls of recorded_work() take two microseconds, by the clock, and some take longer: which and by how much
// is the number's matter, its last digit the kind and the rest the size of what is drawn. Prints the kind.
#include <pthread.h>
#include <x86intrin.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <thread>

namespace {

constexpr double kWork = 2;  // µs

double ticks_per_us = 1;

void calibrate() {
    using Clock = std::chrono::steady_clock;
    const auto begin = Clock::now();
    const std::uint64_t first = __rdtsc();
    while (Clock::now() - begin < std::chrono::milliseconds(5)) {
    }
    const std::uint64_t last = __rdtsc();
    ticks_per_us = static_cast<double>(last - first) /
                   std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
}

void spin(double us) {
    const std::uint64_t begin = __rdtsc();
    const auto ticks = static_cast<std::uint64_t>(us * ticks_per_us);
    while (__rdtsc() - begin < ticks) {
    }
}

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

}  // namespace

extern "C" __attribute__((noinline)) void recorded_work(double more, bool locks) {
    if (locks) pthread_mutex_lock(&mutex);
    spin(kWork + more);
    if (locks) pthread_mutex_unlock(&mutex);
}

namespace {

using Random = std::mt19937_64;

/// What a program is made of: how much longer than kWork its calls take.
struct Run {
    Random random;
    std::uint64_t calls = 0;
    double size = 1;  // 1…5

    double exponential(double mean) { return std::exponential_distribution<double>{1 / mean}(random); }
    bool chance(double of) { return std::bernoulli_distribution{of}(random); }
    void call(double more, bool locks = false) const { recorded_work(more, locks); }
};

void independent(Run& run) {
    for (std::uint64_t i = 0; i < run.calls; ++i)
        run.call(run.chance(0.1 * run.size) ? run.exponential(4) : 0);
}

void rare(Run& run) {
    for (std::uint64_t i = 0; i < run.calls; ++i)
        run.call(run.chance(0.001 * run.size) ? run.exponential(300) : 0);
}

void heavy(Run& run) {
    for (std::uint64_t i = 0; i < run.calls; ++i)
        run.call(std::min(std::pow(1 - std::generate_canonical<double, 53>(run.random), -1 / 1.5) - 1,
                          100 * run.size));
}

/// Calls are disturbed in bursts; `count` of them on average.
void in_bursts(Run& run, double count, double part) {
    const double length = part * static_cast<double>(run.calls) / count;
    const double between = length * (1 - part) / part;
    bool disturbed = run.chance(part);
    double left = run.exponential(disturbed ? length : between);
    for (std::uint64_t i = 0; i < run.calls; ++i) {
        for (; left < 1; disturbed = !disturbed)
            left += run.exponential(disturbed ? between : length);
        left -= 1;
        run.call(disturbed ? run.exponential(4) : 0);
    }
}

void short_bursts(Run& run) {
    in_bursts(run, 100 * run.size, 0.3);
}

void bursts(Run& run) {
    in_bursts(run, 15 * run.size, 0.3);
}

void rare_bursts(Run& run) {
    in_bursts(run, 15 * run.size, 0.05);
}

/// The program's own: in each run a third of the calls.
void phase(Run& run) {
    for (std::uint64_t i = 0; i < run.calls; ++i)
        run.call(3 * i / run.calls == 1 && run.chance(0.1 * run.size) ? run.exponential(10) : 0);
}

void trend(Run& run) {
    for (std::uint64_t i = 0; i < run.calls; ++i)
        run.call(std::generate_canonical<double, 53>(run.random) * 2 * run.size * static_cast<double>(i) /
                 static_cast<double>(run.calls));
}

void lock(Run& run) {
    const auto work = [](Run self) {
        for (std::uint64_t i = 0; i < self.calls / 2; ++i) {
            self.call(0, true);
            spin(self.exponential(2 * self.size));
        }
    };
    Run second = run;
    second.random.seed(run.random());
    std::thread other(work, second);
    work(run);
    other.join();
}

/// Another thread keeps the lock now and then, for as long as some dozens of calls take.
void held(Run& run) {
    std::uint64_t done = 0;
    std::thread other([&, random = Random(run.random())]() mutable {
        Run self{.random = random, .size = run.size};
        while (__atomic_load_n(&done, __ATOMIC_RELAXED) < run.calls) {
            spin(self.exponential(400 * self.size));
            pthread_mutex_lock(&mutex);
            spin(self.exponential(200));
            pthread_mutex_unlock(&mutex);
        }
    });
    for (std::uint64_t i = 0; i < run.calls; ++i) {
        run.call(0, true);
        __atomic_store_n(&done, i + 1, __ATOMIC_RELAXED);
    }
    other.join();
}

struct Kind {
    const char* name;
    void (*run)(Run&);
};

constexpr std::array<Kind, 10> kKinds{{{"independent", independent},
                                       {"rare", rare},
                                       {"heavy", heavy},
                                       {"short_bursts", short_bursts},
                                       {"bursts", bursts},
                                       {"rare_bursts", rare_bursts},
                                       {"phase", phase},
                                       {"trend", trend},
                                       {"lock", lock},
                                       {"held", held}}};

}  // namespace

int main(int argc, char** argv) {
    if (argc != 4) return 2;
    const std::uint64_t number = std::strtoull(argv[1], nullptr, 10);
    const Kind& kind = kKinds[number % kKinds.size()];
    constexpr std::uint64_t kSizes = 5;
    Run run{.random = Random(std::strtoull(argv[2], nullptr, 10)),
            .calls = std::strtoull(argv[3], nullptr, 10),
            .size = static_cast<double>(1 + number / kKinds.size() % kSizes)};
    calibrate();
    kind.run(run);
    std::puts(kind.name);
    return 0;
}
