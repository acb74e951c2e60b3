// Calls on stacks of their own, which the program measures itself. `step` works 1 ms, gives way to the other
// fibers, and works 1 ms again, so that it lasts from its begin to its end as long as all of them work in
// between.
//
//   fibers turns|hand THREADS FIBERS CALLS
//
// turns: by swapcontext(); with several threads each takes whichever fiber is next, so that fibers go from
// thread to thread. hand: by a switch written by hand. Every call's duration is printed, in nanoseconds.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>

enum { STACK = 128 << 10, MOST = 1024 };

struct fiber {
    ucontext_t context;
    void* stack_pointer;  // by hand
    struct fiber* next;
    long* durations;
    int done;
};

struct thread {
    ucontext_t context;
    void* stack_pointer;
    struct fiber* now;
};

static struct fiber fibers[MOST];
static struct fiber *first, *last;
static int threads, count, calls, living, by_hand;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static __thread struct thread self;

/// A fiber may go on in another thread: the compiler must not keep an address in it.
static __attribute__((noinline)) struct thread* me(void) {
    __asm__ volatile("");
    return &self;
}

void change(void** from, void* to);
__asm__(
    ".text\n.globl change\n.type change,@function\nchange:\n"
    " push %rbp\n push %rbx\n push %r12\n push %r13\n push %r14\n push %r15\n"
    " mov %rsp,(%rdi)\n mov %rsi,%rsp\n"
    " pop %r15\n pop %r14\n pop %r13\n pop %r12\n pop %rbx\n pop %rbp\n ret\n.size change,.-change\n");

static long now_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000L + time.tv_nsec;
}

static void work(long ns) {
    const long until = now_ns() + ns;
    while (now_ns() < until) {
    }
}

static void give_way(void) {
    struct fiber* fiber = me()->now;
    if (by_hand)
        change(&fiber->stack_pointer, me()->stack_pointer);
    else
        swapcontext(&fiber->context, &me()->context);
}

__attribute__((noinline)) long step(long number) {
    work(1000000);
    give_way();
    work(1000000);
    return number;
}

static void run(void) {
    struct fiber* fiber = me()->now;
    for (long i = 0; i < calls; ++i) {
        const long begin = now_ns();
        step(i);
        fiber->durations[i] = now_ns() - begin;
    }
    fiber->done = 1;
    for (;;)
        give_way();
}

static struct fiber* take(void) {
    pthread_mutex_lock(&lock);
    struct fiber* fiber = first;
    if (fiber != NULL) first = fiber->next;
    if (first == NULL) last = NULL;
    pthread_mutex_unlock(&lock);
    return fiber;
}

static void put_back(struct fiber* fiber) {
    pthread_mutex_lock(&lock);
    if (fiber->done)
        --living;
    else {
        fiber->next = NULL;
        if (last != NULL)
            last->next = fiber;
        else
            first = fiber;
        last = fiber;
    }
    pthread_mutex_unlock(&lock);
}

static void* serve(void* unused) {
    (void)unused;
    while (__atomic_load_n(&living, __ATOMIC_ACQUIRE) > 0) {
        struct fiber* fiber = take();
        if (fiber == NULL) continue;
        me()->now = fiber;
        if (by_hand)
            change(&me()->stack_pointer, fiber->stack_pointer);
        else
            swapcontext(&me()->context, &fiber->context);
        put_back(fiber);
    }
    return NULL;
}

int main(int argc, char** argv) {
    if (argc != 5) return 2;
    by_hand = strcmp(argv[1], "hand") == 0;
    threads = atoi(argv[2]);
    count = living = atoi(argv[3]);
    calls = atoi(argv[4]);
    if (count > MOST) return 2;
    for (int i = 0; i < count; ++i) {
        struct fiber* fiber = &fibers[i];
        fiber->durations = calloc(calls, sizeof(long));
        char* stack = malloc(STACK);
        if (by_hand) {
            void** top = (void**)(((unsigned long)stack + STACK) & ~15UL);
            *--top = 0;
            *--top = (void*)run;
            fiber->stack_pointer = top - 6;
        } else {
            getcontext(&fiber->context);
            fiber->context.uc_stack.ss_sp = stack;
            fiber->context.uc_stack.ss_size = STACK;
            makecontext(&fiber->context, run, 0);
        }
        fiber->next = i + 1 < count ? &fibers[i + 1] : NULL;
    }
    first = &fibers[0];
    last = &fibers[count - 1];
    pthread_t workers[64];
    for (int i = 1; i < threads; ++i)
        pthread_create(&workers[i], NULL, serve, NULL);
    serve(NULL);
    for (int i = 1; i < threads; ++i)
        pthread_join(workers[i], NULL);
    for (int i = 0; i < count; ++i)
        for (int k = 0; k < calls; ++k)
            printf("%ld\n", fibers[i].durations[k]);
    return 0;
}
