// Threads that lose a wanted share of their lives by one cause, and know how much it was:
//
//   planted_losses KIND SHARE NANOSECONDS THREADS SECONDS [FILE]
//   planted_losses busy FILE NICE PROCESSORS
//
// KIND: lock (another thread holds the thread's mutex while it sleeps), sharing (phases in which the threads
// write to one cache line alternate with phases in which each has its own), preemption (processes beside it,
// started as `busy` with the same FILE, one on each processor). Each thread is bound to a processor and calls
// planted_call, which takes NANOSECONDS undisturbed, in a loop. Prints as JSON what each thread lost in which
// function. What the other threads of the program had of its processor is no loss, and not part of its life.
//
// The measuring stays out of the calls: the clocks are read once for a batch of them.
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

enum {
    kMaxThreads = 64,
    kLine = 64,
    kMaxBatches = 400000,
    kCalibrations = 201,
    kTwinEvery = 16,
    kEnoughBatches = 300,  // for a comparison of medians
    kFewBatches = 20,      // of which a median says little
    kTwinBelowNs = 5000,   // shorter calls are slowed down by probes that are recorded: see planted_twin
    kBatchNs = 10000,
    kGapNs = 300000,  // what takes longer than that for kBatchNs of work was not on a processor
    kLockBatchNs = 2000,
    kHoldNs = 300000,
    kHoldCalls = 3,  // shorter holds would be over before the next call
    kPhaseNs = 2000000,
    kPhaseCalls = 10
};

enum Kind { kLock, kSharing, kPreemption };

static enum Kind kind;
static double wanted, call_ns, seconds, ticks_per_ns, phase_ns, hold_ns;
static long threads, processors;
static _Atomic long ready;
static _Atomic int shared_phase, ended;
static _Alignas(kLine) _Atomic uint64_t shared_line[kLine / 8];

/// What a busy process has had of its processor, for whoever shares the file.
struct Busy {
    _Alignas(kLine) _Atomic int64_t cpu_ns;
};
static struct Busy* busy;

struct Batch {
    float ns;  // of processor time, for each call
    uint32_t calls;
    uint8_t shared, twin;
};

struct Worker {
    _Alignas(kLine) pthread_mutex_t mutex;
    _Atomic uint64_t holds;  // how often the holder has had it; written under the mutex
    uint64_t held_since, seen_holds;
    int contended;  // another one waited when the holder unlocked it
    _Alignas(kLine) _Atomic uint64_t own_line[kLine / 8];
    _Atomic uint64_t* line;
    long number, turns, per_batch;
    pid_t tid, holder_tid;
    double inside_ns;  // of an undisturbed call
    double pair_ns;    // of locking and unlocking
    uint64_t calls, twin_calls;
    double whole_ns;  // its life, before the loop as well
    double life_ns, cpu_ns, whole_cpu_ns, holder_cpu_ns, begin_ns, busy_ns, idle_ns, phase_ns;
    uint64_t stamp, since_stamp;
    double tick_per_call;
    _Atomic uint64_t waited_ticks;
    uint64_t waits;
    _Atomic double begun;
    struct Batch* batches;
    size_t batch_count;
    long chunk;  // turns
    double gap_ns, typical_ns[2];
    _Alignas(kLine) uint64_t value;
};
static struct Worker workers[kMaxThreads];
static __thread struct Worker* self;

static uint64_t ticks(void) {
    unsigned processor = 0;
    return __rdtscp(&processor);
}

