// Who waits for whom, measured by the program itself: `holders WHAT MILLISECONDS`.
//
//   convoy     four threads have a lock one after the other, for a short time each
//   inversion  `low` has the lock that `urgent` wants, and `middle` keeps it off the one processor that they share
//   disk       a thread has the lock while it reads what a slow process answers; another one waits for it
//   producers  a producer waits until there is room, which a slow consumer makes; both by condition variables
//   pool       three threads wait until one of two threads of a pool has done what they asked for
//   handover   what one thread has locked, another one unlocks; a third one waits
//   recursive  a thread has the lock twice; another one waits
//   robust     likewise, but for a robust lock that it has once
//   inherits   … for a priority-inheriting lock
//   twice      … for a robust lock that it has twice; twice_inherits: for a priority-inheriting one
//   died       likewise, but each owner ends without giving it back; who comes next repairs it first
//   unseen     a robust lock is taken by who waits for a condition, and by who tries; one waits, and another one hardly has it;
//              unseen_inherits: a priority-inheriting one
//   often      as robust, and a third thread has a robust lock of its own as often as it can
//   orders     two threads take two locks in two orders, the second one only if it is free; a third one takes one of them
//   tried      a thread that has only tried has the read-write lock; one waits, and another one tries again and again
//   timed      two wait for a certain time only, for a read-write lock and for a condition
//   crier      a thread tells another one that waits, after it has told nobody a hundred thousand times
//   giving_up  one waits for a lock for a certain time only, another one for as long as it takes
//   futex      as robust, but for a lock that the program has built itself, of a futex
//   gate       two wait at a gate, a futex as well, until a third one opens it for all; a fourth one does so for itself
//   join       a thread waits again and again until another one ends
//   pipe       a thread receives through a pipe what another one sends; pair: through a pair of Unix sockets; stream: through a
//              TCP connection; counter: through an event counter
//
// It prints for how many milliseconds threads of one name waited for those of another name: as long as these had the lock that
// the others waited for, or until they ended the wait; `-`: until their time was up.
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "pastime.h"

enum { kMostThreads = 6, kMain = kMostThreads, kNobody, kOwners, kMostSpans = 1 << 17 };

static atomic_bool over;

struct Worker {
    bool (*step)(void);
    const char* name;
    int nice;
    pthread_t thread;
};
static struct Worker* workers;
static _Thread_local size_t self;  // index of the worker

static struct timespec in_a_millisecond(void) {
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    time.tv_nsec += 1000000;
    if (time.tv_nsec >= 1000000000) {
        ++time.tv_sec;
        time.tv_nsec -= 1000000000;
    }
    return time;
}

// The truth.

/// In which a thread has a lock, or waits for it.
struct Span {
    size_t thread;
    const void* lock;
    uint64_t begin, end;
};
struct Spans {
    struct Span all[kMostSpans];
    atomic_size_t count;
};
static struct Spans holds, waits;
/// By worker: for whom it waited, where that is known when the wait ends.
static double waited_for[kMostThreads][kOwners];

static void note_of(size_t thread, struct Spans* to, const void* lock, uint64_t begin) {
    const size_t place = atomic_fetch_add(&to->count, 1);
    if (place < kMostSpans) to->all[place] = (struct Span){thread, lock, begin, now()};
}

static void note(struct Spans* to, const void* lock, uint64_t begin) {
    note_of(self, to, lock, begin);
}

static void note_wait_for(size_t thread, uint64_t begin) {
    waited_for[self][thread] += (double)(now() - begin);
}

/// What both have in common.
static double common(const struct Span* a, const struct Span* b) {
    const uint64_t begin = a->begin > b->begin ? a->begin : b->begin, end = a->end < b->end ? a->end : b->end;
    return begin < end ? (double)(end - begin) : 0;
}

