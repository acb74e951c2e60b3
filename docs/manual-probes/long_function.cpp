// One long function, which somebody disturbs unless there is an argument. Probed: the two lines with RDAM_.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <mutex>
#include <thread>

#ifndef WITHOUT_PROBES
#include <rdam/rdam.h>
#else
#define RDAM_BEGIN(name) ((void)0)
#define RDAM_END(name) ((void)0)
#endif

namespace {

std::mutex table;
double entry = 1;
std::atomic<bool> finished = false;

}  // namespace

[[gnu::noinline]] double solve(int steps) {
    double x = 1;
    for (int i = 0; i < steps; ++i) {
        if (i % 10 == 0) RDAM_BEGIN("ten steps");
        for (int k = 0; k < 2000; ++k)
            x = x * 0.999 + 1;
        {
            const std::lock_guard lock(table);
            x += entry;
        }
        if (i % 10 == 9) RDAM_END("ten steps");
    }
    return x;
}

// Keeps the table for itself, now and then.
static void update() {
    using namespace std::chrono_literals;
    while (!finished) {
        {
            const std::lock_guard lock(table);
            std::this_thread::sleep_for(2ms);
            entry = 1;
        }
        std::this_thread::sleep_for(2ms);
    }
}

int main(int arguments, char**) {
    std::thread other;
    if (arguments == 1) other = std::thread(update);
    std::printf("%.3f\n", solve(20000));
    finished = true;
    if (other.joinable()) other.join();
}