static double clock_ns(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

/// Since the machine started, of a processor.
static double idle_ns(long processor) {
    FILE* file = fopen("/proc/stat", "re");
    char line[512];
    double all = 0;
    while (file && fgets(line, sizeof line, file)) {
        long number = 0, idle = 0, waiting = 0;
        if (sscanf(line, "cpu%ld %*s %*s %*s %ld %ld", &number, &idle, &waiting) == 3 && line[3] != ' ' &&
            number == processor)
            all = (double)(idle + waiting) * 1e9 / (double)sysconf(_SC_CLK_TCK);
    }
    if (file) fclose(file);
    return all;
}

static void nap(double ns) {
    if (ns < 1) return;
    const struct timespec time = {(time_t)(ns / 1e9), (long)(ns - 1e9 * (double)(time_t)(ns / 1e9))};
    nanosleep(&time, NULL);
}

/// `turns` multiplications, each of which waits for the one before, also for that of the call before.
static inline __attribute__((always_inline)) uint64_t chain(uint64_t value, long turns) {
    for (long i = 0; i < turns; ++i) {
        value *= 0x9E3779B97F4A7C15u;
        __asm__ volatile("" : "+r"(value));
    }
    return value;
}

/// The holder has had the mutex since the call before, and somebody waited for it when it let go of it: from
/// when it took it, or from the last reading of the clock, as the thread may have been off the processor
/// before.
static __attribute__((noinline)) void note_wait(struct Worker* me, uint64_t since) {
    const uint64_t now = ticks(), held = me->held_since;
    const double begun = (double)me->stamp + (double)me->since_stamp * me->tick_per_call;
    double wait = (double)now - begun;
    const int once = me->holds - me->seen_holds == 1;
    if (since == 0 && once && (double)(now - held) < wait) wait = (double)(now - held);
    if (since != 0) wait = (double)(now - since);
    const int waited = since != 0 || me->contended;
    me->seen_holds = me->holds;
    me->stamp = now;
    me->since_stamp = 0;
    if (waited && wait > 1000 * ticks_per_ns) {
        me->waited_ticks += (uint64_t)wait;
        ++me->waits;
    }
}

/// One load tells that the mutex is held: then the clock is read before.
static inline __attribute__((always_inline)) void lock(struct Worker* me) {
    uint64_t since = *(volatile int*)&me->mutex.__data.__lock != 0 ? ticks() : 0;
    __asm__ volatile("" : "+r"(since));  // one call of pthread_mutex_lock for both
    pthread_mutex_lock(&me->mutex);
    ++me->since_stamp;
    if (since != 0 || me->holds != me->seen_holds) note_wait(me, since);
}

static inline __attribute__((always_inline)) void turn(struct Worker* me, long turns) {
    if (kind == kSharing) {
        _Atomic uint64_t* line = me->line;
        for (long i = 0; i < turns; ++i) {
            atomic_fetch_add_explicit(line, 1, memory_order_seq_cst);
            chain(3, 2);
        }
    } else {
        me->value = chain(me->value, turns);
    }
}

/// Of a time that as much work took, the part on a processor: what is far longer than usual has a gap. The
/// clock of the thread's processor time cannot be asked each time, as the kernel takes this for an occasion
/// to preempt.
static double without_gap(struct Worker* me, double ns) {
    double* typical = &me->typical_ns[me->line == shared_line];
    if (ns > kGapNs) {
        me->gap_ns += ns - *typical;
        return *typical;
    }
    *typical += (ns - *typical) / 8;
    return ns;
}

/// A long call looks for gaps itself, in parts of kBatchNs.
static __attribute__((noinline)) void turn_in_chunks(struct Worker* me) {
    uint64_t last = ticks();
    for (long left = me->turns; left > 0; left -= me->chunk) {
        turn(me, left < me->chunk ? left : me->chunk);
        const uint64_t now = ticks();
        const double ns = (double)(now - last) / ticks_per_ns;
        if (left >= me->chunk || ns > kGapNs) without_gap(me, ns);
        last = now;
    }
}

/// What the calibration calls is not on the list: no time of the run is without a loss by design.
static inline __attribute__((always_inline)) void body(struct Worker* me, int listed) {
    if (kind == kLock) {
        if (listed) {
            lock(me);
        } else {
            pthread_mutex_trylock(&me->mutex);
        }
        pthread_mutex_unlock(&me->mutex);
        turn(me, me->turns);
    } else if (me->turns > me->chunk) {
        turn_in_chunks(me);
    } else {
        turn(me, me->turns);
    }
}

/// What is recorded.
__attribute__((noinline, aligned(64))) void planted_call(void) {
    body(self, 1);
    __asm__ volatile("");
}

/// The same without being on the list: what its calls take, the recorder has no part in.
__attribute__((noinline, aligned(64))) void planted_twin(void) {
    body(self, 0);
    __asm__ volatile("" : : : "memory");
}

__attribute__((noinline, aligned(64))) static void empty_call(void) {
    __asm__ volatile("");
}

static long count_processors(void) {
    cpu_set_t allowed;
    return sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed) : 1;
}

static void bind_to(long number) {
    cpu_set_t allowed, one;
    CPU_ZERO(&one);
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
    long left = number % CPU_COUNT(&allowed);
    for (size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu)
        if (CPU_ISSET(cpu, &allowed) && left-- == 0) CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof one, &one);
}

