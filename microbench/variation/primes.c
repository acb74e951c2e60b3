// The prime numbers up to n, counted by trial division: threads that compute and hardly touch memory. Listing
// 4 of Mazouz, Touati, Barthou, inria-00514548, 2010 (section 5.4).
#include <inttypes.h>
#include <stdio.h>

#include "microbench/variation/common.h"

static const char kProgram[] = "primes";

/// Divides by every number below it until one divides it.
static int is_prime(int64_t number) {
    for (int64_t divisor = 2; divisor < number; ++divisor)
        if (number % divisor == 0) return 0;
    return 1;
}

static int64_t count_primes(int64_t most) {
    int64_t total = 0;
#pragma omp parallel
#pragma omp for reduction(+ : total)
    for (int64_t number = 2; number <= most; ++number)
        total += is_prime(number);
    return total;
}

int main(int count, char** arguments) {
    int64_t most = 100000, threads = 0;
    const struct Usage usage = {
        kProgram, "", "Counts the prime numbers up to n by trial division. Prints a JSON object.\n"};
    const struct Option options[] = {
        {.name = "up-to", .value = "N", .help = "the last number", .whole = &most},
        {.name = "threads", .value = "T", .help = "threads (default: OMP_NUM_THREADS)", .whole = &threads},
        {0}};
    read_options(count, arguments, &usage, options, 0);
    threads = start_threads(kProgram, threads);

    const struct CpuTime cpu_begin = cpu_time();
    const int64_t begin = now_ns();
    const int64_t found = count_primes(most);
    const int64_t end = now_ns();
    const struct CpuTime cpu_end = cpu_time();

    print_begin(kProgram, threads);
    printf(", \"up_to\": %" PRId64 ", \"count\": %" PRId64
           ", \"seconds\": %.9f, \"cpu_seconds\": %.9f, \"main_thread_cpu_seconds\": %.9f}\n",
           most, found, (double)(end - begin) / 1e9,
           (double)(cpu_end.process_ns - cpu_begin.process_ns) / 1e9,
           (double)(cpu_end.main_thread_ns - cpu_begin.main_thread_ns) / 1e9);
    return 0;
}
