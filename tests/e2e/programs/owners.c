// Who has the lock that others wait for: `owners WHAT MILLISECONDS`.
//
//   keeper   a thread has it in flush_cache(), and sleeps there; two others look things up
//   workers  three threads have it one after the other, in add_under_lock()
//   barrier  two threads meet a third one, which comes late, as it is in compute_long(), at a barrier
//   chain    two threads wait for `outer`, whose owner waits in update() for `inner`, which a third one has in write_out()
//   condition  two threads wait for what a third one makes in make_item(), and signals
//   signallers one thread waits for what two others make
//   broadcast  three threads wait for a fourth one, which decides in plan_round()
//   semaphore  two threads wait for what a third one makes, and posts
//   writer   a thread has the read-write lock `table` for writing, in rebuild(); two others read
//   readers  a thread has it for reading, in scan(), another one hardly; a third one writes
//   own      a thread has the program's own lock `own_lock` in flush_cache(), which two others take, all by take() and give()
//   spin     a thread has the spin lock in hold_long(); another one spins
//
// It prints the tid of each thread, and for how many milliseconds it waited, measured by itself.
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "pastime.h"

static pthread_mutex_t outer = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t inner = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t barrier;
static pthread_mutex_t items_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static unsigned items, round_number;
static sem_t posted;
static pthread_rwlock_t table = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spinning;
static atomic_bool over, ending;

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

/// One call site for all who come.
NOINLINE static void meet(uint64_t* waited) {
    const uint64_t begin = now();
    pthread_barrier_wait(&barrier);
    *waited += now() - begin;
}

NOINLINE void compute_long(void) {
    static unsigned round;
    rest(++round % 4 == 0 ? 1000 : 5000);
    __asm__ volatile("" ::: "memory");
}

// Whether a round is the last one, of this round and of the one before: who comes late writes of a round only when all have left
// the one before, so that whoever is slow to leave a round still reads what was written of it.
static bool last_round[2];
static _Thread_local unsigned own_round;

static bool come_late(uint64_t* waited) {
    compute_long();
    bool* last = &last_round[own_round++ % 2];
    const bool ends = *last = over;
    meet(waited);
    return !ends;
}

static bool come(uint64_t* waited) {
    compute(2000);
    meet(waited);
    return !last_round[own_round++ % 2];
}

NOINLINE void make_item(void) {
    static atomic_uint round;
    rest(++round % 4 == 0 ? 500 : 2000);
    __asm__ volatile("" ::: "memory");
}

static bool make(uint64_t* waited) {
    (void)waited;
    make_item();
    pthread_mutex_lock(&items_lock);
    // At the end nobody is to wait any more.
    const bool last = over;
    items += last ? 1000 : 1;
    if (last)
        pthread_cond_broadcast(&filled);
    else
        pthread_cond_signal(&filled);
    pthread_mutex_unlock(&items_lock);
    return !last;
}

static bool use(uint64_t* waited) {
    pthread_mutex_lock(&items_lock);
    const uint64_t begin = now();
    while (items == 0)
        pthread_cond_wait(&filled, &items_lock);
    *waited += now() - begin;
    --items;
    pthread_mutex_unlock(&items_lock);
    compute(2000);
    return !over;
}

NOINLINE void plan_round(void) {
    static unsigned round;
    rest(++round % 4 == 0 ? 500 : 3000);
    __asm__ volatile("" ::: "memory");
}

static bool direct(uint64_t* waited) {
    (void)waited;
    plan_round();
    pthread_mutex_lock(&items_lock);
    ++round_number;
    ending = over;
    pthread_cond_broadcast(&filled);
    pthread_mutex_unlock(&items_lock);
    return !ending;
}

static bool follow(uint64_t* waited) {
    pthread_mutex_lock(&items_lock);
    const unsigned before = round_number;
    const uint64_t begin = now();
    while (round_number == before && !ending)
        pthread_cond_wait(&filled, &items_lock);
    *waited += now() - begin;
    pthread_mutex_unlock(&items_lock);
    compute(2000);
    return !ending;
}

static bool post(uint64_t* waited) {
    (void)waited;
    make_item();
    const bool last = over;
    for (unsigned i = 0; i < (last ? 1000u : 1u); ++i)
        sem_post(&posted);
    return !last;
}

