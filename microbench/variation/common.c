#include "microbench/variation/common.h"

#include <dlfcn.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifdef _OPENMP
#include <omp.h>
#endif

enum {
    kMostOptions = 16,
    kFirstOption = 256,  // beyond what getopt_long() returns for itself
    kHugePage = 2 << 20
};

void fail(const char* program, const char* format, ...) {
    va_list values;
    va_start(values, format);
    fprintf(stderr, "%s: ", program);
    vfprintf(stderr, format, values);
    fputc('\n', stderr);
    va_end(values);
    exit(2);
}

static void print_help(const struct Usage* usage, const struct Option* options) {
    printf("usage: %s [options]%s%s\n\n%s\noptions:\n", usage->program, *usage->arguments ? " " : "",
           usage->arguments, usage->about);
    for (const struct Option* option = options; option->name; ++option) {
        char left[48];
        snprintf(left, sizeof left, "--%s %s", option->name, option->value ? option->value : "");
        printf("  %-24s %s", left, option->help);
        if (option->whole && *option->whole > 0) printf(" (%" PRId64 ")", *option->whole);
        if (option->real && *option->real > 0) printf(" (%g)", *option->real);
        if (option->text && *option->text) printf(" (%s)", *option->text);
        putchar('\n');
    }
    printf("  %-24s %s\n", "--help", "print this");
}

static void read_value(const char* program, const struct Option* option, const char* value) {
    char* end = NULL;
    errno = 0;
    if (option->given) {
        *option->given = true;
    } else if (option->text) {
        *option->text = value;
    } else if (option->whole) {
        *option->whole = strtoll(value, &end, 10);
        if (errno != 0 || end == value || *end != '\0' || *option->whole < 1)
            fail(program, "--%s '%s' is no integer of at least 1: give one, such as 2", option->name, value);
    } else {
        *option->real = strtod(value, &end);
        if (errno != 0 || end == value || *end != '\0' || !(*option->real > 0) || isinf(*option->real))
            fail(program, "--%s '%s' is no number above 0: give one, such as 0.1", option->name, value);
    }
}

int read_options(int count, char** arguments, const struct Usage* usage, const struct Option* options,
                 int most) {
    struct option known[kMostOptions + 2] = {{"help", no_argument, NULL, 'h'}};
    for (int i = 0; options[i].name; ++i)
        known[i + 1] = (struct option){options[i].name, options[i].value ? required_argument : no_argument,
                                       NULL, kFirstOption + i};
    opterr = 0;
    for (;;) {
        const int found = getopt_long(count, arguments, ":", known, NULL);
        if (found == -1) break;
        switch (found) {
            case 'h':
                print_help(usage, options);
                exit(0);
            case ':':
                fail(usage->program, "--%s takes a value: see --help", options[optopt - kFirstOption].name);
            case '?':
                if (optopt >= kFirstOption)
                    fail(usage->program, "--%s takes no value: see --help",
                         options[optopt - kFirstOption].name);
                if (optopt != 0) fail(usage->program, "unknown option '-%c': see --help", optopt);
                fail(usage->program, "unknown option '%s': see --help", arguments[optind - 1]);
            default:
                read_value(usage->program, &options[found - kFirstOption], optarg);
        }
    }
    if (count - optind > most)
        fail(usage->program, "'%s' is one argument too many: see --help", arguments[optind + most]);
    return count - optind;
}

static int64_t clock_ns(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

int64_t now_ns(void) {
    return clock_ns(CLOCK_MONOTONIC);
}

struct CpuTime cpu_time(void) {
    return (struct CpuTime){clock_ns(CLOCK_PROCESS_CPUTIME_ID), clock_ns(CLOCK_THREAD_CPUTIME_ID)};
}

int64_t start_threads(const char* program, int64_t wanted) {
#ifdef _OPENMP
    if (wanted > INT32_MAX) fail(program, "--threads %" PRId64 " is too many: give fewer", wanted);
    omp_set_dynamic(0);
    if (wanted > 0) omp_set_num_threads((int)wanted);
    int64_t started = 0;
#pragma omp parallel
#pragma omp single
    started = omp_get_num_threads();
#else
    const int64_t started = 1;
#endif
    if (wanted > 0 && started != wanted)
        fail(program,
             "%" PRId64 " threads are wanted, and %" PRId64 " started: give --threads %" PRId64
             ", or raise OMP_THREAD_LIMIT; a build without OpenMP has one",
             wanted, started, started);
    return started;
}

void* table_of(const char* program, int64_t elements, size_t size) {
    void* table = NULL;
    if ((uint64_t)elements <= (uint64_t)PTRDIFF_MAX / size)
        table = aligned_alloc(kHugePage, ((size_t)elements * size + kHugePage - 1) / kHugePage * kHugePage);
    if (!table) fail(program, "no memory for %" PRId64 " elements of %zu bytes: take fewer", elements, size);
    return table;
}

struct Statistics statistics_of(const double* values, int64_t count) {
    struct Statistics result = {0, 0, values[0], values[0]};
    for (int64_t i = 0; i < count; ++i) {
        result.mean += values[i] / (double)count;
        result.minimum = fmin(result.minimum, values[i]);
        result.maximum = fmax(result.maximum, values[i]);
    }
    double squares = 0;
    for (int64_t i = 0; i < count; ++i)
        squares += (values[i] - result.mean) * (values[i] - result.mean);
    result.sd = count > 1 ? sqrt(squares / (double)(count - 1)) : NAN;
    return result;
}

/// JSON has no NaN.
static void print_number(const char* before, double value) {
    if (isfinite(value))
        printf("%s%.9g", before, value);
    else
        printf("%snull", before);
}

void print_begin(const char* program, int64_t threads) {
#if defined __clang__
    const char* compiler = __VERSION__;
#else
    const char* compiler = "GCC " __VERSION__;
#endif
#ifdef _OPENMP
    // libomp has the functions of libgomp, too, and may stand in for it.
    const char* runtime = dlsym(RTLD_DEFAULT, "__kmpc_fork_call") ? "libomp" : "libgomp";
#else
    const char* runtime = "none";
#endif
    printf("{\"program\": \"%s\", \"compiler\": \"%s\", \"runtime\": \"%s\", \"threads\": %" PRId64, program,
           compiler, runtime, threads);
}

void print_statistics(const char* name, const double* values, int64_t count) {
    const struct Statistics all = statistics_of(values, count);
    printf(", \"%s\": ", name);
    print_number("{\"mean\": ", all.mean);
    print_number(", \"sd\": ", all.sd);
    print_number(", \"minimum\": ", all.minimum);
    print_number(", \"maximum\": ", all.maximum);
    print_number(", \"cv\": ", all.sd / all.mean);
    print_number(", \"min_over_mean\": ", all.minimum / all.mean);
    print_number(", \"max_over_mean\": ", all.maximum / all.mean);
    putchar('}');
}

void print_values(const char* name, const double* values, int64_t count) {
    printf(", \"%s\": ", name);
    for (int64_t i = 0; i < count; ++i)
        print_number(i == 0 ? "[" : ", ", values[i]);
    putchar(']');
}
