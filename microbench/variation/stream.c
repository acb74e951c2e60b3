// The kernels of STREAM and BabelStream: what memory gives to loops that do nothing but move and add. Cui,
// Papadopoulou, Pericàs, SC-W 2023 (section 4.2): copy, mul (STREAM's scale), add, triad and dot on 2^25
// doubles, with the values that BabelStream begins with and its hundred repetitions.
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "microbench/variation/common.h"

enum Kernel { kCopy, kMul, kAdd, kTriad, kDot, kKernels };

static const char kProgram[] = "stream";
static const char* const kNames[kKernels] = {"copy", "mul", "add", "triad", "dot"};
static const int kArrays[kKernels] = {2, 2, 3, 3, 2};  // that an element is read from or written to
static const double kA = 0.1, kB = 0.2, kC = 0.0, kScalar = 0.4;

struct Arrays {
    double *a, *b, *c;
    int64_t elements;
};

/// Each thread is the first to touch what it will work on.
static void fill(const struct Arrays* arrays) {
    double *a = arrays->a, *b = arrays->b, *c = arrays->c;
#pragma omp parallel for
    for (int64_t i = 0; i < arrays->elements; ++i) {
        a[i] = kA;
        b[i] = kB;
        c[i] = kC;
    }
}

static void copy(const struct Arrays* arrays) {
    const double* restrict a = arrays->a;
    double* restrict c = arrays->c;
#pragma omp parallel for
    for (int64_t i = 0; i < arrays->elements; ++i)
        c[i] = a[i];
}

static void mul(const struct Arrays* arrays) {
    double* restrict b = arrays->b;
    const double* restrict c = arrays->c;
#pragma omp parallel for
    for (int64_t i = 0; i < arrays->elements; ++i)
        b[i] = kScalar * c[i];
}

static void add(const struct Arrays* arrays) {
    const double* restrict a = arrays->a, * restrict b = arrays->b;
    double* restrict c = arrays->c;
#pragma omp parallel for
    for (int64_t i = 0; i < arrays->elements; ++i)
        c[i] = a[i] + b[i];
}

static void triad(const struct Arrays* arrays) {
    double* restrict a = arrays->a;
    const double* restrict b = arrays->b, * restrict c = arrays->c;
#pragma omp parallel for
    for (int64_t i = 0; i < arrays->elements; ++i)
        a[i] = b[i] + kScalar * c[i];
}

static double dot(const struct Arrays* arrays) {
    const double *a = arrays->a, *b = arrays->b;
    double sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int64_t i = 0; i < arrays->elements; ++i)
        sum += a[i] * b[i];
    return sum;
}

/// The kernels in turn, `repetitions` times. `seconds` gets those of a kernel one after the other; returns
/// the last dot.
static double repeat(const struct Arrays* arrays, int64_t repetitions, double* seconds) {
    double sum = 0;
    for (int64_t i = 0; i < repetitions; ++i)
        for (int kernel = 0; kernel < kKernels; ++kernel) {
            const int64_t begin = now_ns();
            switch (kernel) {
                case kCopy:
                    copy(arrays);
                    break;
                case kMul:
                    mul(arrays);
                    break;
                case kAdd:
                    add(arrays);
                    break;
                case kTriad:
                    triad(arrays);
                    break;
                default:
                    sum = dot(arrays);
            }
            seconds[kernel * repetitions + i] = (double)(now_ns() - begin) / 1e9;
        }
    return sum;
}

static bool is_near(double value, double expected, double most) {
    return fabs(value - expected) <= most * fabs(expected);
}

/// Whether each element is what the kernels make of its first value, and the sum that of the products.
static bool is_right(const struct Arrays* arrays, int64_t repetitions, double sum) {
    double a = kA, b = kB, c = kC;
    for (int64_t i = 0; i < repetitions; ++i) {
        c = a;
        b = kScalar * c;
        c = a + b;
        a = b + kScalar * c;
    }
    bool right = is_near(sum, a * b * (double)arrays->elements, 1e-8);
    const double most =
        (double)(4 * repetitions) * DBL_EPSILON;  // compilers may contract two operations to one
    for (int64_t i = 0; i < arrays->elements; ++i)
        right &= is_near(arrays->a[i], a, most) && is_near(arrays->b[i], b, most) &&
                 is_near(arrays->c[i], c, most);
    return right;
}

int main(int count, char** arguments) {
    int64_t elements = 1 << 25, repetitions = 100, threads = 0;
    const struct Usage usage = {
        kProgram, "",
        "Times copy, mul, add, triad and dot on arrays of doubles, and checks what they made. Prints a JSON\n"
        "object. The first repetition is not counted.\n"};
    const struct Option options[] = {
        {.name = "elements", .value = "N", .help = "doubles in each of three arrays", .whole = &elements},
        {.name = "repetitions", .value = "R", .help = "at least 2", .whole = &repetitions},
        {.name = "threads", .value = "T", .help = "threads (default: OMP_NUM_THREADS)", .whole = &threads},
        {0}};
    read_options(count, arguments, &usage, options, 0);
    if (repetitions < 2)
        fail(kProgram, "--repetitions 1 leaves none, since the first is not counted: give 2");
    threads = start_threads(kProgram, threads);

    struct Arrays arrays = {.elements = elements};
    arrays.a = table_of(kProgram, elements, sizeof *arrays.a);
    arrays.b = table_of(kProgram, elements, sizeof *arrays.b);
    arrays.c = table_of(kProgram, elements, sizeof *arrays.c);
    double* seconds = table_of(kProgram, repetitions, kKernels * sizeof *seconds);
    fill(&arrays);
    const double sum = repeat(&arrays, repetitions, seconds);

    const bool right = is_right(&arrays, repetitions, sum);
    print_begin(kProgram, threads);
    printf(", \"elements\": %" PRId64 ", \"repetitions\": %" PRId64 ", \"kernels\": {", elements,
           repetitions);
    for (int kernel = 0; kernel < kKernels; ++kernel) {
        const double* counted = &seconds[kernel * repetitions + 1];
        const double bytes = (double)kArrays[kernel] * (double)sizeof(double) * (double)elements;
        printf("%s\"%s\": {\"bytes\": %.0f, \"best_mb_per_s\": %.1f", kernel > 0 ? ", " : "", kNames[kernel],
               bytes, bytes / statistics_of(counted, repetitions - 1).minimum / 1e6);
        print_statistics("seconds", counted, repetitions - 1);
        print_values("repetitions", counted, repetitions - 1);
        putchar('}');
    }
    printf("}, \"right\": %s}\n", right ? "true" : "false");
    return right ? 0 : 1;
}
