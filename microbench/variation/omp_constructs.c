// What OpenMP's constructs and schedules cost, as EPCC's syncbench and schedbench measure it (Bull; settings
// of Cui, Papadopoulou, Pericàs, SC-W 2023, table 1): the time with the construct minus that of the same
// delays without it.
//
// A measurement repeats the construct until it takes the test time, and is itself repeated.
#include <inttypes.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "microbench/variation/common.h"

static const char kProgram[] = "omp_constructs";

/// What a measurement does, and what of it is part of one of them.
struct Job {
    int64_t inner;       ///< How often the construct is done in all, by all threads together.
    int64_t rounds;      ///< Of a delay.
    int64_t iterations;  ///< Of a loop, for each thread (schedules).
    int threads, chunk;
};

/// Computes, so that it takes longer where the processor is slower, as the delays of EPCC do.
__attribute__((noinline)) static void delay(int64_t rounds) {
    uint64_t value = 1;
    for (int64_t i = 0; i < rounds; ++i) {
        value *= 0x9E3779B97F4A7C15u;
        __asm__ volatile("" : "+r"(value));
    }
}

/// As many rounds as take that long: the fastest of some tries, since what else runs only makes them slower.
static int64_t rounds_of(double delay_us) {
    enum { kTries = 20, kCalls = 1000 };
    double wanted = delay_us * 1e3, rounds = delay_us * 1e3;
    for (int turn = 0; turn < 3; ++turn) {
        if (rounds < 1) rounds = 1;
        // A long delay needs no thousand calls to be timed.
        const int calls = wanted > 1e4 ? 1 + (int)(1e6 / wanted) : kCalls;
        double best = 0;
        for (int i = 0; i < kTries; ++i) {
            const int64_t begin = now_ns();
            for (int j = 0; j < calls; ++j)
                delay((int64_t)rounds);
            const double taken = (double)(now_ns() - begin) / calls;
            if (i == 0 || taken < best) best = taken;
        }
        if (best <= 0) best = 1;
        rounds *= wanted / best;
    }
    return rounds < 1 ? 1 : (int64_t)(rounds + 0.5);
}

// What the updates of atomic and reduction go to; seen from outside, so that none can be left out.
double omp_constructs_sum;

// The delays alone.

static void refer(const struct Job* job) {
    for (int64_t i = 0; i < job->inner; ++i)
        delay(job->rounds);
}

static void refer_atomic(const struct Job* job) {
    double sum = 0;
    for (int64_t i = 0; i < job->inner; ++i) {
        sum += 1;
        __asm__ volatile("" : "+m"(sum));
    }
    omp_constructs_sum = sum;
}

static void refer_reduction(const struct Job* job) {
    double sum = 0;
    for (int64_t i = 0; i < job->inner; ++i) {
        delay(job->rounds);
        sum += 1;
        __asm__ volatile("" : "+m"(sum));
    }
    omp_constructs_sum = sum;
}

// The same within a construct. Where threads exclude each other, or take turns, they share the delays; where
// they do not, each has all of them, at the same time.

static void do_parallel(const struct Job* job) {
    for (int64_t i = 0; i < job->inner; ++i) {
#pragma omp parallel
        delay(job->rounds);
    }
}

static void do_for(const struct Job* job) {
#pragma omp parallel
    for (int64_t i = 0; i < job->inner; ++i) {
#pragma omp for
        for (int j = 0; j < job->threads; ++j)
            delay(job->rounds);
    }
}

static void do_barrier(const struct Job* job) {
#pragma omp parallel
    for (int64_t i = 0; i < job->inner; ++i) {
        delay(job->rounds);
#pragma omp barrier
    }
}

static void do_single(const struct Job* job) {
#pragma omp parallel
    for (int64_t i = 0; i < job->inner; ++i) {
#pragma omp single
        delay(job->rounds);
    }
}

static void do_critical(const struct Job* job) {
#pragma omp parallel
    for (int64_t i = 0; i < job->inner / job->threads; ++i) {
#pragma omp critical
        delay(job->rounds);
    }
}