static void print_truth(size_t count) {
    for (size_t w = 0; w < waits.count && w < kMostSpans; ++w)
        for (size_t h = 0; h < holds.count && h < kMostSpans; ++h)
            if (waits.all[w].lock == holds.all[h].lock && waits.all[w].thread != holds.all[h].thread)
                waited_for[waits.all[w].thread][holds.all[h].thread] += common(&waits.all[w], &holds.all[h]);
    for (size_t waiter = 0; waiter < count; ++waiter)
        for (size_t owner = 0; owner < kOwners; ++owner)
            if (owner < count || owner >= kMain)
                printf("%s %s %.3f\n", workers[waiter].name,
                       owner == kMain     ? "holders"
                       : owner == kNobody ? "-"
                                          : workers[owner].name,
                       waited_for[waiter][owner] / 1e6);
}

// Locks that are noted.

static pthread_mutex_t outer = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t inner = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t twice, safe, own;
static pthread_rwlock_t table = PTHREAD_RWLOCK_INITIALIZER;
static _Thread_local uint64_t since[2];  // when it took `inner`, and the other one

static void lock(pthread_mutex_t* mutex) {
    const uint64_t begin = now();
    pthread_mutex_lock(mutex);
    note(&waits, mutex, begin);
    since[mutex != &inner] = now();
}

static bool try_lock(pthread_mutex_t* mutex) {
    if (pthread_mutex_trylock(mutex) != 0) return false;
    since[mutex != &inner] = now();
    return true;
}

static void unlock(pthread_mutex_t* mutex) {
    note(&holds, mutex, since[mutex != &inner]);
    pthread_mutex_unlock(mutex);
}

static void unlock_table(uint64_t taken) {
    note(&holds, &table, taken);
    pthread_rwlock_unlock(&table);
}

// What owners do.

NOINLINE void flush_cache(void) {
    rest(2000);
    __asm__ volatile("" ::: "memory");
}

NOINLINE void sort_table(void) {
    compute(300000);
    __asm__ volatile("" ::: "memory");
}

NOINLINE void use_both(void) {
    rest(500);
    __asm__ volatile("" ::: "memory");
}

// convoy

static bool add(void) {
    lock(&outer);
    sort_table();
    unlock(&outer);
    rest(10);
    return !over;
}

// inversion

static bool be_low(void) {
    lock(&outer);
    sort_table();
    unlock(&outer);
    rest(100);
    return !over;
}

static bool be_urgent(void) {
    lock(&outer);
    unlock(&outer);
    rest(300);
    return !over;
}

static bool be_in_the_middle(void) {
    compute(1000000);
    rest(500);
    return !over;
}

// disk

static int asked[2], answered[2];

static void run_disk(void) {
    char request = 0;
    while (read(asked[0], &request, 1) == 1) {
        rest(2000);
        if (write(answered[1], &request, 1) != 1) break;
    }
    _exit(0);
}

NOINLINE void ask_disk(void) {
    char request = 'r';
    if (write(asked[1], &request, 1) != 1 || read(answered[0], &request, 1) != 1) abort();
}

static bool read_under_lock(void) {
    lock(&outer);
    ask_disk();
    unlock(&outer);
    rest(500);
    return !over;
}

static bool look(void) {
    lock(&outer);
    compute(200);
    unlock(&outer);
    rest(50);
    return !over;
}

// producers

enum { kRoom = 4 };
static pthread_mutex_t items_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t not_full = PTHREAD_COND_INITIALIZER;
static pthread_cond_t not_empty = PTHREAD_COND_INITIALIZER;
static unsigned items;
static size_t last;  // who made room, or an item

NOINLINE void consume_item(void) {
    static unsigned round;
    rest(++round % 4 == 0 ? 300 : 2000);
    __asm__ volatile("" ::: "memory");
}

/// Waits while there are so many.
static void wait_while(unsigned count, pthread_cond_t* condition) {
    while (items == count && !over) {
        const uint64_t begin = now();
        pthread_cond_wait(condition, &items_lock);
        note_wait_for(last, begin);
    }
}

static bool produce(void) {
    compute(2000);
    pthread_mutex_lock(&items_lock);
    wait_while(kRoom, &not_full);
    items += items < kRoom ? 1 : 0;
    last = self;
    pthread_cond_signal(&not_empty);
    pthread_mutex_unlock(&items_lock);
    return !over;
}

