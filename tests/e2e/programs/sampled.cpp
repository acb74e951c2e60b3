// Calls far too often to record them all: call trees of each kind that the recorder tells apart, among them
// ones that are left by exceptions and by longjmp. Prints how often each function was entered.
//   sampled ROUNDS          two threads
//   sampled endless CALLS   one tree that never ends, and tiny calls in it
//   sampled forks CALLS     the same, and then a child with a few calls of its own
//   sampled among CALLS     some calls of another function among so many tiny ones, early, and one at the end
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csetjmp>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <thread>

#define FUNCTION extern "C" __attribute__((noinline))

namespace {

struct Counts {
    unsigned long leaf, inner, tree, thrower, jumper, summed, first, second, rare;
};
thread_local Counts counts;
thread_local std::jmp_buf back;

}  // namespace

FUNCTION long leaf(long i) {
    ++counts.leaf;
    return i * 3 + 1;
}

FUNCTION long inner(long i) {
    ++counts.inner;
    return leaf(i) + leaf(i + 1) + 1;
}

FUNCTION long tree(long i) {
    ++counts.tree;
    long sum = 0;
    for (long j = 0; j < i % 4; ++j)
        sum += inner(j);
    return sum + 1;
}

FUNCTION long thrower(long i) {
    ++counts.thrower;
    if (leaf(i) % 2 == 0) throw std::runtime_error("thrown");
    return i + 1;
}

FUNCTION long jumper(long i) {
    ++counts.jumper;
    if (leaf(i) % 2 == 0) std::longjmp(back, 1);
    return i + 1;
}

FUNCTION long summed(int count, ...) {
    ++counts.summed;
    va_list list;
    va_start(list, count);
    long sum = 0;
    for (int i = 0; i < count; ++i)
        sum += va_arg(list, long);
    va_end(list);
    return sum + leaf(count);
}

FUNCTION long second(long i) {
    ++counts.second;
    return i ^ 5;
}

FUNCTION long first(long i) {
    ++counts.first;
    return second(i + 1);
}

FUNCTION long rare(long i) {
    ++counts.rare;
    return leaf(i) + inner(i) + 1;
}

FUNCTION long endless(long calls) {
    long sum = 0;
    for (long i = 0; i < calls; ++i)
        sum += leaf(i);
    return sum;
}

FUNCTION long among(long calls) {
    constexpr long kEarly = 30000, kEach = 700, kSome = 6;
    long sum = 0;
    for (long i = 0; i < calls; ++i) {
        for (long j = i < kEarly && i % kEach == 0 ? kSome : 0; j > 0; --j)
            sum += rare(j);
        sum += leaf(i);
    }
    return sum + rare(calls);
}

namespace {

long catches(long i) {
    try {
        return thrower(i);
    } catch (const std::exception&) {
        return -1;
    }
}

long lands(long i) {
    if (setjmp(back) != 0) return -1;
    return jumper(i);
}

long run(long rounds, Counts& result) {
    long sum = 0;
    for (long i = 0; i < rounds; ++i) {
        for (long j = 0; j < 200; ++j)
            sum += leaf(j);
        for (long j = 0; j < 20; ++j)
            sum += tree(i + j) + summed(3, i, j, 7L) + first(j);
        sum += catches(i) + lands(i);
        if (i % 1000 == 0) sum += rare(i);
    }
    result = counts;
    return sum;
}

}  // namespace

/// A child calls `leaf` as often as this.
constexpr long kInChild = 50;

int in_child(long calls) {
    const pid_t child = fork();
    if (child == 0) {
        long sum = 0;
        for (long i = 0; i < calls; ++i)
            sum += leaf(i);
        std::exit(sum == 0 ? 1 : 0);
    }
    int status = 0;
    return child > 0 && waitpid(child, &status, 0) == child && status == 0 ? 0 : 1;
}

int main(int count, char** words) {
    if (count > 2 && std::strcmp(words[1], "forks") == 0) {
        const long sum = endless(std::atol(words[2]));
        std::printf("%ld leaf %lu\n", sum, counts.leaf);
        std::fflush(stdout);
        return in_child(kInChild);
    }
    if (count > 2 && std::strcmp(words[1], "among") == 0) {
        const long sum = among(std::atol(words[2]));
        std::printf("%ld leaf %lu rare %lu\n", sum, counts.leaf, counts.rare);
        return 0;
    }
    if (count > 2 && std::strcmp(words[1], "endless") == 0) {
        const long sum = endless(std::atol(words[2]));
        std::printf("%ld leaf %lu\n", sum, counts.leaf);
        return 0;
    }
    const long rounds = count > 1 ? std::atol(words[1]) : 1000;
    Counts one{}, other{};
    long sum = 0;
    std::thread thread([&] { sum = run(rounds, other); });
    const long mine = run(rounds, one);
    thread.join();
    std::printf(
        "%ld leaf %lu inner %lu tree %lu thrower %lu jumper %lu summed %lu first %lu second %lu rare %lu\n",
        sum + mine, one.leaf + other.leaf, one.inner + other.inner, one.tree + other.tree,
        one.thrower + other.thrower, one.jumper + other.jumper, one.summed + other.summed,
        one.first + other.first, one.second + other.second, one.rare + other.rare);
    return 0;
}
