// Coroutines of which the bodies do the work: prints how often one was resumed.
#include <coroutine>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

struct Task {
    struct promise_type {
        Task get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
        std::suspend_always initial_suspend() { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        void return_void() {}
        void unhandled_exception() { std::abort(); }
    };
    std::coroutine_handle<promise_type> handle;
};

long g_entered = 0;
volatile long g_sum = 0;

}  // namespace

Task worker(int rounds) {
    for (int round = 0; round < rounds; ++round) {
        ++g_entered;
        for (int i = 0; i < 20000; ++i)
            g_sum = g_sum * 3 + i;
        co_await std::suspend_always{};
    }
    ++g_entered;
}

int main(int, char** arguments) {
    const int rounds = std::atoi(arguments[1]);
    std::vector<Task> tasks;
    for (int i = 0; i < 5; ++i)
        tasks.push_back(worker(rounds));
    for (bool any = true; any;) {
        any = false;
        for (const Task& task : tasks) {
            if (task.handle.done()) continue;
            task.handle.resume();
            any = true;
        }
    }
    for (const Task& task : tasks)
        task.handle.destroy();
    std::printf("%ld\n", g_entered);
}