static bool consume(void) {
    pthread_mutex_lock(&items_lock);
    wait_while(0, &not_empty);
    items -= items > 0 ? 1 : 0;
    last = self;
    pthread_cond_signal(&not_full);
    pthread_mutex_unlock(&items_lock);
    consume_item();
    return !over;
}

// pool

static sem_t jobs, done[kMostThreads];
static size_t queue[kMostThreads];  // who asked
static size_t first_job, next_job;
static size_t done_by[kMostThreads];

NOINLINE void run_job(void) {
    static atomic_uint round;
    rest(++round % 4 == 0 ? 500 : 2000);
    __asm__ volatile("" ::: "memory");
}

static bool ask_pool(void) {
    pthread_mutex_lock(&items_lock);
    queue[next_job++ % kMostThreads] = self;
    pthread_mutex_unlock(&items_lock);
    sem_post(&jobs);
    const uint64_t begin = now();
    sem_wait(&done[self]);
    note_wait_for(done_by[self], begin);
    compute(2000);
    return !over;
}

static bool serve(void) {
    const uint64_t begin = now();
    sem_wait(&jobs);
    pthread_mutex_lock(&items_lock);
    const size_t asker = queue[first_job++ % kMostThreads];
    pthread_mutex_unlock(&items_lock);
    note_wait_for(asker, begin);
    // At the end nobody asks any more.
    if (asker == kMain) return false;
    run_job();
    done_by[asker] = self;
    sem_post(&done[asker]);
    return true;
}

static void end_pool(void) {
    for (unsigned server = 0; server < 2; ++server) {
        pthread_mutex_lock(&items_lock);
        queue[next_job++ % kMostThreads] = kMain;
        pthread_mutex_unlock(&items_lock);
        sem_post(&jobs);
    }
}

// handover

static sem_t taken, given;
static uint64_t taken_since;
static bool given_last;  // both end after the same round

static bool take_for_another(void) {
    lock(&outer);
    taken_since = now();
    sem_post(&taken);
    sem_wait(&given);
    rest(500);
    return !given_last;
}

static bool give_for_another(void) {
    sem_wait(&taken);
    flush_cache();
    note_of(0, &holds, &outer, taken_since);
    pthread_mutex_unlock(&outer);
    const bool last = given_last = over;
    sem_post(&given);
    return !last;
}

// recursive, robust, inherits, twice, often

static bool keep_twice(void) {
    lock(&twice);
    pthread_mutex_lock(&twice);
    flush_cache();
    pthread_mutex_unlock(&twice);
    unlock(&twice);
    rest(500);
    return !over;
}

static bool look_twice(void) {
    lock(&twice);
    unlock(&twice);
    rest(50);
    return !over;
}

static bool keep_safe_twice(void) {
    lock(&safe);
    pthread_mutex_lock(&safe);
    flush_cache();
    pthread_mutex_unlock(&safe);
    unlock(&safe);
    rest(500);
    return !over;
}

static bool keep_safe(void) {
    lock(&safe);
    flush_cache();
    unlock(&safe);
    rest(500);
    return !over;
}

static bool look_safe(void) {
    lock(&safe);
    unlock(&safe);
    rest(50);
    return !over;
}

static bool have_own(void) {
    for (int i = 0; i < 1000; ++i) {
        pthread_mutex_lock(&own);
        pthread_mutex_unlock(&own);
    }
    return !over;
}

// died

static uint64_t mortal_since;
enum { kMortal = 1 };  // the worker that lends its name to those that die

/// By a worker, or in its place.
static void lock_and_repair(size_t worker) {
    const uint64_t begin = now();
    if (pthread_mutex_lock(&safe) == EOWNERDEAD) {
        note_of(kMortal, &holds, &safe, mortal_since);
        note_of(worker, &waits, &safe, begin);
        since[1] = now();
        use_both();
        pthread_mutex_consistent(&safe);
    } else {
        note_of(worker, &waits, &safe, begin);
        since[1] = now();
    }
}

static void* be_mortal(void* argument) {
    pthread_setname_np(pthread_self(), "mortal");
    lock_and_repair(kMortal);
    mortal_since = since[1];
    flush_cache();
    return argument;
}

