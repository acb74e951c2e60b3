// Programs whose answer is known: why calls of work(first, second, third) do not all take the same time.
//
//     planted CAUSE CALLS
//
// parameter   the work is proportional to the second parameter
// global      … to a global variable
// early       six of ten calls return 0 at once
// lock        two threads hold one lock nearly all the time
// holder      another thread holds the lock in update(), now and then
// sharing     another thread writes to the same cache line in scribble(), now and then
// read        a blocking read from a pipe that is filled by another thread
// preempted   another process computes on the same processor
// processor   the work is more on one processor
// warm_up     the first calls put memory in place
// phase       for a third of the run another thread writes to the same cache line
// and those of planted_shapes.cpp
//
// Where nobody has to wait for another thread, the calls stay on one processor: nothing is moved.
//
// The other parameters are drawn at random and have nothing to do with it.
#include "planted.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace planted {

std::function<int(unsigned)> task;

void compute(std::uint64_t rounds) {
    static volatile std::uint64_t sink;
    std::uint64_t x = rounds;
    for (std::uint64_t i = 0; i < rounds; ++i) {
        x = x * 6364136223846793005 + 1442695040888963407;
        asm volatile("" : "+r"(x));
    }
    sink = x;
}

void stay_on(int processor) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(processor, &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0) std::perror("sched_setaffinity");
}

void stay_here() {
    stay_on(sched_getcpu());
}

void add(std::atomic<std::uint64_t>& word, int times) {
    for (int i = 0; i < times; ++i)
        word.fetch_add(1, std::memory_order_relaxed);
}

void share(Line& line, std::atomic<std::uint64_t>& done, const std::function<void()>& calls,
           const std::function<void()>& other) {
    std::atomic<bool> end = false;
    std::thread writer([&] {
        stay_on(1);
        while (!end)
            other();
    });
    stay_on(0);
    task = [&](unsigned) {
        add(line.mine, 2000);
        done.fetch_add(1, std::memory_order_relaxed);
        return 0;
    };
    calls();
    end = true;
    writer.join();
}

}  // namespace planted

extern "C" __attribute__((noinline)) int work(int first, unsigned second, const void* third) {
    asm volatile("" ::"r"(first), "r"(third));
    return planted::task(second);
}

using namespace planted;

namespace {

/// Calls work() with parameters drawn at random.
void call(std::uint64_t calls, unsigned seed) {
    std::mt19937 random(seed);
    static const char places[kSome] = {};
    for (std::uint64_t i = 0; i < calls; ++i)
        work(static_cast<int>(random() % kSome), static_cast<unsigned>(random() % kSome),
             places + random() % kSome);
}

void proportional(std::uint64_t calls) {
    stay_here();
    task = [](unsigned second) {
        compute(kRounds * (1 + second));
        return 0;
    };
    call(calls, 1);
}

void global(std::uint64_t calls) {
    stay_here();
    static volatile unsigned size;
    static std::mt19937 random(2);
    task = [](unsigned) {
        size = static_cast<unsigned>(random() % kSome);
        compute(kRounds * (1 + size));
        return 0;
    };
    call(calls, 1);
}

void early(std::uint64_t calls) {
    stay_here();
    static std::mt19937 random(2);
    task = [](unsigned) {
        if (random() % 10 < 6) return 0;
        compute(kRounds * kSome);
        return static_cast<int>(1 + random() % kSome);
    };
    call(calls, 1);
}

void lock(std::uint64_t calls) {
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    task = [](unsigned) {
        pthread_mutex_lock(&mutex);
        compute(kRounds * kSome);
        pthread_mutex_unlock(&mutex);
        return 0;
    };
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < 2; ++t)
        threads.emplace_back([=] { call(calls, t); });
    for (std::thread& thread : threads)
        thread.join();
}

}  // namespace

extern "C" __attribute__((noinline)) void update(pthread_mutex_t* mutex) {
    pthread_mutex_lock(mutex);
    compute(kRounds * kSome * kSome);
    pthread_mutex_unlock(mutex);
}