static int up(const void* a, const void* b) {
    const double left = *(const double*)a, right = *(const double*)b;
    return (left > right) - (left < right);
}

static double least_of_calls(void (*call)(void), long count) {
    double all[kCalibrations];
    const int rounds = (double)count * call_ns > 50000 ? kCalibrations / 10 : kCalibrations;
    for (int i = 0; i < rounds; ++i) {
        const uint64_t begin = ticks();
        for (long n = 0; n < count; ++n)
            call();
        all[i] = (double)(ticks() - begin) / ticks_per_ns / (double)count;
    }
    qsort(all, (size_t)rounds, sizeof all[0], up);
    return all[rounds < kCalibrations ? 0 : rounds / 20];
}

/// The turns that a call of the wanted length takes.
static void find_turns(struct Worker* me) {
    const long least = kind == kSharing ? 1 : 0, many = 1000;
    me->chunk = me->turns = many;
    const double turn = least_of_calls(planted_twin, 20) / (double)many;
    me->chunk = (long)(kBatchNs / turn);
    me->turns = least;
    me->pair_ns = kind == kLock ? least_of_calls(planted_twin, 1000) : 0;
    for (int i = 0; i < 4; ++i) {
        const double off =
            call_ns - least_of_calls(planted_twin, call_ns < 10000 ? (long)(10000 / call_ns) : 1);
        me->turns += (long)(off / turn + (off > 0 ? 0.5 : -0.5));
        if (me->turns < least) me->turns = least;
    }
}

/// And what is inside one without the loop around it.
static void calibrate(struct Worker* me) {
    long count = (long)(20000 / call_ns);
    if (count < 1) count = 1;
    // Others may have the processor meanwhile. The shortest calls take what they take.
    for (int tries = 0; tries < 10; ++tries) {
        find_turns(me);
        me->inside_ns = least_of_calls(planted_twin, count) - least_of_calls(empty_call, 1000);
        if (call_ns < 100 || (me->inside_ns > 0.8 * call_ns && me->inside_ns < 1.2 * call_ns)) break;
    }
    const double batch = kind == kLock ? kLockBatchNs : kBatchNs;
    me->per_batch = (long)(batch / call_ns);
    if (me->per_batch < 1) me->per_batch = 1;
    me->tick_per_call = least_of_calls(planted_twin, count) * ticks_per_ns;
    me->calls = me->since_stamp = 0;
}

static void add_batch(struct Worker* me, double ns, int shared, int twin) {
    if (me->batch_count == kMaxBatches) return;
    me->batches[me->batch_count++] = (struct Batch){(float)(ns / (double)me->per_batch),
                                                    (uint32_t)me->per_batch, (uint8_t)shared, (uint8_t)twin};
}

/// What the first thread has lost so far decides what the next phase is.
static void steer(struct Worker* me, double* lost, double* all, double spent, double base) {
    if (shared_phase) *lost += spent - base;
    *all += spent;
    me->phase_ns += spent;
    if (me->phase_ns < phase_ns) return;
    me->phase_ns = 0;
    shared_phase = *lost < wanted * *all;
}

static void run_batches(struct Worker* me) {
    const int twins = call_ns<kTwinBelowNs, chunked = me->turns> me->chunk;
    const uint64_t end = ticks() + (uint64_t)(seconds * 1e9 * ticks_per_ns);
    double lost = 0, all = 0;
    me->typical_ns[0] = me->typical_ns[1] = kBatchNs;
    me->gap_ns = 0;
    for (uint64_t number = 0, begin = ticks(), now = 0; begin < end; ++number, begin = now) {
        const int shared = shared_phase, twin = twins && number % kTwinEvery == 0;
        const double gaps = me->gap_ns;
        me->line = shared ? shared_line : me->own_line;
        if (twin) {
            begin = ticks();
            for (long i = 0; i < me->per_batch; ++i)
                planted_twin();
            me->twin_calls += (uint64_t)me->per_batch;
        } else {
            for (long i = 0; i < me->per_batch; ++i)
                planted_call();
            me->calls += (uint64_t)me->per_batch;
        }
        now = ticks();
        double spent = (double)(now - begin) / ticks_per_ns;
        spent = chunked ? spent - (me->gap_ns - gaps) : without_gap(me, spent);
        add_batch(me, spent, shared, twin);
        if (kind == kSharing && me->number == 0)
            steer(me, &lost, &all, spent, me->inside_ns * (double)me->per_batch);
    }
}

