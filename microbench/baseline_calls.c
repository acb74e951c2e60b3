// Functions of which every eighth call takes longer, beside one that always takes as long, and what they lost
// as the program itself sees it: it reads the clock around each call.
//
//   baseline_calls KIND THREADS SECONDS [FILE]
//   baseline_calls busy
//
// KIND: spin (by the clock), sleep, handover (each thread waits for what another one works on by the clock),
// work (multiplications). Prints as JSON, for each function and thread, the calls, their sum and the least of
// them: what they took beyond that, as a share of the thread's life, is what they lost. A recorder may hold
// the first call of a process until it is ready, so main() makes one before these threads live. FILE gets
// each call of theirs: function, thread, begin and end, in ns of CLOCK_MONOTONIC. `busy` only computes, until
// whoever started it has ended.
#include <inttypes.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum {
    kMaxThreads = 64,
    kFunctions = 2,
    kLongerEvery = 8,
    kCallsPerSecond = 200000  // more than there can be
};

struct Worker;

struct Function {
    const char* name;
    void (*call)(struct Worker* me, int64_t amount);
    int64_t amount, longer;  // of most calls, and of every eighth: ns, or multiplications
};

struct Kind {
    const char* name;
    struct Function functions[kFunctions];
};

struct Call {
    int64_t begin, end;
};

struct Worker {
    pid_t tid;
    int64_t life;
    struct Call* calls[kFunctions];
    size_t count;  // of each function
    // handover: what the thread asks for and its partner works on
    sem_t asked, given;
    int64_t wanted;
};

static const struct Kind* kind;
static struct Worker workers[kMaxThreads];
static int64_t run_ns;
static size_t most_calls;
static pthread_barrier_t all_there;

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static void spin(int64_t ns) {
    const int64_t begin = now();
    while (now() - begin < ns) {
    }
}

__attribute__((noinline)) void spin_by_clock(struct Worker* me, int64_t ns) {
    (void)me;
    spin(ns);
}

__attribute__((noinline)) void spin_constant(struct Worker* me, int64_t ns) {
    (void)me;
    spin(ns);
}

__attribute__((noinline)) void sleep_some(struct Worker* me, int64_t ns) {
    (void)me;
    const struct timespec time = {ns / 1000000000, ns % 1000000000};
    nanosleep(&time, NULL);
}

static void wait_for(sem_t* what) {
    while (sem_wait(what) != 0) {
    }
}

__attribute__((noinline)) void wait_for_other(struct Worker* me, int64_t ns) {
    if (ns == 0) return;  // main() has no partner
    me->wanted = ns;
    sem_post(&me->asked);
    wait_for(&me->given);
}

__attribute__((noinline)) void multiply(struct Worker* me, int64_t turns) {
    uint64_t value = (uint64_t)(uintptr_t)me;
    for (int64_t i = 0; i < turns; ++i) {
        value *= 0x9E3779B97F4A7C15u;
        __asm__ volatile("" : "+r"(value));
    }
}

// About a fifth of the thread's life is beyond the shorter calls.
static const struct Kind kKinds[] = {
    {"spin",
     {{"spin_by_clock", spin_by_clock, 20000, 132000}, {"spin_constant", spin_constant, 36000, 36000}}},
    {"sleep", {{"sleep_some", sleep_some, 200000, 620000}}},
    {"handover", {{"wait_for_other", wait_for_other, 50000, 170000}}},
    {"work", {{"multiply", multiply, 20000, 60000}}},
};

/// The other thread, on which one waits.
static void* hand_over(void* argument) {
    struct Worker* partner = argument;
    for (;;) {
        wait_for(&partner->asked);
        if (partner->wanted < 0) return NULL;
        spin(partner->wanted);
        sem_post(&partner->given);
    }
}

