// Ways to leave a function other than by return, again and again. argv[1] is the way, argv[2] how often.
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

static volatile long sum;

__attribute__((noinline)) long work(long i) {
    __asm__ volatile("" : "+r"(i));
    sum += i;
    return i * 3 + 1;
}

static jmp_buf back;
static sigjmp_buf signal_back;

__attribute__((noipa)) long leaf(long i) {
    work(i);
    if (i % 2 == 0) longjmp(back, 1);
    return i;
}

__attribute__((noipa)) long middle(long i, int depth) {
    long below = depth == 0 ? leaf(i) : middle(i, depth - 1);
    __asm__ volatile("" : "+r"(below));
    return below + 1;
}

static long jumps(long count) {
    volatile long returned = 0;
    for (volatile long i = 0; i < count; ++i)
        if (setjmp(back) == 0) {
            middle(i, (int)(i % 5));
            ++returned;
        }
    return returned;
}

static void on_signal(int number) {
    (void)number;
    work(1);
    siglongjmp(signal_back, 1);
}

__attribute__((noipa)) long interrupted(long i) {
    raise(SIGUSR1);
    return i;
}

static long signal_jumps(long count) {
    volatile long jumped = 0;
    stack_t other = {malloc(1 << 16), 0, 1 << 16};
    sigaltstack(&other, NULL);
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    action.sa_flags = SA_ONSTACK;
    sigaction(SIGUSR1, &action, NULL);
    for (volatile long i = 0; i < count; ++i) {
        if (sigsetjmp(signal_back, 1) == 0)
            interrupted(i);
        else
            ++jumped;
    }
    return jumped;
}

// Coroutines: each switches back to main in the middle of `step`, and goes on in it later.
enum { kCoroutines = 8 };
static ucontext_t main_context, contexts[kCoroutines];
static int current;

__attribute__((noipa)) long step(long i) {
    work(i);
    swapcontext(&contexts[current], &main_context);
    work(i + 1);
    return i;
}

static void coroutine(void) {
    for (long i = 0;; ++i)
        sum += step(i);
}

static long coroutines(long count) {
    for (int i = 0; i < kCoroutines; ++i) {
        getcontext(&contexts[i]);
        contexts[i].uc_stack.ss_sp = malloc(1 << 16);
        contexts[i].uc_stack.ss_size = 1 << 16;
        contexts[i].uc_link = NULL;
        makecontext(&contexts[i], coroutine, 0);
    }
    for (long i = 0; i < count; ++i) {
        current = (int)((i * 5 + i / 7) % kCoroutines);
        swapcontext(&main_context, &contexts[current]);
    }
    return sum;
}

__attribute__((noipa)) void exits(int status) {
    work(5);
    quick_exit(status);
}

static pthread_key_t key;

static void destroy(void* data) {
    work((long)data);
    if ((long)data > 1) pthread_setspecific(key, (void*)((long)data - 1));
}

static void* with_destructor(void* data) {
    pthread_setspecific(key, data);
    work(1);
    return NULL;
}

// Each thread calls work once, and a destructor three times more.
static long destructors(long count) {
    pthread_key_create(&key, destroy);
    for (long i = 0; i < count; ++i) {
        pthread_t thread;
        pthread_create(&thread, NULL, with_destructor, (void*)3);
        pthread_join(thread, NULL);
    }
    return sum;
}

int main(int arguments, char** words) {
    const char* way = words[1];
    const long count = arguments > 2 ? atol(words[2]) : 1;
    long result = 0;
    if (strcmp(way, "longjmp") == 0) result = jumps(count);
    if (strcmp(way, "siglongjmp") == 0) result = signal_jumps(count);
    if (strcmp(way, "coroutines") == 0) result = coroutines(count);
    if (strcmp(way, "destructors") == 0) result = destructors(count);
    printf("%ld %ld\n", result, sum);
    fflush(stdout);
    if (strcmp(way, "quick_exit") == 0) exits(6);
    return 0;
}