static bool be_parent_of_mortals(void) {
    pthread_t mortal;
    if (pthread_create(&mortal, NULL, be_mortal, NULL) != 0) abort();
    pthread_join(mortal, NULL);
    rest(500);
    return !over;
}

static bool look_and_repair(void) {
    lock_and_repair(self);
    unlock(&safe);
    rest(50);
    return !over;
}

// unseen

static pthread_cond_t told = PTHREAD_COND_INITIALIZER;

static bool keep_when_told(void) {
    lock(&safe);
    while (!over) {
        note(&holds, &safe, since[1]);
        pthread_cond_wait(&told, &safe);
        since[1] = now();
        flush_cache();
    }
    unlock(&safe);
    return false;
}

static bool tell_keeper(void) {
    rest(3500);
    if (!over) {
        pthread_cond_signal(&told);
        return true;
    }
    lock(&safe);
    pthread_cond_signal(&told);
    unlock(&safe);
    return false;
}

static bool keep_if_free(void) {
    if (try_lock(&safe)) {
        use_both();
        unlock(&safe);
    }
    rest(700);
    return !over;
}

// orders

static bool take_both(pthread_mutex_t* one, pthread_mutex_t* other) {
    lock(one);
    if (try_lock(other)) {
        use_both();
        unlock(other);
    }
    unlock(one);
    rest(100);
    return !over;
}

static bool take_outer_first(void) {
    return take_both(&outer, &inner);
}

static bool take_inner_first(void) {
    return take_both(&inner, &outer);
}

static bool take_one(void) {
    lock(&inner);
    unlock(&inner);
    rest(50);
    return !over;
}

// tried, timed

static bool try_to_write(void) {
    while (pthread_rwlock_trywrlock(&table) != 0)
        rest(20);
    const uint64_t since_then = now();
    flush_cache();
    unlock_table(since_then);
    rest(500);
    return !over;
}

static bool try_to_read(void) {
    if (pthread_rwlock_tryrdlock(&table) == 0) unlock_table(now());
    rest(70);
    return !over;
}

static bool read_table(void) {
    const uint64_t begin = now();
    pthread_rwlock_rdlock(&table);
    note(&waits, &table, begin);
    unlock_table(now());
    rest(50);
    return !over;
}

static bool write_table(void) {
    pthread_rwlock_wrlock(&table);
    const uint64_t since_then = now();
    flush_cache();
    unlock_table(since_then);
    rest(500);
    return !over;
}

static bool read_in_time(void) {
    const struct timespec end = in_a_millisecond();
    const uint64_t begin = now();
    const bool taken_in_time = pthread_rwlock_timedrdlock(&table, &end) == 0;
    note(&waits, &table, begin);
    if (taken_in_time) unlock_table(now());
    rest(50);
    return !over;
}

static bool keep(void) {
    lock(&outer);
    flush_cache();
    unlock(&outer);
    rest(500);
    return !over;
}

static bool give_up(void) {
    const struct timespec end = in_a_millisecond();
    const uint64_t begin = now();
    const bool taken_in_time = pthread_mutex_timedlock(&outer, &end) == 0;
    note(&waits, &outer, begin);
    since[1] = now();
    if (taken_in_time) unlock(&outer);
    rest(50);
    return !over;
}

static pthread_cond_t news = PTHREAD_COND_INITIALIZER;
static bool are_news;

static bool tell(void) {
    rest(2500);
    pthread_mutex_lock(&items_lock);
    last = self;
    are_news = true;
    pthread_cond_signal(&news);
    pthread_mutex_unlock(&items_lock);
    return !over;
}

static bool hear(void) {
    pthread_mutex_lock(&items_lock);
    const struct timespec end = in_a_millisecond();
    const uint64_t begin = now();
    if (!are_news)
        note_wait_for(pthread_cond_timedwait(&news, &items_lock, &end) == 0 ? last : kNobody, begin);
    are_news = false;
    pthread_mutex_unlock(&items_lock);
    return !over;
}

// crier

NOINLINE void cry_out(void) {
    static pthread_cond_t unheard = PTHREAD_COND_INITIALIZER;
    for (int i = 0; i < 100000; ++i)
        pthread_cond_broadcast(&unheard);
    __asm__ volatile("" ::: "memory");
}