static void* work(void* argument) {
    struct Worker* me = argument;
    const int64_t begin = now();
    me->tid = gettid();
    pthread_t partner;
    const bool paired = strcmp(kind->name, "handover") == 0;
    if (paired && pthread_create(&partner, NULL, hand_over, me) != 0) abort();
    pthread_barrier_wait(&all_there);
    for (; now() - begin < run_ns && me->count < most_calls; ++me->count) {
        const bool longer = me->count % kLongerEvery == kLongerEvery - 1;
        for (int i = 0; i < kFunctions && kind->functions[i].name; ++i) {
            const struct Function* function = &kind->functions[i];
            struct Call* call = &me->calls[i][me->count];
            call->begin = now();
            function->call(me, longer ? function->longer : function->amount);
            call->end = now();
        }
    }
    if (paired) {
        me->wanted = -1;
        sem_post(&me->asked);
        pthread_join(partner, NULL);
    }
    me->life = now() - begin;
    return NULL;
}

static void report(int function, long threads) {
    printf("{\"name\": \"%s\", \"by_main\": %d, \"threads\": [", kind->functions[function].name,
           function == 0);
    for (long i = 0; i < threads; ++i) {
        const struct Worker* me = &workers[i];
        int64_t sum = 0, least = INT64_MAX;
        for (size_t j = 0; j < me->count; ++j) {
            const struct Call* call = &me->calls[function][j];
            sum += call->end - call->begin;
            if (call->end - call->begin < least) least = call->end - call->begin;
        }
        const double lost = (double)sum - (double)least * (double)me->count;
        printf("%s{\"tid\": %d, \"calls\": %zu, \"sum_ns\": %" PRId64 ", \"least_ns\": %" PRId64
               ", \"life_ns\": %" PRId64 ", \"score\": %.5f}",
               i > 0 ? ", " : "", me->tid, me->count, sum, least, me->life, lost / (double)me->life);
    }
    printf("]}");
}

static bool write_calls(const char* path, long threads) {
    FILE* file = fopen(path, "we");
    if (!file) return false;
    for (long i = 0; i < threads; ++i)
        for (int j = 0; j < kFunctions && kind->functions[j].name; ++j)
            for (size_t k = 0; k < workers[i].count; ++k)
                fprintf(file, "%s,%d,%" PRId64 ",%" PRId64 "\n", kind->functions[j].name, workers[i].tid,
                        workers[i].calls[j][k].begin, workers[i].calls[j][k].end);
    return fclose(file) == 0;
}

static int run_busy(void) {
    const pid_t parent = getppid();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) return 1;  // it ended before
    for (;;)
        multiply(workers, 1000000);
}

int main(int count, char** arguments) {
    if (count == 2 && strcmp(arguments[1], "busy") == 0) return run_busy();
    if (count < 4 || count > 5) return 2;
    for (size_t i = 0; i < sizeof kKinds / sizeof *kKinds; ++i)
        if (strcmp(arguments[1], kKinds[i].name) == 0) kind = &kKinds[i];
    const long threads = atol(arguments[2]);
    const double seconds = atof(arguments[3]);
    if (!kind || threads < 1 || threads > kMaxThreads || seconds <= 0 || seconds > 100) return 2;
    run_ns = (int64_t)(seconds * 1e9);
    most_calls = (size_t)(seconds * kCallsPerSecond) + 1;
    prctl(PR_SET_TIMERSLACK, 1);  // by default sleeps end up to 50 µs late
    kind->functions[0].call(&workers[0], 0);
    pthread_t all[kMaxThreads];
    if (pthread_barrier_init(&all_there, NULL, (unsigned)threads) != 0) return 1;
    for (long i = 0; i < threads; ++i) {
        sem_init(&workers[i].asked, 0, 0);
        sem_init(&workers[i].given, 0, 0);
        for (int j = 0; j < kFunctions; ++j) {
            if (!(workers[i].calls[j] = malloc(most_calls * sizeof(struct Call)))) return 1;
            memset(workers[i].calls[j], 1, most_calls * sizeof(struct Call));  // no page faults later
        }
        if (pthread_create(&all[i], NULL, work, &workers[i]) != 0) return 1;
    }
    for (long i = 0; i < threads; ++i)
        pthread_join(all[i], NULL);
    if (count == 5 && !write_calls(arguments[4], threads)) return 1;
    printf("{\"functions\": [");
    for (int i = 0; i < kFunctions && kind->functions[i].name; ++i) {
        if (i > 0) printf(", ");
        report(i, threads);
    }
    printf("]}\n");
    return 0;
}
