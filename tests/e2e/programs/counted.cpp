// Programs that say how many instructions their calls execute, for a recorder whose counter is moved by the
// program (tests/e2e/counted). Without it they are ordinary programs.
//
//     counted more CALLS      work() executes more or less, by a global variable; its time goes with it
//     counted slower CALLS    work() takes more or less time for the same instructions
//     counted nested CALLS    outer(): 1000 and ten times inner(), which is 100; apart(), variadic: 50 and
//                             inner() once; in two threads
//     counted forks CALLS     outer() forks: parent and child return from it, and the child calls inner()
//     counted loop CALLS      known_loop() executes four million instructions and a few more, by a loop
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <thread>

extern "C" __attribute__((weak)) void rdam_test_execute(std::uint64_t instructions);

namespace {

volatile std::uint64_t sink;

void execute(std::uint64_t instructions) {
    if (rdam_test_execute != nullptr) rdam_test_execute(instructions);
}

void pass_time(std::uint64_t rounds) {
    std::uint64_t x = rounds;
    for (std::uint64_t i = 0; i < rounds; ++i) {
        x = x * 6364136223846793005 + 1442695040888963407;
        asm volatile("" : "+r"(x));
    }
    sink = x;
}

std::uint64_t time_of_work;
std::uint64_t instructions_of_work;

}  // namespace

extern "C" {

__attribute__((noinline)) int work(int first, int second) {
    pass_time(time_of_work);
    execute(instructions_of_work);
    return (first ^ second) & 1;
}

__attribute__((noinline)) int inner() {
    execute(100);
    asm volatile("");
    return 7;
}

/// Wrapped beside the stack: nobody knows what it is given.
__attribute__((noinline)) int apart(int count, ...) {
    execute(50);
    return inner() + count;
}

__attribute__((noinline)) void outer(bool forks) {
    execute(1000);
    if (forks && fork() == 0) {
        sink = 1;
        return;
    }
    for (int i = 0; i < 10; ++i)
        inner();
}

__attribute__((noinline)) void known_loop() {
    std::uint64_t rounds = 2'000'000;
    asm volatile("1: dec %0\n\tjnz 1b" : "+r"(rounds));
}
}

namespace {

void vary(bool instructions, int calls) {
    std::mt19937 random{1};
    constexpr std::uint64_t kMin = 1000;
    for (int i = 0; i < calls; ++i) {
        const std::uint64_t part = 1 + random() % 20;
        time_of_work = kMin * part;
        instructions_of_work = 5 * kMin * (instructions ? part : 1);
        sink =
            static_cast<std::uint64_t>(work(static_cast<int>(random() % 7), static_cast<int>(random() % 7)));
    }
}

void nest(int calls) {
    for (int i = 0; i < calls; ++i)
        outer(false);
    for (int i = 0; i < calls; ++i)
        sink = static_cast<std::uint64_t>(apart(i, 2.5, "three"));
}

int fork_inside(int calls) {
    sink = 0;
    outer(true);
    const bool child = sink == 1;
    for (int i = 0; i < calls; ++i)
        inner();
    if (child) return 0;
    int status = 0;
    return wait(&status) > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

}  // namespace

int main(int count, char** arguments) {
    const char* what = count == 3 ? arguments[1] : "";
    const int calls = count == 3 ? std::atoi(arguments[2]) : 0;
    const auto is = [what](const char* name) { return std::strcmp(what, name) == 0; };
    if (is("more") || is("slower")) {
        vary(is("more"), calls);
    } else if (is("nested")) {
        std::thread other(nest, calls);
        nest(calls);
        other.join();
    } else if (is("forks")) {
        return fork_inside(calls);
    } else if (is("loop")) {
        for (int i = 0; i < calls; ++i)
            known_loop();
    } else {
        std::fputs("usage: counted more|slower|nested|forks|loop CALLS\n", stderr);
        return 2;
    }
    return 0;
}