static bool cry(void) {
    cry_out();
    pthread_mutex_lock(&items_lock);
    last = self;
    are_news = true;
    pthread_cond_signal(&not_empty);
    pthread_mutex_unlock(&items_lock);
    return !over;
}

static bool listen_to_crier(void) {
    pthread_mutex_lock(&items_lock);
    const uint64_t begin = now();
    if (!are_news && !over) {
        while (!are_news && !over)
            pthread_cond_wait(&not_empty, &items_lock);
        note_wait_for(last, begin);
    }
    are_news = false;
    pthread_mutex_unlock(&items_lock);
    return !over;
}

// futex

enum { kFree, kTaken, kWaitedFor };
static atomic_uint own_lock;

static void lock_own(void) {
    unsigned state = kFree;
    if (!atomic_compare_exchange_strong(&own_lock, &state, kTaken)) {
        const uint64_t begin = now();
        while (atomic_exchange(&own_lock, kWaitedFor) != kFree)
            syscall(SYS_futex, &own_lock, FUTEX_WAIT_PRIVATE, kWaitedFor, NULL, NULL, 0);
        note(&waits, &own_lock, begin);
    }
    since[1] = now();
}

static void unlock_own(void) {
    note(&holds, &own_lock, since[1]);
    if (atomic_exchange(&own_lock, kFree) == kWaitedFor)
        syscall(SYS_futex, &own_lock, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static bool keep_own(void) {
    lock_own();
    flush_cache();
    unlock_own();
    rest(1000);
    return !over;
}

static bool look_own(void) {
    lock_own();
    compute(200);
    unlock_own();
    rest(50);
    return !over;
}

// gate

static atomic_uint opened, alone;

static bool open_gate(void) {
    flush_cache();
    // Who still waits then, and has not seen that all is over, must not wait for ever.
    const bool last_time = over;
    atomic_fetch_add(&opened, 1);
    syscall(SYS_futex, &opened, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
    return !last_time;
}

static bool wait_at_gate(void) {
    const unsigned seen = opened;
    if (over) return false;
    const uint64_t begin = now();
    while (opened == seen)
        syscall(SYS_futex, &opened, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
    note_wait_for(0, begin);
    compute(200);
    return !over;
}

/// Its waits end by themselves.
static bool wait_alone(void) {
    const struct timespec time = {.tv_nsec = 2000000};
    const uint64_t begin = now();
    syscall(SYS_futex, &alone, FUTEX_WAIT_PRIVATE, 0, &time, NULL, 0);
    note_wait_for(kNobody, begin);
    syscall(SYS_futex, &alone, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    syscall(SYS_gettid);
    return !over;
}

// pipe, pair, stream, counter

static int receiving, sending;
static bool are_sockets;

static bool send_item(void) {
    flush_cache();
    // Who still waits then, and has not seen that all is over, must not wait for ever.
    const bool last_time = over;
    const uint64_t item = 1;
    const ssize_t sent =
        are_sockets ? send(sending, &item, sizeof item, 0) : write(sending, &item, sizeof item);
    if (sent != sizeof item) abort();
    return !last_time;
}

static bool receive_item(void) {
    uint64_t item;
    const uint64_t begin = now();
    const ssize_t received =
        are_sockets ? recv(receiving, &item, sizeof item, MSG_WAITALL) : read(receiving, &item, sizeof item);
    if (received != sizeof item) abort();
    note_wait_for(0, begin);
    compute(200);
    return !over;
}

static void connect_stream(void) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    const int listening = socket(AF_INET, SOCK_STREAM, 0);
    sending = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listening, (struct sockaddr*)&address, size) != 0 || listen(listening, 1) != 0 ||
        getsockname(listening, (struct sockaddr*)&address, &size) != 0 ||
        connect(sending, (struct sockaddr*)&address, size) != 0)
        abort();
    receiving = accept(listening, NULL, NULL);
    if (receiving < 0) abort();
    close(listening);
}

static void connect_ends(const char* what) {
    int ends[2];
    are_sockets = strcmp(what, "pair") == 0 || strcmp(what, "stream") == 0;
    if (strcmp(what, "stream") == 0) return connect_stream();
    if (strcmp(what, "counter") == 0)
        ends[0] = ends[1] = eventfd(0, 0);
    else if (strcmp(what, "pair") == 0 ? socketpair(AF_UNIX, SOCK_STREAM, 0, ends) : pipe(ends))
        abort();
    receiving = ends[0];
    sending = ends[1];
}

// join

NOINLINE void compute_long(void) {
    rest(5000);
    __asm__ volatile("" ::: "memory");
}

static void* be_child(void* argument) {
    pthread_setname_np(pthread_self(), "child");
    compute_long();
    return argument;
}

static bool be_parent(void) {
    pthread_t child;
    if (pthread_create(&child, NULL, be_child, NULL) != 0) abort();
    const uint64_t begin = now();
    pthread_join(child, NULL);
    // The second worker, which only lends its name.
    note_wait_for(1, begin);
    rest(200);
    return !over;
}

static bool end_at_once(void) {
    return false;
}

static void* work(void* argument) {
    self = (size_t)((struct Worker*)argument - workers);
    pthread_setname_np(pthread_self(), workers[self].name);
    if (workers[self].nice != 0) setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), workers[self].nice);
    while (workers[self].step())
        continue;
    return NULL;
}

