// Calls on Boost's fibers, which the program measures itself: of all threads where there are several, as they
// share the work. `step` works, gives way, works again; every third one is left by an exception. Durations
// are printed, in nanoseconds.
//
//   boost_fibers THREADS FIBERS CALLS
#include <boost/fiber/all.hpp>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

long now_ns() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now().time_since_epoch()).count();
}

void work() {
    const long until = now_ns() + 1'000'000;
    while (now_ns() < until) {
    }
}

}  // namespace

extern "C" __attribute__((noinline)) long step(long number) {
    work();
    boost::this_fiber::yield();
    work();
    if (number % 3 == 2) throw std::runtime_error("left");
    return number;
}

int main(int argc, char** argv) {
    if (argc != 4) return 2;
    const int threads = std::atoi(argv[1]), count = std::atoi(argv[2]), calls = std::atoi(argv[3]);
    std::vector<long> durations;
    std::mutex lock;
    boost::fibers::mutex done_lock;
    boost::fibers::condition_variable_any done;
    int living = count;
    const auto share = [&] {
        if (threads > 1) boost::fibers::use_scheduling_algorithm<boost::fibers::algo::shared_work>();
    };
    const auto run = [&] {
        for (long i = 0; i < calls; ++i) {
            const long begin = now_ns();
            try {
                step(i);
            } catch (const std::runtime_error&) {
            }
            const long lasted = now_ns() - begin;
            const std::lock_guard<std::mutex> guard(lock);
            durations.push_back(lasted);
        }
        const std::lock_guard<boost::fibers::mutex> guard(done_lock);
        if (--living == 0) done.notify_all();
    };
    const auto wait = [&] {
        std::unique_lock<boost::fibers::mutex> guard(done_lock);
        done.wait(guard, [&] { return living == 0; });
    };
    share();
    for (int i = 0; i < count; ++i)
        boost::fibers::fiber(run).detach();
    std::vector<std::thread> workers;
    for (int i = 1; i < threads; ++i)
        workers.emplace_back([&] {
            share();
            wait();
        });
    wait();
    for (std::thread& worker : workers)
        worker.join();
    for (const long each : durations)
        std::printf("%ld\n", each);
}