static void run_locked(struct Worker* me) {
    const uint64_t end = ticks() + (uint64_t)(seconds * 1e9 * ticks_per_ns);
    for (;;) {
        const uint64_t begin = me->stamp = ticks(), waits = me->waits;
        me->since_stamp = 0;
        if (begin > end) break;
        for (long i = 0; i < me->per_batch; ++i)
            planted_call();
        me->calls += (uint64_t)me->per_batch;
        if (me->waits == waits) add_batch(me, (double)(ticks() - begin) / ticks_per_ns, 0, 0);
    }
}

static void* work(void* argument) {
    struct Worker* me = argument;
    const double first = clock_ns(CLOCK_MONOTONIC);
    self = me;
    me->tid = gettid();
    bind_to(me->number);
    ++ready;
    while (ready < threads + 1)
        nap(100000);
    const double born = clock_ns(CLOCK_MONOTONIC), born_cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    const int64_t busy_before = busy ? busy[me->number % processors].cpu_ns : 0;
    me->begin_ns = born;
    me->idle_ns = idle_ns(sched_getcpu());
    me->begun = born;
    if (kind == kLock) {
        run_locked(me);
    } else {
        run_batches(me);
    }
    me->life_ns = clock_ns(CLOCK_MONOTONIC) - born;
    me->whole_ns = clock_ns(CLOCK_MONOTONIC) - first;
    me->whole_cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    me->cpu_ns = me->whole_cpu_ns - born_cpu;
    me->idle_ns = idle_ns(sched_getcpu()) - me->idle_ns;
    me->busy_ns = busy ? (double)(busy[me->number % processors].cpu_ns - busy_before) : 0;
    return NULL;
}

/// Holds the worker's mutex while it sleeps, as often as the share wants.
static void* hold(void* argument) {
    struct Worker* whose = argument;
    whose->holder_tid = gettid();
    while (whose->begun == 0)
        nap(100000);
    while (!ended) {
        const double life = clock_ns(CLOCK_MONOTONIC) - whose->begun;
        const double waited = (double)whose->waited_ticks / ticks_per_ns;
        if (waited > wanted * life) {
            const double rest = waited / wanted - life;
            nap(rest < 20e6 ? rest : 20e6);
            continue;
        }
        for (int tries = 1; pthread_mutex_trylock(&whose->mutex) != 0; ++tries)
            if (tries % 1000 == 0) nap(1000);
        ++whose->holds;
        whose->held_since = ticks();
        nap(hold_ns);
        whose->contended = *(volatile int*)&whose->mutex.__data.__lock > 1;
        pthread_mutex_unlock(&whose->mutex);
        nap(2000);
    }
    whose->holder_cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    return NULL;
}

/// Of the batches of the kind, what a call took: of a share of them, no more than this.
static double quantile(const struct Worker* me, int shared, int twin, double share) {
    double* all = malloc((me->batch_count + 1) * sizeof *all);
    size_t count = 0;
    for (size_t i = 0; i < me->batch_count; ++i)
        if (me->batches[i].shared == shared && me->batches[i].twin == twin) all[count++] = me->batches[i].ns;
    qsort(all, count, sizeof *all, up);
    const double found = count == 0 ? 0 : all[(size_t)((double)(count - 1) * share)];
    free(all);
    return found;
}

static size_t count_of(const struct Worker* me, int twin) {
    size_t count = 0;
    for (size_t i = 0; i < me->batch_count; ++i)
        count += !me->batches[i].shared && me->batches[i].twin == twin;
    return count;
}

/// In all calls of planted_call in phases of the kind: processor time beyond `base`. What a twin lost stands
/// for the calls of its phase.
static double beyond(const struct Worker* me, int shared, int twin, double base) {
    double lost = 0, of = 0, calls = 0;
    for (size_t i = 0; i < me->batch_count; ++i) {
        const struct Batch* batch = &me->batches[i];
        if (batch->shared != shared) continue;
        if (!batch->twin) calls += batch->calls;
        if (batch->twin != twin) continue;
        // In the others, gaps were left out while they ran.
        if (kind == kLock && ((double)batch->ns - base) * batch->calls > kGapNs) continue;
        lost += ((double)batch->ns - base) * batch->calls;
        of += batch->calls;
    }
    return of > 0 ? lost * calls / of : 0;
}