/// Whether `what` ends like this.
static bool ends_with(const char* what, const char* end) {
    const size_t length = strlen(what), of_end = strlen(end);
    return length >= of_end && strcmp(what + length - of_end, end) == 0;
}

static void set_up(const char* what) {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&twice, &attributes);
    if (strncmp(what, "twice", strlen("twice")) != 0)
        pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_NORMAL);
    if (ends_with(what, "inherits"))
        pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
    else
        pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&safe, &attributes);
    pthread_mutex_init(&own, &attributes);
    sem_init(&jobs, 0, 0);
    sem_init(&taken, 0, 0);
    sem_init(&given, 0, 0);
    for (size_t i = 0; i < kMostThreads; ++i)
        sem_init(&done[i], 0, 0);
    if (strcmp(what, "disk") == 0) {
        if (pipe(asked) != 0 || pipe(answered) != 0) abort();
        if (fork() == 0) {
            close(asked[1]);
            close(answered[0]);
            run_disk();
        }
        close(asked[0]);
        close(answered[1]);
    }
    if (strcmp(what, "inversion") == 0) {
        cpu_set_t all, one;
        sched_getaffinity(0, sizeof all, &all);
        CPU_ZERO(&one);
        for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++cpu)
            if (CPU_ISSET(cpu, &all)) CPU_SET(cpu, &one);
        sched_setaffinity(0, sizeof one, &one);
    }
}

