// Two threads call work while a timer's signals call it too, on an alternate stack; the program counts all of
// it.
//   signals CALLS      the handlers of SIGSEGV and SIGTRAP are the program's own, and are used
//   signals ending THREADS  so many short threads, one after the other, which alone get the signals
//   signals kept FILE  calls for ever; FILE holds how many calls have returned
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

static unsigned long entered;
static volatile unsigned long handled;
static sigjmp_buf back;

__attribute__((noinline)) long work(long i) {
    __atomic_fetch_add(&entered, 1, __ATOMIC_RELAXED);
    return i * 3 + 1;
}

__attribute__((noinline)) double scaled(double x, long n, const char* text) {
    __asm__ volatile("" : "+x"(x));
    return x * (double)(n + text[0]);
}

static void on_timer(int number) {
    (void)number;
    ++handled;
    for (int i = 0; i < 3; ++i)
        work(i);
}

static void on_fault(int number) {
    work(number);
    siglongjmp(back, 1);
}

static void on_trap(int number) {
    work(number);
}

static void handle(int number, void (*handler)(int)) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = SA_ONSTACK | SA_RESTART;
    sigaction(number, &action, NULL);
}

static void* run(void* data) {
    stack_t other = {malloc(1 << 16), 0, 1 << 16};
    sigaltstack(&other, NULL);
    const long calls = *(long*)data;
    double sum = 0;
    for (long i = 0; i < calls; ++i)
        sum += scaled(1.5, work(i), "text");
    __asm__ volatile("" : : "x"(sum));
    return NULL;
}

static void keep(const char* path) {
    const int fd = open(path, O_RDWR | O_CREAT, 0600);
    if (fd < 0 || ftruncate(fd, 4096) != 0) exit(1);
    volatile unsigned long* returned = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    for (;;) {
        work(1);
        ++*returned;
    }
}

static void* end_soon(void* data) {
    const sigset_t* signals = data;
    pthread_sigmask(SIG_UNBLOCK, signals, NULL);
    work(1);
    return NULL;
}

static int start_and_end(long threads) {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    handle(SIGALRM, on_timer);
    const struct itimerval often = {{0, 100}, {0, 100}};
    setitimer(ITIMER_REAL, &often, NULL);
    for (long i = 0; i < threads; ++i) {
        pthread_t thread;
        pthread_create(&thread, NULL, end_soon, &signals);
        pthread_join(thread, NULL);
    }
    printf("%lu %lu\n", entered, handled);
    return 0;
}

int main(int count, char** words) {
    if (count > 2 && strcmp(words[1], "ending") == 0) return start_and_end(atol(words[2]));
    if (count > 2) keep(words[2]);
    long calls = atol(words[1]);
    handle(SIGPROF, on_timer);
    handle(SIGSEGV, on_fault);
    handle(SIGTRAP, on_trap);
    const struct itimerval often = {{0, 1000}, {0, 1000}};
    setitimer(ITIMER_PROF, &often, NULL);
    pthread_t thread;
    pthread_create(&thread, NULL, run, &calls);
    run(&calls);
    pthread_join(thread, NULL);
    const struct itimerval never = {{0, 0}, {0, 0}};
    setitimer(ITIMER_PROF, &never, NULL);
    for (volatile int i = 0; i < 10; ++i) {
        if (sigsetjmp(back, 1) == 0) *(volatile int*)8 = 1;
        __asm__ volatile("int3");
    }
    printf("%lu %d\n", entered, handled > 10);
    return 0;
}