static void do_lock(const struct Job* job) {
    omp_lock_t lock;
    omp_init_lock(&lock);
#pragma omp parallel
    for (int64_t i = 0; i < job->inner / job->threads; ++i) {
        omp_set_lock(&lock);
        delay(job->rounds);
        omp_unset_lock(&lock);
    }
    omp_destroy_lock(&lock);
}

static void do_ordered(const struct Job* job) {
#pragma omp parallel for ordered schedule(static, 1)
    for (int64_t i = 0; i < job->inner; ++i) {
#pragma omp ordered
        delay(job->rounds);
    }
}

static void do_atomic(const struct Job* job) {
    double sum = 0;
#pragma omp parallel
    for (int64_t i = 0; i < job->inner / job->threads; ++i) {
#pragma omp atomic
        sum += 1;
    }
    omp_constructs_sum = sum;
}

static void do_reduction(const struct Job* job) {
    double sum = 0;
    for (int64_t i = 0; i < job->inner; ++i) {
#pragma omp parallel reduction(+ : sum)
        {
            delay(job->rounds);
            sum += 1;
        }
    }
    omp_constructs_sum = sum;
}

// A loop over the delays of all threads, by each schedule; EPCC's reference is one thread's share of them.

static void refer_loop(const struct Job* job) {
    for (int64_t i = 0; i < job->inner; ++i)
        for (int64_t j = 0; j < job->iterations; ++j)
            delay(job->rounds);
}

static void do_static(const struct Job* job) {
#pragma omp parallel
    for (int64_t i = 0; i < job->inner; ++i) {
#pragma omp for schedule(static)
        for (int64_t j = 0; j < job->iterations * job->threads; ++j)
            delay(job->rounds);
    }
}

static void do_static_chunks(const struct Job* job) {
#pragma omp parallel
    for (int64_t i = 0; i < job->inner; ++i) {
#pragma omp for schedule(static, job->chunk)
        for (int64_t j = 0; j < job->iterations * job->threads; ++j)
            delay(job->rounds);
    }
}

static void do_dynamic_chunks(const struct Job* job) {
#pragma omp parallel
    for (int64_t i = 0; i < job->inner; ++i) {
#pragma omp for schedule(dynamic, job->chunk)
        for (int64_t j = 0; j < job->iterations * job->threads; ++j)
            delay(job->rounds);
    }
}

static void do_guided_chunks(const struct Job* job) {
#pragma omp parallel
    for (int64_t i = 0; i < job->inner; ++i) {
#pragma omp for schedule(guided, job->chunk)
        for (int64_t j = 0; j < job->iterations * job->threads; ++j)
            delay(job->rounds);
    }
}

typedef void Measured(const struct Job* job);

struct Construct {
    const char* name;  ///< Of a schedule: before the size of its chunks.
    Measured *construct, *reference;
    bool divided;  ///< Threads divide the constructs among themselves, instead of each doing all of them.
};

static const struct Construct kConstructs[] = {{"parallel", do_parallel, refer, false},
                                               {"for", do_for, refer, false},
                                               {"barrier", do_barrier, refer, false},
                                               {"single", do_single, refer, false},
                                               {"critical", do_critical, refer, true},
                                               {"lock", do_lock, refer, true},
                                               {"ordered", do_ordered, refer, false},
                                               {"atomic", do_atomic, refer_atomic, true},
                                               {"reduction", do_reduction, refer_reduction, false}};
static const struct Construct kSchedules[] = {{"static", do_static_chunks, refer_loop, false},
                                              {"dynamic", do_dynamic_chunks, refer_loop, false},
                                              {"guided", do_guided_chunks, refer_loop, false}};
static const struct Construct kStatic = {"static", do_static, refer_loop, false};

struct Settings {
    int64_t repetitions, iterations, threads, rounds;
    double delay_us, test_us;
};

static double time_us(Measured* measured, const struct Job* job) {
    const int64_t begin = now_ns();
    measured(job);
    return (double)(now_ns() - begin) / 1e3;
}

