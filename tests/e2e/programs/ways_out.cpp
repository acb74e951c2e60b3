// Ways to leave a wrapped function without returning from it. The first argument says which.
#include <execinfo.h>
#include <pthread.h>
#include <ucontext.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>

// A variadic function gets a shadow frame: nothing proves how many of its arguments are on the stack.
#ifdef VARIADIC
#define MORE , ...
#else
#define MORE
#endif
#define KEPT extern "C" [[gnu::noinline, gnu::noclone]]

KEPT int descend(int depth, int thrown MORE) {
    const std::string cleaned(static_cast<size_t>(depth % 40), 'a');
    if (depth == 0) throw thrown;
    const int below = descend(depth - 1, thrown);
    asm volatile("");
    return below + static_cast<int>(cleaned.size());
}
KEPT int rethrower(int depth, int thrown MORE) {
    try {
        return descend(depth, thrown) + 1;
    } catch (int value) {
        if (value % 2 != 0) throw;
        throw std::runtime_error(std::to_string(value));
    }
}
KEPT int catcher(int depth, int thrown MORE) {
    try {
        return rethrower(depth, thrown);
    } catch (const std::exception& e) {
        return std::atoi(e.what());
    } catch (int value) {
        return -value;
    }
}

KEPT void ends_thread(int n MORE) {
    pthread_exit(reinterpret_cast<void*>(static_cast<long>(n)));
}
static int pipe_ends[2];
KEPT void blocks() {
    char byte;
    while (read(pipe_ends[0], &byte, 1) >= 0) {
    }
    asm volatile("");
}
KEPT void exits(int n MORE) {
    asm volatile("");
    if (n == 0) std::exit(23);
    exits(n - 1);
    asm volatile("");
}
KEPT int looks_back(int MORE) {
    void* frames[64];
    const int count = backtrace(frames, 64);
    char** names = backtrace_symbols(frames, count);
    for (int i = 0; i < count; i++) {
        const char* open = std::strchr(names[i], '(');
        const char* plus = open != nullptr ? std::strchr(open, '+') : nullptr;
        if (plus != nullptr && plus > open + 1)
            std::printf("%.*s\n", static_cast<int>(plus - open - 1), open + 1);
    }
    std::free(names);
    return count;
}
KEPT int between(int n MORE) {
    const int count = looks_back(n);
    asm volatile("");
    return count;
}

static ucontext_t main_context, contexts[8];
static long total = 0;
KEPT void yields(int who MORE) {
    swapcontext(&contexts[who], &main_context);
    asm volatile("");
}
KEPT void works(int who, int depth MORE) {
    if (depth > 0)
        works(who, depth - 1);
    else
        yields(who);
    total += who * depth;
    asm volatile("");
}
static void coroutine(int who) {
    for (int i = 0; i < 100; i++)
        works(who, who);
}

int main(int, char** arguments) {
    const std::string how = arguments[1];
    volatile long sum = 0;
    if (how == "throw") {
        for (int i = 0; i < 300; i++)
            sum = sum + catcher(i % 100, i);
    } else if (how == "pthread_exit") {
        for (long i = 0; i < 50; i++) {
            pthread_t thread;
            void* result = nullptr;
            pthread_create(
                &thread, nullptr,
                [](void* n) -> void* {
                    ends_thread(static_cast<int>(reinterpret_cast<long>(n)));
                    return nullptr;
                },
                reinterpret_cast<void*>(i));
            pthread_join(thread, &result);
            sum = sum + reinterpret_cast<long>(result);
        }
    } else if (how == "cancel") {
        if (pipe(pipe_ends) != 0) return 1;
        for (int i = 0; i < 50; i++) {
            pthread_t thread;
            void* result = nullptr;
            pthread_create(
                &thread, nullptr,
                [](void*) -> void* {
                    blocks();
                    return nullptr;
                },
                nullptr);
            if (i % 2 != 0) usleep(500);
            // The thread is to be inside the function before it is cancelled.
            while (write(pipe_ends[1], "a", 1) != 1) {
            }
            char left = 1;
            while (left != 0) {
                int bytes = 0;
                fd_set set;
                FD_ZERO(&set);
                FD_SET(pipe_ends[0], &set);
                timeval now{0, 1000};
                bytes = select(pipe_ends[0] + 1, &set, nullptr, nullptr, &now);
                left = bytes > 0 ? 1 : 0;
            }
            pthread_cancel(thread);
            pthread_join(thread, &result);
            sum = sum + (result == PTHREAD_CANCELED ? 1 : 100);
        }
    } else if (how == "exit") {
        std::puts("exits");
        exits(10);
    } else if (how == "backtrace") {
        sum = between(1) > 3 ? 1 : 0;
    } else if (how == "coroutines") {
        static char stacks[8][65536];
        for (int i = 0; i < 8; i++) {
            getcontext(&contexts[i]);
            contexts[i].uc_stack.ss_sp = stacks[i];
            contexts[i].uc_stack.ss_size = sizeof stacks[i];
            contexts[i].uc_link = &main_context;
            makecontext(&contexts[i], reinterpret_cast<void (*)()>(coroutine), 1, i);
        }
        for (int round = 0; round <= 100; round++)
            for (auto& context : contexts)
                swapcontext(&main_context, &context);
        sum = total;
    }
    std::printf("%ld\n", static_cast<long>(sum));
    return 4;
}