/// Of the thread's time off a processor that is no wait, what was inside planted_call.
static double share_inside(const struct Worker* me, double off) {
    double share = me->inside_ns * ticks_per_ns / me->tick_per_call;
    if (share > 1 || call_ns >= kTwinBelowNs) share = 1;
    if (kind != kLock && off > me->gap_ns) share *= me->gap_ns / off;
    return share * (double)me->calls / (double)(me->calls + me->twin_calls);
}

static void report_thread(const struct Worker* me) {
    const double off = me->life_ns - me->cpu_ns, waited = (double)me->waited_ticks / ticks_per_ns;
    const double runnable = off > waited ? off - waited : 0;
    const int twin = call_ns < kTwinBelowNs && kind != kLock;
    const int few = count_of(me, twin) < kFewBatches;  // shared at nearly all times
    const double call = me->tick_per_call / ticks_per_ns;
    // A sample may miss the milliseconds in which the processor was fastest; where each call is recorded,
    // none is.
    const double least = call_ns < kTwinBelowNs ? 0.02 : 0;
    const double base = few ? call : quantile(me, 0, twin, 0.5);
    const double fastest = few ? call : quantile(me, 0, twin, least);
    // Each thread of a processor can always run, but for those that wait for a mutex: while one does, the
    // others wait.
    double crowded = 0;
    for (long i = 0; i < threads; ++i)
        if (i != me->number && i % processors == me->number % processors) crowded += workers[i].cpu_ns;
    // Holders are on any processor.
    for (long i = 0; i < threads; ++i)
        crowded += workers[i].holder_cpu_ns / (double)processors;
    if (kind == kLock && crowded > 0) {
        double rest = me->life_ns - me->idle_ns - me->cpu_ns - crowded;
        if (rest < 0) rest = 0;
        crowded = runnable * crowded / (crowded + rest);
    }
    if (crowded > runnable) crowded = runnable;
    const double life = me->whole_ns - crowded;
    double planted = 0, others = (runnable - crowded) * share_inside(me, runnable);
    // The machine is faster at some times than at others, and interrupts come and go.
    double machine = (base - fastest) * (double)me->calls;
    machine += beyond(me, 0, twin, base);
    if (kind == kLock) planted = waited;
    if (kind == kSharing) planted = beyond(me, 1, twin, base);
    if (kind == kPreemption) {
        planted = me->busy_ns * share_inside(me, runnable);
        others -= planted;
    }
    printf(
        "  {\"tid\": %d, \"holder\": %d, \"processor\": %ld, \"calls\": %llu, \"life_ns\": %.0f, "
        "\"whole_ns\": "
        "%.0f, \"whole_cpu_ns\": %.0f, "
        "\"crowded_ns\": %.0f, \"waited_ns\": %.0f, \"waits\": %llu, \"base_ns\": %.2f, "
        "\"shared_ns\": %.2f, \"lock_share\": %.3f, \"slower\": %.3f, \"planted\": %.5f, \"by_others\": "
        "%.5f, \"by_machine\": %.5f}",
        me->tid, me->holder_tid, me->number % processors, (unsigned long long)me->calls, me->life_ns,
        me->whole_ns, me->whole_cpu_ns, crowded, waited, (unsigned long long)me->waits, base,
        quantile(me, 1, twin, 0.5), base > 0 ? me->pair_ns / base : 0,
        twin && count_of(me, 1) >= kEnoughBatches ? quantile(me, 0, 0, 0.5) / base : 0, planted / life,
        others / life, machine / life);
}

