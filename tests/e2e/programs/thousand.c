// A thousand functions, each called far too often to record it, by two threads at a time; then a thread of its own, behind
// its last destructor, and a child, a few times. Prints how often each was called before that. A timer looks
// whether the stack can be walked from wherever it interrupts a call.
//   thousand ROUNDS
#define _GNU_SOURCE
#include <execinfo.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define TEN(X, n) X(n##0) X(n##1) X(n##2) X(n##3) X(n##4) X(n##5) X(n##6) X(n##7) X(n##8) X(n##9)
#define HUNDRED(X, n) \
    TEN(X, n##0)      \
    TEN(X, n##1)      \
    TEN(X, n##2) TEN(X, n##3) TEN(X, n##4) TEN(X, n##5) TEN(X, n##6) TEN(X, n##7) TEN(X, n##8) TEN(X, n##9)
#define THOUSAND(X) \
    HUNDRED(X, 0)   \
    HUNDRED(X, 1)   \
    HUNDRED(X, 2)   \
    HUNDRED(X, 3) HUNDRED(X, 4) HUNDRED(X, 5) HUNDRED(X, 6) HUNDRED(X, 7) HUNDRED(X, 8) HUNDRED(X, 9)

static __thread unsigned long sum;

#define DEFINE(n)                                             \
    __attribute__((noinline)) void f##n(unsigned long more) { \
        sum = sum * 3 + more + 1;                             \
    }
THOUSAND(DEFINE)

#define NAME(n) f##n,
static void (*const functions[])(unsigned long) = {THOUSAND(NAME)};
enum { kFunctions = sizeof functions / sizeof functions[0] };

static unsigned long calls[kFunctions];
static atomic_ulong walked, lost;
static char* root_low;
static pthread_key_t key;

// Function f once, and f / 8 times more.
__attribute__((noinline, noclone)) void root(unsigned long rounds) {
    for (unsigned long round = 0; round < rounds; ++round)
        for (unsigned f = 0; f < kFunctions; ++f)
            for (unsigned i = 0; i <= f / 8; ++i)
                functions[f](round);
    __asm__ volatile("");
}

static void walk(int signal) {
    (void)signal;
    enum { kDepth = 32 };
    void* stack[kDepth];
    const int depth = backtrace(stack, kDepth);
    int found = 0;
    for (int i = 0; i < depth; ++i)
        found |= (char*)stack[i] > root_low && (char*)stack[i] < root_low + 512;
    atomic_fetch_add(found ? &walked : &lost, 1);
}

static void add(unsigned long rounds) {
    for (unsigned f = 0; f < kFunctions; ++f)
        __atomic_fetch_add(&calls[f], rounds * (f / 8 + 1), __ATOMIC_RELAXED);
}

static void* run(void* rounds) {
    sigset_t timer;
    sigemptyset(&timer);
    sigaddset(&timer, SIGPROF);
    pthread_sigmask(SIG_BLOCK, &timer, NULL);
    root(*(unsigned long*)rounds);
    add(*(unsigned long*)rounds);
    return NULL;
}

// Four rounds of destructors. In the last one the recorder has told the thread's end: what is called then may be counted.
static void behind(void* left) {
    if ((long)left > 1) {
        pthread_setspecific(key, (char*)left - 1);
        add(1);
    }
    root(1);
}

static void* ends(void* data) {
    pthread_setspecific(key, (void*)4L);
    return run(data);
}

int main(int argc, char** argv) {
    unsigned long rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 1, one = 1;
    pthread_t other, last;
    void* warm[1];
    backtrace(warm, 1);  // loads the unwinder
    root_low = (char*)root;
    pthread_key_create(&key, behind);
    pthread_create(&other, NULL, run, &rounds);
    struct sigaction action = {.sa_handler = walk};
    sigaction(SIGPROF, &action, NULL);
    const struct itimerval often = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
    setitimer(ITIMER_PROF, &often, NULL);
    root(rounds);
    setitimer(ITIMER_PROF, &never, NULL);
    add(rounds);
    pthread_join(other, NULL);
    pthread_create(&last, NULL, ends, &one);
    pthread_join(last, NULL);
    for (unsigned f = 0; f < kFunctions; ++f)
        printf("%lu ", calls[f]);
    printf("\n%lu %lu\n", atomic_load(&walked), atomic_load(&lost));
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        root(1);
        exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 3;
}