static bool take_item(uint64_t* waited) {
    const uint64_t begin = now();
    sem_wait(&posted);
    *waited += now() - begin;
    compute(2000);
    return !over;
}

NOINLINE void rebuild(void) {
    rest(2000);
    __asm__ volatile("" ::: "memory");
}

NOINLINE void scan(void) {
    rest(3000);
    __asm__ volatile("" ::: "memory");
}

static bool write_table(uint64_t* waited) {
    const uint64_t begin = now();
    pthread_rwlock_wrlock(&table);
    *waited += now() - begin;
    rebuild();
    pthread_rwlock_unlock(&table);
    rest(1000);
    return !over;
}

static bool read_table(uint64_t* waited) {
    const uint64_t begin = now();
    pthread_rwlock_rdlock(&table);
    *waited += now() - begin;
    compute(200);
    pthread_rwlock_unlock(&table);
    rest(50);
    return !over;
}

static bool scan_table(uint64_t* waited) {
    (void)waited;
    pthread_rwlock_rdlock(&table);
    scan();
    pthread_rwlock_unlock(&table);
    rest(500);
    return !over;
}

static bool change_table(uint64_t* waited) {
    const uint64_t begin = now();
    pthread_rwlock_wrlock(&table);
    *waited += now() - begin;
    compute(200);
    pthread_rwlock_unlock(&table);
    rest(200);
    return !over;
}

static atomic_int own_lock;

NOINLINE void take(atomic_int* lock) {
    int free = 0;
    while (!atomic_compare_exchange_strong(lock, &free, 1)) {
        syscall(SYS_futex, lock, FUTEX_WAIT_PRIVATE, 1, NULL, NULL, 0);
        free = 0;
    }
}

NOINLINE void give(atomic_int* lock) {
    atomic_store(lock, 0);
    syscall(SYS_futex, lock, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static bool keep_own(uint64_t* waited) {
    (void)waited;
    take(&own_lock);
    flush_cache();
    give(&own_lock);
    rest(1000);
    return !over;
}

static bool look_own(uint64_t* waited) {
    const uint64_t begin = now();
    take(&own_lock);
    *waited += now() - begin;
    compute(200);
    give(&own_lock);
    rest(50);
    return !over;
}

NOINLINE void hold_long(void) {
    compute(400000);
    __asm__ volatile("" ::: "memory");
}

static bool hold(uint64_t* waited) {
    (void)waited;
    pthread_spin_lock(&spinning);
    hold_long();
    pthread_spin_unlock(&spinning);
    rest(500);
    return !over;
}

static bool spin(uint64_t* waited) {
    const uint64_t begin = now();
    pthread_spin_lock(&spinning);
    *waited += now() - begin;
    pthread_spin_unlock(&spinning);
    rest(100);
    return !over;
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
    if (count != 3 || pthread_barrier_init(&barrier, NULL, 3) != 0 || sem_init(&posted, 0, 0) != 0 ||
        pthread_spin_init(&spinning, PTHREAD_PROCESS_PRIVATE) != 0)
        return 2;
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
        {"condition",
         {{.step = make, .name = "maker"}, {.step = use, .name = "user"}, {.step = use, .name = "user"}}},
        {"signallers",
         {{.step = make, .name = "maker"}, {.step = make, .name = "maker"}, {.step = use, .name = "user"}}},
        {"broadcast",
         {{.step = direct, .name = "director"},
          {.step = follow, .name = "follower"},
          {.step = follow, .name = "follower"},
          {.step = follow, .name = "follower"}}},
        {"semaphore",
         {{.step = post, .name = "poster"},
          {.step = take_item, .name = "taker"},
          {.step = take_item, .name = "taker"}}},
        {"writer",
         {{.step = write_table, .name = "writer"},
          {.step = read_table, .name = "reader"},
          {.step = read_table, .name = "reader"}}},
        {"readers",
         {{.step = scan_table, .name = "scanner"},
          {.step = read_table, .name = "reader"},
          {.step = change_table, .name = "changer"}}},
        {"own",
         {{.step = keep_own, .name = "keeper"},
          {.step = look_own, .name = "reader"},
          {.step = look_own, .name = "reader"}}},
        {"spin", {{.step = hold, .name = "holder"}, {.step = spin, .name = "spinner"}}},
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
