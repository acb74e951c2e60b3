// Who has the lock that others wait for: `owners WHAT MILLISECONDS`.
//
//   keeper   a thread has it in flush_cache(), and sleeps there; two others look things up
//   workers  three threads have it one after the other, in add_under_lock()
//   barrier  two threads meet a third one, which comes late, as it is in compute_long(), at a barrier
//   chain    two threads wait for `outer`, whose owner waits in update() for `inner`, which a third one has in write_out()
//
// It prints the tid of each thread, and for how many milliseconds it waited, measured by itself.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t outer = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t inner = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t barrier;
static atomic_bool over, ending;
static volatile uint64_t sum;

static uint64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void rest(long microseconds) {
    const struct timespec time = {0, microseconds * 1000};
    nanosleep(&time, NULL);
}

static void compute(unsigned rounds) {
    for (unsigned i = 0; i < rounds; ++i)
        sum = sum * 3 + i;
}

#define NOINLINE __attribute__((noinline))

NOINLINE void lock_timed(pthread_mutex_t* mutex, uint64_t* waited) {
    const uint64_t begin = now();
    pthread_mutex_lock(mutex);
    *waited += now() - begin;
}

NOINLINE void flush_cache(void) {
    rest(2000);
    __asm__ volatile("" ::: "memory");
}

NOINLINE void look_up(uint64_t* waited) {
    lock_timed(&outer, waited);
    compute(200);
    pthread_mutex_unlock(&outer);
}

NOINLINE void add_under_lock(uint64_t* waited) {
    lock_timed(&outer, waited);
    compute(20000);
    rest(100);
    pthread_mutex_unlock(&outer);
}

NOINLINE void write_out(void) {
    rest(3000);
    __asm__ volatile("" ::: "memory");
}

NOINLINE void update(uint64_t* waited) {
    lock_timed(&outer, waited);
    lock_timed(&inner, waited);
    compute(200);
    pthread_mutex_unlock(&inner);
    pthread_mutex_unlock(&outer);
}

static bool keep(uint64_t* waited) {
    lock_timed(&outer, waited);
    flush_cache();
    pthread_mutex_unlock(&outer);
    rest(1000);
    return !over;
}

static bool look(uint64_t* waited) {
    look_up(waited);
    rest(50);
    return !over;
}

static bool add(uint64_t* waited) {
    add_under_lock(waited);
    rest(10);
    return !over;
}

static bool change(uint64_t* waited) {
    update(waited);
    rest(100);
    return !over;
}

static bool write_in_turn(uint64_t* waited) {
    lock_timed(&inner, waited);
    write_out();
    pthread_mutex_unlock(&inner);
    rest(500);
    return !over;
}

static void meet(uint64_t* waited) {
    const uint64_t begin = now();
    pthread_barrier_wait(&barrier);
    *waited += now() - begin;
}

NOINLINE void compute_long(void) {
    static unsigned round;
    rest(++round % 4 == 0 ? 1000 : 5000);
    __asm__ volatile("" ::: "memory");
}

static bool come_late(uint64_t* waited) {
    compute_long();
    ending = over;
    meet(waited);
    return !ending;
}

static bool come(uint64_t* waited) {
    compute(2000);
    meet(waited);
    return !ending;
}

struct Worker {
    pthread_t thread;
    bool (*step)(uint64_t*);
    const char* name;
    long tid;
    uint64_t waited;
};

static void* work(void* argument) {
    struct Worker* worker = argument;
    worker->tid = syscall(SYS_gettid);
    pthread_setname_np(pthread_self(), worker->name);
    while (worker->step(&worker->waited))
        continue;
    return NULL;
}

int main(int count, char** arguments) {
    if (count != 3 || pthread_barrier_init(&barrier, NULL, 3) != 0) return 2;
    static const struct Plan {
        const char* name;
        struct Worker workers[4];
    } plans[] = {
        {"keeper",
         {{.step = keep, .name = "keeper"},
          {.step = look, .name = "reader"},
          {.step = look, .name = "reader"}}},
        {"workers",
         {{.step = add, .name = "adder"}, {.step = add, .name = "adder"}, {.step = add, .name = "adder"}}},
        {"barrier",
         {{.step = come_late, .name = "late"},
          {.step = come, .name = "early"},
          {.step = come, .name = "early"}}},
        {"chain",
         {{.step = write_in_turn, .name = "writer"},
          {.step = change, .name = "updater"},
          {.step = look, .name = "reader"},
          {.step = look, .name = "reader"}}},
    };
    for (size_t i = 0; i < sizeof plans / sizeof plans[0]; ++i) {
        if (strcmp(plans[i].name, arguments[1]) != 0) continue;
        struct Plan plan = plans[i];
        for (size_t w = 0; w < 4 && plan.workers[w].step != NULL; ++w)
            pthread_create(&plan.workers[w].thread, NULL, work, &plan.workers[w]);
        rest(1000 * strtol(arguments[2], NULL, 10) % 1000000);
        sleep((unsigned)(strtol(arguments[2], NULL, 10) / 1000));
        over = true;
        for (size_t w = 0; w < 4 && plan.workers[w].step != NULL; ++w) {
            pthread_join(plan.workers[w].thread, NULL);
            printf("%s %ld %.1f\n", plan.workers[w].name, plan.workers[w].tid,
                   (double)plan.workers[w].waited / 1e6);
        }
        return 0;
    }
    return 2;
}