static int run_busy(int count, char** arguments) {
    if (count != 5) return 2;
    const int file = open(arguments[2], O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    processors = atol(arguments[4]);
    if (file < 0 || ftruncate(file, (off_t)sizeof(struct Busy) * kMaxThreads) != 0) return 1;
    busy = mmap(NULL, sizeof(struct Busy) * kMaxThreads, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (busy == MAP_FAILED || processors < 1 || processors > kMaxThreads) return 1;
    for (long i = 0; i < processors; ++i) {
        if (fork() != 0) continue;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        bind_to(i);
        setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + atoi(arguments[3]));
        for (;;) {
            chain(3, 5000);
            busy[i].cpu_ns = (int64_t)clock_ns(CLOCK_THREAD_CPUTIME_ID);
        }
    }
    while (wait(NULL) > 0) {
    }
    return 0;
}

static void measure_clock(void) {
    const double begin = clock_ns(CLOCK_MONOTONIC);
    const uint64_t from = ticks();
    nap(20e6);
    const uint64_t to = ticks();
    ticks_per_ns = (double)(to - from) / (clock_ns(CLOCK_MONOTONIC) - begin);
}

static double clock_step(void) {
    uint64_t least = UINT64_MAX, last = ticks();
    for (int i = 0; i < 100000; ++i) {
        const uint64_t now = ticks();
        if (now != last && now - last < least) least = now - last;
        last = now;
    }
    return (double)least / ticks_per_ns;
}

int main(int count, char** arguments) {
    if (count >= 2 && strcmp(arguments[1], "busy") == 0) return run_busy(count, arguments);
    if (count < 6 || count > 7) return 2;
    static const char* const kNames[] = {"lock", "sharing", "preemption"};
    int known = 0;
    for (int i = 0; i < 3; ++i)
        if (strcmp(arguments[1], kNames[i]) == 0) kind = (enum Kind)i, known = 1;
    wanted = atof(arguments[2]);
    call_ns = atof(arguments[3]);
    threads = atol(arguments[4]);
    seconds = atof(arguments[5]);
    if (!known || call_ns < 1 || threads < 1 || threads > kMaxThreads || seconds <= 0 || wanted <= 0 ||
        wanted >= 1)
        return 2;
    if (count == 7) {
        const int file = open(arguments[6], O_RDONLY | O_CLOEXEC);
        busy = mmap(NULL, sizeof(struct Busy) * kMaxThreads, PROT_READ, MAP_SHARED, file, 0);
        if (file < 0 || busy == MAP_FAILED) return 1;
    }
    phase_ns = kPhaseCalls * call_ns > kPhaseNs ? kPhaseCalls * call_ns : kPhaseNs;
    hold_ns = kHoldCalls * call_ns > kHoldNs ? kHoldCalls * call_ns : kHoldNs;
    const double start = clock_ns(CLOCK_MONOTONIC);
    measure_clock();
    processors = count_processors();
    self = &workers[0];
    pthread_t all[kMaxThreads], holders[kMaxThreads];
    for (long i = 0; i < threads; ++i) {
        struct Worker* worker = &workers[i];
        pthread_mutex_init(&worker->mutex, NULL);
        worker->line = worker->own_line;
        worker->number = i;
        worker->batches = malloc(kMaxBatches * sizeof *worker->batches);
        memset(worker->batches, 1, kMaxBatches * sizeof *worker->batches);
    }
    for (long i = 0; i < threads; ++i)
        if (pthread_create(&all[i], NULL, work, &workers[i]) != 0) return 1;
    for (long i = 0; kind == kLock && i < threads; ++i)
        if (pthread_create(&holders[i], NULL, hold, &workers[i]) != 0) return 1;
    // With other threads a mutex takes longer than in a process without.
    calibrate(self);
    for (long i = 1; i < threads; ++i) {
        workers[i].chunk = self->chunk;
        workers[i].turns = self->turns;
        workers[i].per_batch = self->per_batch;
        workers[i].inside_ns = self->inside_ns;
        workers[i].pair_ns = self->pair_ns;
        workers[i].tick_per_call = self->tick_per_call;
    }
    ++ready;
    for (long i = 0; i < threads; ++i)
        pthread_join(all[i], NULL);
    ended = 1;
    for (long i = 0; kind == kLock && i < threads; ++i)
        pthread_join(holders[i], NULL);
    printf(
        "{\"call_ns\": %.2f, \"inside_ns\": %.2f, \"clock_step_ns\": %.2f, \"begin_ns\": %.0f, \"run_ns\": "
        "%.0f, \"main_cpu_ns\": %.0f,\n"
        " \"all_threads\": %ld, \"threads\": [\n",
        self->tick_per_call / ticks_per_ns, self->inside_ns, clock_step(), workers[0].begin_ns - start,
        clock_ns(CLOCK_MONOTONIC) - start, clock_ns(CLOCK_THREAD_CPUTIME_ID),
        kind == kLock ? 2 * threads + 1 : threads + 1);
    for (long i = 0; i < threads; ++i) {
        report_thread(&workers[i]);
        printf(i + 1 < threads ? ",\n" : "\n");
    }
    printf(" ]}\n");
    return 0;
}
