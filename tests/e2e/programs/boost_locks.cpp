// Who has what of Boost.Thread others wait for: `boost_locks WHAT MILLISECONDS`.
//
//   mutex      a thread has the mutex `outer` in flush_cache(); two others take it
//   condition  two threads wait for what a third one makes in make_item()
//   shared     a thread has the shared mutex `table` alone in rebuild(); two others read
//   upgrade    one thread reads in scan(); another one wants it alone
//
// It prints the tid of each thread, and for how many milliseconds it waited, measured by itself.
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <boost/thread/condition_variable.hpp>
#include <boost/thread/lock_types.hpp>
#include <boost/thread/mutex.hpp>
#include <boost/thread/shared_mutex.hpp>
#include <boost/thread/thread.hpp>
#include <cstdio>
#include <cstdlib>
#include <list>
#include <string>

#include "pastime.h"

static boost::mutex outer;
static boost::condition_variable filled;
static boost::shared_mutex table;
static unsigned items;
static std::atomic<bool> over, ending;

NOINLINE void flush_cache() {
    rest(2000);
    asm volatile("" ::: "memory");
}

NOINLINE void make_item() {
    rest(2000);
    asm volatile("" ::: "memory");
}

NOINLINE void rebuild() {
    rest(3000);
    asm volatile("" ::: "memory");
}

NOINLINE void scan() {
    rest(3000);
    asm volatile("" ::: "memory");
}

/// Adds how long it takes.
template <class Action>
static auto timed(uint64_t& waited, const Action& action) {
    const uint64_t begin = now();
    auto result = action();
    waited += now() - begin;
    return result;
}

static void keep(uint64_t& waited) {
    const auto lock = timed(waited, [] { return boost::unique_lock<boost::mutex>{outer}; });
    flush_cache();
}

static void look(uint64_t& waited) {
    const auto lock = timed(waited, [] { return boost::unique_lock<boost::mutex>{outer}; });
    compute(200);
}

static void make(uint64_t& /*waited*/) {
    make_item();
    const boost::unique_lock<boost::mutex> lock{outer};
    ++items;
    filled.notify_one();
}

static void use(uint64_t& waited) {
    boost::unique_lock<boost::mutex> lock{outer};
    timed(waited, [&] {
        filled.wait(lock, [] { return items > 0 || ending; });
        return 0;
    });
    if (items > 0) --items;
}

static void write_table(uint64_t& waited) {
    const auto lock = timed(waited, [] { return boost::unique_lock<boost::shared_mutex>{table}; });
    rebuild();
}

static void read_table(uint64_t& waited) {
    const auto lock = timed(waited, [] { return boost::shared_lock<boost::shared_mutex>{table}; });
    compute(200);
}

static void scan_table(uint64_t& waited) {
    const auto lock = timed(waited, [] { return boost::shared_lock<boost::shared_mutex>{table}; });
    scan();
}

static void change_table(uint64_t& waited) {
    const auto lock = timed(waited, [] { return boost::unique_lock<boost::shared_mutex>{table}; });
    compute(200);
}

struct Worker {
    const char* name;
    void (*step)(uint64_t& waited);
    long rests;  // microseconds, after each step
    pid_t tid = 0;
    uint64_t waited = 0;
};

static void work(Worker& worker) {
    pthread_setname_np(pthread_self(), worker.name);
    worker.tid = gettid();
    while (!over) {
        worker.step(worker.waited);
        rest(worker.rests);
    }
}

static std::list<Worker> workers_of(const std::string& what) {
    if (what == "mutex") return {{"keeper", keep, 1000}, {"reader", look, 50}, {"reader", look, 50}};
    if (what == "condition") return {{"maker", make, 10}, {"user", use, 10}, {"user", use, 10}};
    if (what == "shared")
        return {{"writer", write_table, 1000}, {"reader", read_table, 50}, {"reader", read_table, 50}};
    if (what == "upgrade") return {{"scanner", scan_table, 500}, {"changer", change_table, 200}};
    std::fprintf(stderr, "boost_locks: there is no %s\n", what.c_str());
    std::exit(1);
}

int main(int argc, char** argv) {
    if (argc != 3) return 1;
    std::list<Worker> workers = workers_of(argv[1]);
    boost::thread_group threads;
    for (Worker& worker : workers)
        threads.create_thread([&] { work(worker); });
    boost::this_thread::sleep_for(boost::chrono::milliseconds{std::atol(argv[2])});
    over = true;
    // Who waits for what nobody makes any more is let go.
    ending = true;
    for (int i = 0; i < 10; ++i) {
        filled.notify_all();
        rest(1000);
    }
    threads.join_all();
    for (const Worker& worker : workers)
        std::printf("%s %d %.3f\n", worker.name, worker.tid, static_cast<double>(worker.waited) / 1e6);
}
