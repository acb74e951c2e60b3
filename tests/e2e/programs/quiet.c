// quiet FUNCTION WARM_UP CALLS THREADS: in THREADS threads, one after the other, calls a function WARM_UP
// times and then CALLS times; prints what happened meanwhile, a line for each thread: the page faults of the
// CALLS. Around them it makes system calls of its own, for a tracer to see: getppid before, getpgrp behind.
// FUNCTION is plain, three, shadow or lock (a mutex, taken and given back). `quiet touch PAGES 0 1` counts
// the faults of fresh pages instead.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define KEPT __attribute__((noipa))

KEPT void plain(void) {
    __asm__ volatile("");
}
KEPT int three(int a, int b, int c) {
    __asm__ volatile("" : : "r"(a), "r"(b), "r"(c));
    return a;
}
KEPT int shadow(int a, ...) {
    __asm__ volatile("" : : "r"(a));
    return a;
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static const char* function;
static long warm_up, calls;

static long faults(void) {
    struct rusage usage;
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_minflt + usage.ru_majflt;
}

static void call(long times) {
    if (!strcmp(function, "plain"))
        for (long i = 0; i < times; ++i)
            plain();
    else if (!strcmp(function, "three"))
        for (long i = 0; i < times; ++i)
            three(1, 2, (int)i);
    else if (!strcmp(function, "shadow"))
        for (long i = 0; i < times; ++i)
            shadow(1, 2, (int)i);
    else if (!strcmp(function, "lock"))
        for (long i = 0; i < times; ++i) {
            pthread_mutex_lock(&mutex);
            pthread_mutex_unlock(&mutex);
        }
}

static void touch(long pages) {
    char* memory =
        mmap(NULL, (size_t)pages * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    madvise(memory, (size_t)pages * 4096, MADV_NOHUGEPAGE);
    for (long i = 0; i < pages; ++i)
        memory[i * 4096] = 1;
}

static void* run(void* result) {
    // One place of call for both, or the second would be new to the recorder.
    for (int turn = 0; turn < 2; ++turn) {
        const long before = faults();
        if (turn == 1) syscall(SYS_getppid);
        call(turn == 0 ? warm_up : calls);
        if (turn == 1 && !strcmp(function, "touch")) touch(warm_up);
        if (turn == 1) syscall(SYS_getpgrp);
        *(long*)result = faults() - before;
    }
    return NULL;
}

int main(int count, char** arguments) {
    if (count != 5) return 2;
    function = arguments[1];
    warm_up = atol(arguments[2]);
    calls = atol(arguments[3]);
    long result = 0;
    for (int i = 0; i < atoi(arguments[4]); ++i) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, run, &result) != 0) return 1;
        pthread_join(thread, NULL);
        printf("%ld\n", result);
    }
    return 0;
}
