// Recursion that fills four fifths of the stack, which has to do with the recorder, too. Usage: deep WAY
// [THREAD_STACK]
//
// With THREAD_STACK everything is done in a thread that has so many bytes of stack. Prints what came out.
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <cstdint>

namespace {

struct Large {
    long values[12];
};

std::uintptr_t bottom;  // recursion ends below
long depth;
jmp_buf out;
const char* way;
std::size_t thread_stack;

bool is_at_bottom() {
    return reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) < bottom;
}

/// The result is used, so none of the calls is a tail call.
template <typename Value>
Value kept(Value value) {
    asm volatile("" : "+m"(value));
    return value;
}

}  // namespace

extern "C" {

__attribute__((noinline)) long plain(long level) {
    if (is_at_bottom()) return depth = level;
    return kept(plain(level + 1)) + 1;
}

__attribute__((noinline)) double words(long a, double b, long c, double d, long e, long f, long g, long h,
                                       long i) {
    if (is_at_bottom()) {
        depth = a;
        return b + d + double(c + e + f + g + h + i);
    }
    return kept(words(a + 1, b + 1, c + 1, d + 1, e + 1, f + 1, g + 1, h + 1, i + 1)) - 8;
}

__attribute__((noinline)) long large(Large value, long level) {
    if (is_at_bottom()) {
        depth = level;
        return value.values[0] + value.values[11];
    }
    ++value.values[0];
    ++value.values[11];
    return kept(large(value, level + 1));
}

__attribute__((noinline)) long thrower(long level) {
    if (is_at_bottom()) {
        depth = level;
        throw level;
    }
    return kept(thrower(level + 1)) + 1;
}

__attribute__((noinline)) long jumper(long level) {
    if (is_at_bottom()) {
        depth = level;
        longjmp(out, 1);
    }
    return kept(jumper(level + 1)) + 1;
}

__attribute__((noinline)) void handled(int) {
    asm volatile("" ::: "memory");
}

/// A handler in every 100th call, on a stack of its own.
__attribute__((noinline)) long signalled(long level) {
    if (level % 100 == 0) raise(SIGUSR1);
    if (is_at_bottom()) return depth = level;
    return kept(signalled(level + 1)) + 1;
}
}

namespace {

void handle_signals() {
    static char stack[1 << 16];
    stack_t other{};
    other.ss_sp = stack;
    other.ss_size = sizeof stack;
    sigaltstack(&other, nullptr);
    struct sigaction action {};
    action.sa_handler = handled;
    action.sa_flags = SA_ONSTACK;
    sigaction(SIGUSR1, &action, nullptr);
}

void print(long result) {
    printf("%ld of %ld\n", result, depth);
}

void go() {
    if (strcmp(way, "plain") == 0) {
        for (int i = 0; i < 2; ++i)
            print(plain(1));
    } else if (strcmp(way, "words") == 0) {
        printf("%g\n", words(1, 2, 3, 4, 5, 6, 7, 8, 9));
    } else if (strcmp(way, "large") == 0) {
        print(large({{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}}, 1));
    } else if (strcmp(way, "throw") == 0) {
        try {
            thrower(1);
        } catch (long level) {
            printf("caught %ld\n", level);
        }
    } else if (strcmp(way, "longjmp") == 0) {
        for (volatile int i = 0; i < 20; i = i + 1)
            if (setjmp(out) == 0) jumper(1);
    } else if (strcmp(way, "signal") == 0) {
        handle_signals();
        print(signalled(1));
    }
    printf("depth %ld\n", depth);
}

/// Goes on until four fifths of the stack are used.
void go_down(std::size_t size) {
    bottom = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) - size / 5 * 4;
    go();
}

void* run(void*) {
    go_down(thread_stack);
    return nullptr;
}

}  // namespace

int main(int count, char** arguments) {
    way = arguments[1];
    if (count > 2) {
        thread_stack = strtoul(arguments[2], nullptr, 10);
        pthread_attr_t attributes;
        pthread_attr_init(&attributes);
        pthread_attr_setstacksize(&attributes, thread_stack);
        pthread_t thread;
        if (pthread_create(&thread, &attributes, run, nullptr) != 0) return 1;
        pthread_join(thread, nullptr);
        return 0;
    }
    rlimit limit{};
    getrlimit(RLIMIT_STACK, &limit);
    go_down(limit.rlim_cur);
    return 0;
}