int main(int count, char** arguments) {
    if (count != 3) return 2;
    static struct Plan {
        const char* name;
        struct Worker workers[kMostThreads];
    } plans[] = {
        {"convoy",
         {{.step = add, .name = "adder"},
          {.step = add, .name = "adder"},
          {.step = add, .name = "adder"},
          {.step = add, .name = "adder"}}},
        {"inversion",
         {{.step = be_low, .name = "low", .nice = 15},
          {.step = be_urgent, .name = "urgent"},
          {.step = be_in_the_middle, .name = "middle", .nice = 5}}},
        {"disk", {{.step = read_under_lock, .name = "keeper"}, {.step = look, .name = "reader"}}},
        {"producers", {{.step = produce, .name = "producer"}, {.step = consume, .name = "consumer"}}},
        {"pool",
         {{.step = ask_pool, .name = "asker"},
          {.step = ask_pool, .name = "asker"},
          {.step = ask_pool, .name = "asker"},
          {.step = serve, .name = "server"},
          {.step = serve, .name = "server"}}},
        {"handover",
         {{.step = take_for_another, .name = "taker"},
          {.step = give_for_another, .name = "giver"},
          {.step = look, .name = "reader"}}},
        {"recursive", {{.step = keep_twice, .name = "keeper"}, {.step = look_twice, .name = "reader"}}},
        {"robust", {{.step = keep_safe, .name = "keeper"}, {.step = look_safe, .name = "reader"}}},
        {"twice", {{.step = keep_safe_twice, .name = "keeper"}, {.step = look_safe, .name = "reader"}}},
        {"often",
         {{.step = keep_safe, .name = "keeper"},
          {.step = look_safe, .name = "reader"},
          {.step = have_own, .name = "hot"}}},
        {"inherits", {{.step = keep_safe, .name = "keeper"}, {.step = look_safe, .name = "reader"}}},
        {"twice_inherits",
         {{.step = keep_safe_twice, .name = "keeper"}, {.step = look_safe, .name = "reader"}}},
        {"died",
         {{.step = be_parent_of_mortals, .name = "parent"},
          {.step = end_at_once, .name = "mortal"},
          {.step = look_and_repair, .name = "reader"},
          {.step = look_and_repair, .name = "looker"}}},
        {"unseen",
         {{.step = keep_when_told, .name = "keeper"},
          {.step = tell_keeper, .name = "teller"},
          {.step = keep_if_free, .name = "trier"},
          {.step = look_safe, .name = "reader"},
          {.step = look_safe, .name = "looker"}}},
        {"unseen_inherits",
         {{.step = keep_when_told, .name = "keeper"},
          {.step = tell_keeper, .name = "teller"},
          {.step = keep_if_free, .name = "trier"},
          {.step = look_safe, .name = "reader"},
          {.step = look_safe, .name = "looker"}}},
        {"orders",
         {{.step = take_outer_first, .name = "first"},
          {.step = take_inner_first, .name = "second"},
          {.step = take_one, .name = "third"}}},
        {"tried",
         {{.step = try_to_write, .name = "writer"},
          {.step = read_table, .name = "reader"},
          {.step = try_to_read, .name = "trier"}}},
        {"timed",
         {{.step = write_table, .name = "writer"},
          {.step = read_in_time, .name = "reader"},
          {.step = tell, .name = "teller"},
          {.step = hear, .name = "hearer"}}},
        {"crier", {{.step = cry, .name = "crier"}, {.step = listen_to_crier, .name = "hearer"}}},
        {"giving_up",
         {{.step = keep, .name = "keeper"},
          {.step = give_up, .name = "patient"},
          {.step = look, .name = "reader"}}},
        {"futex", {{.step = keep_own, .name = "keeper"}, {.step = look_own, .name = "reader"}}},
        {"gate",
         {{.step = open_gate, .name = "opener"},
          {.step = wait_at_gate, .name = "guest"},
          {.step = wait_at_gate, .name = "visitor"},
          {.step = wait_alone, .name = "hermit"}}},
        {"pipe", {{.step = send_item, .name = "sender"}, {.step = receive_item, .name = "receiver"}}},
        {"pair", {{.step = send_item, .name = "sender"}, {.step = receive_item, .name = "receiver"}}},
        {"stream", {{.step = send_item, .name = "sender"}, {.step = receive_item, .name = "receiver"}}},
        {"counter", {{.step = send_item, .name = "sender"}, {.step = receive_item, .name = "receiver"}}},
        {"join", {{.step = be_parent, .name = "parent"}, {.step = end_at_once, .name = "child"}}},
    };
    for (size_t i = 0; i < sizeof plans / sizeof plans[0]; ++i) {
        if (strcmp(plans[i].name, arguments[1]) != 0) continue;
        workers = plans[i].workers;
        size_t threads = 0;
        set_up(arguments[1]);
        if (workers[0].step == send_item) connect_ends(arguments[1]);
        for (; threads < kMostThreads && workers[threads].step != NULL; ++threads)
            pthread_create(&workers[threads].thread, NULL, work, &workers[threads]);
        rest(1000 * strtol(arguments[2], NULL, 10));
        pthread_mutex_lock(&items_lock);
        over = true;
        last = kMain;
        pthread_cond_broadcast(&not_full);
        pthread_cond_broadcast(&not_empty);
        pthread_mutex_unlock(&items_lock);
        const bool pool = strcmp(arguments[1], "pool") == 0;
        for (size_t w = 0; w < threads; ++w) {
            if (pool && w == 3) end_pool();
            pthread_join(workers[w].thread, NULL);
        }
        print_truth(threads);
        return 0;
    }
    return 2;
}