namespace {

void holder(std::uint64_t calls) {
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    std::atomic<bool> end = false;
    std::thread other([&] {
        while (!end) {
            update(&mutex);
            std::this_thread::sleep_for(std::chrono::microseconds(500));
        }
    });
    task = [](unsigned) {
        pthread_mutex_lock(&mutex);
        compute(kRounds);
        pthread_mutex_unlock(&mutex);
        return 0;
    };
    call(calls, 1);
    end = true;
    other.join();
}

}  // namespace

extern "C" __attribute__((noinline)) void scribble(std::atomic<std::uint64_t>* word) {
    using Clock = std::chrono::steady_clock;
    for (const auto end = Clock::now() + std::chrono::milliseconds(2); Clock::now() < end;)
        add(*word, 200);
}

namespace {

void sharing(std::uint64_t calls) {
    static Line line;
    static std::atomic<std::uint64_t> done;
    share(
        line, done, [calls] { call(calls, 1); },
        [] {
            scribble(&line.other);
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
        });
}

void phase(std::uint64_t calls) {
    static Line line;
    static Line elsewhere;
    static std::atomic<std::uint64_t> done;
    share(
        line, done, [calls] { call(calls, 1); },
        [calls] {
            const double share = static_cast<double>(done.load()) / static_cast<double>(calls);
            add(share > 0.4 && share < 0.7 ? line.other : elsewhere.other, 1000);
        });
}

void blocking_read(std::uint64_t calls) {
    int ends[2];
    if (pipe(ends) != 0) std::abort();
    std::thread writer([&] {
        std::mt19937 random(4);
        for (std::uint64_t i = 0; i < calls; ++i) {
            std::this_thread::sleep_for(std::chrono::microseconds(random() % 2 == 0 ? 0 : 300));
            if (write(ends[1], "x", 1) != 1) std::abort();
        }
    });
    task = [&](unsigned) {
        char byte = 0;
        if (read(ends[0], &byte, 1) != 1) std::abort();
        return 0;
    };
    call(calls, 1);
    writer.join();
}

void preempted(std::uint64_t calls) {
    stay_on(0);
    const pid_t competitor = fork();
    if (competitor == 0) {
        for (;;)
            compute(kRounds);
    }
    task = [](unsigned) {
        compute(kRounds * kSome);
        return 0;
    };
    call(calls, 1);
    kill(competitor, SIGKILL);
    waitpid(competitor, nullptr, 0);
}

void processor(std::uint64_t calls) {
    task = [](unsigned) {
        compute(sched_getcpu() == 1 ? 4 * kRounds : kRounds);
        return 0;
    };
    constexpr std::uint64_t kAtOnce = 20;
    for (std::uint64_t i = 0; i < calls; i += kAtOnce) {
        stay_on(i / kAtOnce % 2 == 0 ? 0 : 1);
        call(kAtOnce, static_cast<unsigned>(i));
    }
}

void warm_up(std::uint64_t calls) {
    stay_here();
    static std::uint64_t count = 0;
    task = [](unsigned) {
        constexpr std::size_t kBytes = std::size_t{4} << 20;
        constexpr std::uint64_t kFirst = 20;
        if (count++ < kFirst) {
            void* memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
            if (memory == MAP_FAILED) std::abort();
        }
        compute(kRounds);
        return 0;
    };
    call(calls, 1);
}

}  // namespace

int main(int argc, char** argv) {
    std::map<std::string, Program> causes{
        {"parameter", proportional}, {"global", global},   {"early", early},        {"lock", lock},
        {"holder", holder},          {"sharing", sharing}, {"read", blocking_read}, {"preempted", preempted},
        {"processor", processor},    {"warm_up", warm_up}, {"phase", phase},
    };
    causes.insert(kShapes.begin(), kShapes.end());
    if (argc != 3 || !causes.contains(argv[1])) return 2;
    causes.at(argv[1])(std::strtoull(argv[2], nullptr, 10));
    return 0;
}
