// mb_N_M: each of N chunks of M 64-bit integers is incremented as a whole, pass after pass, and the threads
// share the chunks. Listing 1 and table 2 of Mazouz, Touati, Barthou, inria-00514548, 2010 (section 5.2.1).
//
// Built without OpenMP it is the sequential program.
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "microbench/variation/common.h"

// What is in registers is written, and read again: without it compilers do several passes in one.
#ifndef PASS_BARRIER
#define PASS_BARRIER __asm__ volatile("" ::: "memory")
#endif

static const char kProgram[] = "chunk_kernel";

static void run_passes(int64_t* tab, int64_t chunks, int64_t length, int64_t passes) {
// The report's sizes are constants. Of what threads share, clang would read the length for each element,
// which might change it.
#pragma omp parallel for firstprivate(tab, length, passes)
    for (int64_t i = 0; i < chunks; ++i)
        for (int64_t j = 0; j < passes; ++j) {
            for (int64_t k = 0; k < length; ++k)
                tab[i * length + k]++;
            PASS_BARRIER;
        }
}

/// Each thread is the first to touch what it will increment.
static void clear(int64_t* tab, int64_t chunks, int64_t length) {
#pragma omp parallel for
    for (int64_t i = 0; i < chunks; ++i)
        memset(&tab[i * length], 0, (size_t)length * sizeof *tab);
}

/// The pairs of table 2 and of the figures of section 5.2.3: the chunks become shorter by halves, to 12
/// elements, and the last pair has 196,608 of them; then those of table 3.
static void list_names(void) {
    static const int64_t kLongest = 196608;
    for (int64_t threads = 8; threads >= 4; threads /= 2) {
        const int64_t all = threads * kLongest;
        for (int64_t length = kLongest; length >= 12; length /= 2)
            printf("mb_%" PRId64 "_%" PRId64 "\n", all / length, length);
        printf("mb_%" PRId64 "_%" PRId64 "\n", kLongest, all / kLongest);
    }
    printf("mb_4_190000\nmb_4_100000\n");
}

static bool read_name(const char* name, int64_t* chunks, int64_t* length) {
    int end = 0;
    return sscanf(name, "mb_%" SCNd64 "_%" SCNd64 "%n", chunks, length, &end) == 2 && name[end] == '\0' &&
           *chunks > 0 && *length > 0;
}

struct Cache {
    int64_t level, bytes;
    char processors[256];
};

static bool read_line(int processor, int index, const char* file, char* line, size_t size) {
    char path[128];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cache/index%d/%s", processor, index, file);
    FILE* opened = fopen(path, "re");
    if (!opened) return false;
    const bool read = fgets(line, (int)size, opened) != NULL;
    fclose(opened);
    if (read) line[strcspn(line, "\n")] = '\0';
    return read;
}

/// How many of the processors of a list as `0-3,8` are in the set.
static int count_members(const char* list, const cpu_set_t* set, size_t size) {
    int members = 0;
    while (*list) {
        char* end = NULL;
        const long first = strtol(list, &end, 10);
        long last = first;
        if (*end == '-') last = strtol(end + 1, &end, 10);
        for (long i = first; i <= last; ++i)
            if (CPU_ISSET_S(i, size, set)) ++members;
        if (*end == '\0' || end == list) break;
        list = end + 1;
    }
    return members;
}

/// The smallest cache of data that two of the processors share on which this process may run.
static struct Cache smallest_shared_cache(void) {
    enum { kMostProcessors = 8192, kMostCaches = 16 };
    cpu_set_t* allowed = CPU_ALLOC(kMostProcessors);
    const size_t size = CPU_ALLOC_SIZE(kMostProcessors);
    struct Cache best = {0, 0, ""};
    if (!allowed || sched_getaffinity(0, size, allowed) != 0)
        fail(kProgram, "the processors that it may use cannot be read: leave out --scale-to-cache");
    for (int processor = 0; processor < kMostProcessors; ++processor) {
        if (!CPU_ISSET_S(processor, size, allowed)) continue;
        for (int index = 0; index < kMostCaches; ++index) {
            char type[32], bytes[32], level[32];
            struct Cache cache;
            if (!read_line(processor, index, "type", type, sizeof type)) break;
            if (strcmp(type, "Instruction") == 0 ||
                !read_line(processor, index, "size", bytes, sizeof bytes) ||
                !read_line(processor, index, "level", level, sizeof level) ||
                !read_line(processor, index, "shared_cpu_list", cache.processors, sizeof cache.processors))
                continue;
            cache.level = strtoll(level, NULL, 10);
            cache.bytes = strtoll(bytes, NULL, 10) * 1024;  // sysfs always counts in K
            if (count_members(cache.processors, allowed, size) >= 2 &&
                (best.bytes == 0 || cache.bytes < best.bytes))
                best = cache;
        }
    }
    CPU_FREE(allowed);
    if (best.bytes == 0)
        fail(kProgram,
             "no two of the processors that it may use share a cache: allow it others, or give --length");
    return best;
}