/// How long one construct takes, in µs, for each of the repetitions. The number of constructs in a
/// repetition, which it returns, is doubled until these take the test time, as EPCC does, but thrice: whoever
/// was disturbed once would have too few in all of the repetitions.
static int64_t measure(const struct Settings* settings, Measured* measured, bool divided, int chunk,
                       double* times) {
    enum { kTries = 3 };
    const int threads = (int)settings->threads;
    struct Job job = {divided ? threads : 1, settings->rounds, settings->iterations, threads, chunk};
    measured(&job);  // what is done only once, such as starting threads
    for (int enough = 0; enough < kTries;) {
        if (time_us(measured, &job) >= settings->test_us) {
            ++enough;
        } else {
            enough = 0;
            job.inner *= 2;
        }
    }
    for (int64_t i = 0; i < settings->repetitions; ++i)
        times[i] = time_us(measured, &job) / (double)job.inner;
    return job.inner;
}

struct Reference {
    Measured* measured;
    double us;
};

/// Measures what it must, unless the one before has the same reference, and prints the construct as a member.
static void report(const struct Settings* settings, const struct Construct* what, int chunk, bool first,
                   struct Reference* reference, double* times) {
    if (reference->measured != what->reference) {
        measure(settings, what->reference, false, chunk, times);
        *reference = (struct Reference){what->reference, statistics_of(times, settings->repetitions).mean};
    }
    const int64_t inner = measure(settings, what->construct, what->divided, chunk, times);
    printf("%s\"%s", first ? "" : ", ", what->name);
    if (chunk > 0) printf("_%d", chunk);
    printf("\": {\"inner_repetitions\": %" PRId64 ", \"reference_us\": %.9g, \"overhead_us\": %.9g", inner,
           reference->us, statistics_of(times, settings->repetitions).mean - reference->us);
    print_statistics("time_us", times, settings->repetitions);
    print_values("repetitions_us", times, settings->repetitions);
    putchar('}');
    fflush(stdout);
}

/// Calls `use` with each name of a list as `single,lock`.
static void for_each_name(const char* list, void (*use)(const char* name, void* context), void* context) {
    char* copy = strdup(list);
    char* rest = copy;
    for (char* name = strsep(&rest, ","); name; name = strsep(&rest, ","))
        use(name, context);
    free(copy);
}

enum { kMostMeasured = 256 };

struct Chosen {
    const struct Construct* what[kMostMeasured];
    int chunks[kMostMeasured];
    int count;
    int64_t iterations;
};

/// Takes it once, however often it is named.
static void choose(struct Chosen* chosen, const struct Construct* what, int chunk) {
    for (int i = 0; i < chosen->count; ++i)
        if (chosen->what[i] == what && chosen->chunks[i] == chunk) return;
    if (chosen->count == kMostMeasured)
        fail(kProgram, "more than %d to be measured: give fewer", kMostMeasured);
    chosen->what[chosen->count] = what;
    chosen->chunks[chosen->count++] = chunk;
}

static void choose_construct(const char* name, void* context) {
    const size_t all = sizeof kConstructs / sizeof *kConstructs;
    bool known = false;
    for (size_t i = 0; i < all; ++i)
        if (strcmp(name, "all") == 0 || strcmp(name, kConstructs[i].name) == 0) {
            choose(context, &kConstructs[i], 0);
            known = true;
        }
    if (!known) fail(kProgram, "unknown construct '%s': see --help", name);
}

static void choose_schedule(const char* name, void* context) {
    struct Chosen* chosen = context;
    const size_t all = sizeof kSchedules / sizeof *kSchedules;
    if (strcmp(name, "all") == 0) {
        choose(chosen, &kStatic, 0);
        for (int64_t chunk = 1; chunk <= chosen->iterations && chunk <= INT32_MAX; chunk *= 2)
            for (size_t i = 0; i < all; ++i)
                choose(chosen, &kSchedules[i], (int)chunk);
        return;
    }
    if (strcmp(name, kStatic.name) == 0) {
        choose(chosen, &kStatic, 0);
        return;
    }
    for (size_t i = 0; i < all; ++i) {
        const size_t length = strlen(kSchedules[i].name);
        if (strncmp(name, kSchedules[i].name, length) != 0 || name[length] != '_') continue;
        char* end = NULL;
        const long chunk = strtol(&name[length + 1], &end, 10);
        if (*end != '\0' || chunk < 1 || chunk > INT32_MAX) break;
        choose(chosen, &kSchedules[i], (int)chunk);
        return;
    }
    fail(kProgram, "unknown schedule '%s': give one such as dynamic_1 (see --help)", name);
}

