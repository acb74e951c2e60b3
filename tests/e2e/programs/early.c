// A library whose constructor starts threads, one that is to be initialized before all others, and a program
// of both. It prints how often work() was called, and how often before the first thread.
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

enum { kThreads = 2, kCalls = 20000 };

#if defined(STARTS_THREADS)
static long calls, calls_before;
static pthread_t threads[kThreads];

__attribute__((noinline, visibility("default"))) long work(long n) {
    __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);
    return n * 3;
}

static void* run(void* argument) {
    for (long i = 0; i < kCalls; i++)
        work(i);
    return argument;
}

__attribute__((constructor)) static void start(void) {
    work(1);
    calls_before = calls;
    for (int i = 0; i < kThreads; i++)
        pthread_create(threads + i, NULL, run, NULL);
    usleep(1000);  // they are amid their calls when the next constructors run
}

void finish(void) {
    for (int i = 0; i < kThreads; i++)
        pthread_join(threads[i], NULL);
    printf("%ld calls, %ld of them before the threads\n", calls, calls_before);
}
#elif defined(IS_FIRST)
static long is_initialized;
__attribute__((constructor)) static void start(void) {
    is_initialized = 1;
}
long first(void) {
    return is_initialized;
}
#else
long first(void);
long work(long n);
void finish(void);
int main(void) {
    if (first()) work(2);
    finish();
    return 0;
}
#endif
