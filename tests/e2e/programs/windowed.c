// A small function that is called far too often to record every call, and one that is rare and slow. Prints
// how often each was entered.
//   windowed marked CALLS THREADS   threads that make CALLS calls each
//   windowed forks CALLS            a process, and then its child, which prints first
//   windowed changes CALLS          the small function is another one in the second half
//   windowed exits CALLS            a thread that ends by pthread_exit
//   windowed stays CALLS            a thread that still lives when the program ends
//   windowed vforks CALLS           a process whose child calls the small function on its maker's storage
//   windowed killed CALLS           a process that ends by SIGKILL
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kSteps = 60, kRare = 20000 };

static atomic_ulong leaves, others, slows;
static atomic_ulong sum;

#define FUNCTION __attribute__((noinline, noclone))

static unsigned long steps(unsigned long x, int count) {
    for (int i = 0; i < count; ++i)
        x = x * 6364136223846793005u + 1442695040888963407u;
    return x;
}

FUNCTION unsigned long leaf(unsigned long x) {
    return steps(x, kSteps);
}

FUNCTION unsigned long other(unsigned long x) {
    return steps(x + 1, kSteps);
}

FUNCTION unsigned long slow(unsigned long x) {
    atomic_fetch_add(&slows, 1);
    return steps(leaf(x), 1000);
}

static unsigned long run(unsigned long (*small)(unsigned long), atomic_ulong* counter, unsigned long calls) {
    unsigned long x = calls, rare = 0;
    for (unsigned long i = 0; i < calls; ++i) {
        x = small(x);
        if (i % kRare != 0) continue;
        x = slow(x);
        ++rare;
    }
    atomic_fetch_add(counter, calls);
    atomic_fetch_add(&leaves, rare);
    return x;
}

static void* thread_of(void* calls) {
    atomic_fetch_add(&sum, run(leaf, &leaves, *(unsigned long*)calls));
    return NULL;
}

static void* exiting(void* calls) {
    pthread_exit(thread_of(calls));
}

static atomic_int done;

static void* staying(void* calls) {
    thread_of(calls);
    atomic_store(&done, 1);
    for (;;)
        pause();
}

static int in_vfork_child(void) {
    const pid_t child = vfork();
    if (child == 0) {
        for (unsigned long i = 0; i < kRare; ++i)
            leaf(i);
        _exit(0);
    }
    int status = 0;
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

static void print_counts(void) {
    printf("%lu leaf %lu other %lu slow %lu\n", atomic_load(&sum), atomic_load(&leaves), atomic_load(&others),
           atomic_load(&slows));
    fflush(stdout);
}

static void run_threads(unsigned long calls, int threads) {
    pthread_t all[16];
    for (int i = 0; i < threads; ++i)
        pthread_create(&all[i], NULL, thread_of, &calls);
    for (int i = 0; i < threads; ++i)
        pthread_join(all[i], NULL);
}

int main(int count, char** words) {
    if (count < 3) return 2;
    unsigned long calls = strtoul(words[2], NULL, 10);
    if (strcmp(words[1], "marked") == 0) {
        run_threads(calls, count > 3 ? atoi(words[3]) : 1);
    } else if (strcmp(words[1], "changes") == 0) {
        atomic_fetch_add(&sum, run(leaf, &leaves, calls) + run(other, &others, calls));
    } else if (strcmp(words[1], "exits") == 0) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, exiting, &calls) != 0) return 1;
        pthread_join(thread, NULL);
    } else if (strcmp(words[1], "stays") == 0) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, staying, &calls) != 0) return 1;
        while (!atomic_load(&done))
            usleep(1000);
    } else if (strcmp(words[1], "vforks") == 0) {
        thread_of(&calls);
        if (!in_vfork_child()) return 1;
        thread_of(&calls);
    } else if (strcmp(words[1], "killed") == 0) {
        thread_of(&calls);
        print_counts();
        kill(getpid(), SIGKILL);
    } else if (strcmp(words[1], "forks") == 0) {
        thread_of(&calls);
        const pid_t child = fork();
        if (child == 0) {
            atomic_store(&leaves, 0);
            atomic_store(&slows, 0);
            thread_of(&calls);
        } else {
            int status = 0;
            if (waitpid(child, &status, 0) != child || status != 0) return 1;
        }
    }
    print_counts();
    return 0;
}