int main(int count, char** arguments) {
    int64_t chunks = 8, length = 196608, passes = 10000, threads = 0;
    bool list = false, scale = false;
    const struct Usage usage = {
        kProgram, "[mb_N_M]",
        "Increments each of N chunks of M 64-bit integers as often as there are passes; the threads share "
        "the\n"
        "chunks. Prints a JSON object. The name mb_N_M stands for --chunks N --length M.\n"};
    const struct Option options[] = {
        {.name = "chunks", .value = "N", .help = "number of chunks", .whole = &chunks},
        {.name = "length", .value = "M", .help = "integers in a chunk", .whole = &length},
        {.name = "passes", .value = "P", .help = "passes over each chunk", .whole = &passes},
        {.name = "threads", .value = "T", .help = "threads (default: OMP_NUM_THREADS)", .whole = &threads},
        {.name = "scale-to-cache",
         .help = "M so that a thread's share is 3/8 of the smallest cache that processors share",
         .given = &scale},
        {.name = "list", .help = "print the names of the report's sizes, and end", .given = &list},
        {0}};
    const int others = read_options(count, arguments, &usage, options, 1);
    if (list) {
        list_names();
        return 0;
    }
    if (others == 1 && !read_name(arguments[count - 1], &chunks, &length))
        fail(kProgram, "'%s' is no name of a size: give one such as mb_8_196608 (see --list)",
             arguments[count - 1]);
    threads = start_threads(kProgram, threads);

    struct Cache cache = {0, 0, ""};
    if (scale) {
        cache = smallest_shared_cache();
        length = threads * (cache.bytes / 8 * 3) / (int64_t)sizeof(int64_t) / chunks;
        if (length == 0) fail(kProgram, "more chunks than fit integers into the cache: give fewer --chunks");
    }
    int64_t elements = 0;
    if (__builtin_mul_overflow(chunks, length, &elements))
        fail(kProgram, "%" PRId64 " chunks of %" PRId64 " are too many: take fewer", chunks, length);
    int64_t* tab = table_of(kProgram, elements, sizeof *tab);
    clear(tab, chunks, length);

    const struct CpuTime cpu_begin = cpu_time();
    const int64_t begin = now_ns();
    run_passes(tab, chunks, length, passes);
    const int64_t end = now_ns();
    const struct CpuTime cpu_end = cpu_time();

    int64_t sum = 0;
    bool right = true;
    for (int64_t i = 0; i < elements; ++i) {
        sum += tab[i];
        right &= tab[i] == passes;
    }
    print_begin(kProgram, threads);
    printf(", \"name\": \"mb_%" PRId64 "_%" PRId64 "\", \"chunks\": %" PRId64 ", \"length\": %" PRId64
           ", \"passes\": %" PRId64 ", \"chunk_bytes\": %" PRId64 ", \"cache\": ",
           chunks, length, chunks, length, passes, length * (int64_t)sizeof *tab);
    if (scale)
        printf("{\"level\": %" PRId64 ", \"bytes\": %" PRId64 ", \"processors\": \"%s\"}", cache.level,
               cache.bytes, cache.processors);
    else
        printf("null");
    printf(
        ", \"seconds\": %.9f, \"cpu_seconds\": %.9f, \"main_thread_cpu_seconds\": %.9f, \"checksum\": "
        "%" PRId64 ", \"right\": %s}\n",
        (double)(end - begin) / 1e9, (double)(cpu_end.process_ns - cpu_begin.process_ns) / 1e9,
        (double)(cpu_end.main_thread_ns - cpu_begin.main_thread_ns) / 1e9, sum, right ? "true" : "false");
    return right ? 0 : 1;
}