int main(int count, char** arguments) {
    const char* kind = count > 1 ? arguments[1] : "";
    const bool sched = strcmp(kind, "sched") == 0;
    struct Settings settings = {
        .repetitions = 100, .iterations = 8192, .delay_us = sched ? 15 : 0.1, .test_us = 1000};
    const char* names = sched ? "static_1,dynamic_1,guided_1" : "all";
    const struct Usage usage = {
        kProgram, sched ? "sched" : "sync|sched",
        "sync: what each construct of OpenMP takes beyond the delays in it, as EPCC's syncbench.\n"
        "sched: what a loop of delays takes by each schedule, as EPCC's schedbench.\n"
        "Prints a JSON object.\n\n"
        "constructs: parallel for barrier single critical lock ordered atomic reduction; all\n"
        "schedules: static static_N dynamic_N guided_N, with chunks of N iterations; all: static, and the\n"
        "others with N = 1, 2, 4 … up to the iterations of a thread\n"};
    const struct Option options[] = {
        {.name = sched ? "schedules" : "constructs",
         .value = "LIST",
         .help = "what is measured",
         .text = &names},
        {.name = "repetitions", .value = "R", .help = "measurements of each", .whole = &settings.repetitions},
        {.name = "delay", .value = "US", .help = "µs of a delay; sched: 15", .real = &settings.delay_us},
        {.name = "delay-rounds",
         .value = "N",
         .help = "rounds of a delay, instead of µs",
         .whole = &settings.rounds},
        {.name = "test-time",
         .value = "US",
         .help = "µs of a measurement, at least",
         .real = &settings.test_us},
        {.name = "threads",
         .value = "T",
         .help = "threads (default: OMP_NUM_THREADS)",
         .whole = &settings.threads},
        {.name = sched ? "iterations" : NULL,
         .value = "N",
         .help = "iterations for each thread",
         .whole = &settings.iterations},
        {0}};
    const int others = read_options(count, arguments, &usage, options, 1);
    kind = others == 1 ? arguments[count - 1] : "";
    if (strcmp(kind, "sync") != 0 && strcmp(kind, "sched") != 0)
        fail(kProgram, "'%s' is none of its measurements: give sync or sched (see --help)", kind);
    if (sched != (strcmp(kind, "sched") == 0))
        fail(kProgram, "'sched' must be the first argument: put it there");

    struct Chosen chosen = {.iterations = settings.iterations};
    for_each_name(names, sched ? choose_schedule : choose_construct, &chosen);
    settings.threads = start_threads(kProgram, settings.threads);
    const bool given_rounds = settings.rounds > 0;
    if (!given_rounds) settings.rounds = rounds_of(settings.delay_us);
    double* times = table_of(kProgram, settings.repetitions, sizeof *times);

    print_begin(kProgram, settings.threads);
    printf(", \"measurement\": \"%s\", \"repetitions\": %" PRId64 ", \"delay_us\": ", kind,
           settings.repetitions);
    if (given_rounds)
        printf("null");
    else
        printf("%g", settings.delay_us);
    printf(", \"delay_rounds\": %" PRId64 ", \"test_time_us\": %g", settings.rounds, settings.test_us);
    if (sched) printf(", \"iterations\": %" PRId64, settings.iterations);
    printf(", \"%s\": {", sched ? "schedules" : "constructs");
    struct Reference reference = {NULL, 0};
    for (int i = 0; i < chosen.count; ++i)
        report(&settings, chosen.what[i], chosen.chunks[i], i == 0, &reference, times);
    printf("}}\n");
    return 0;
}
