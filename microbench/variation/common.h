// What the programs of the studies have in common: options, the clock, the team of threads, statistics and
// JSON.
#ifndef RDAM_MICROBENCH_VARIATION_COMMON_H
#define RDAM_MICROBENCH_VARIATION_COMMON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// An option of a command line, with the one of these that its value is written to, which is its default
/// before.
struct Option {
    const char* name;   ///< Without the two hyphens.
    const char* value;  ///< What the help calls it; a null pointer for an option that takes none.
    const char* help;
    int64_t* whole;  ///< At least 1.
    double* real;    ///< Above 0.
    const char** text;
    bool* given;
};

/// What the help says besides the options.
struct Usage {
    const char* program;
    const char* arguments;  ///< In the line of usage, after the options; may be empty.
    const char* about;      ///< Whole lines.
};

/// Ends the program, with status 2, and a line on standard error that begins with the program's name.
_Noreturn void fail(const char* program, const char* format, ...) __attribute__((format(printf, 2, 3)));

/// Reads the options (the last one has no name) and prints the help where it is asked for, which ends the
/// program with status 0. A wrong option, or more than `most` other arguments, end it in one line.
/// Returns how many other arguments there are: they are the last ones of `arguments` then.
int read_options(int count, char** arguments, const struct Usage* usage, const struct Option* options,
                 int most);

/// CLOCK_MONOTONIC, in nanoseconds. libomp's omp_get_wtime() is the time of day in microseconds.
int64_t now_ns(void);

/// What this process and its first thread, which must be the caller, have had of the processors.
struct CpuTime {
    int64_t process_ns, main_thread_ns;
};
struct CpuTime cpu_time(void);

/// Starts that many threads for all parallel regions to come; 0: as many as OpenMP would. Returns their
/// number, 1 in a build without OpenMP. Fewer than asked for end the program.
int64_t start_threads(const char* program, int64_t wanted);

/// Memory from a huge page's boundary on, which nobody has touched; without it the program ends. It is never
/// freed.
void* table_of(const char* program, int64_t elements, size_t size);

/// Of `count` values; sd is that of a sample (divided by count − 1) and NaN for a single value.
struct Statistics {
    double mean, sd, minimum, maximum;
};
struct Statistics statistics_of(const double* values, int64_t count);

/// Prints `{` and the members that all programs have: program, compiler, runtime and threads.
void print_begin(const char* program, int64_t threads);

/// Prints a comma and `"NAME": {…}` with mean, sd, minimum, maximum, cv (sd / mean), min_over_mean and
/// max_over_mean.
void print_statistics(const char* name, const double* values, int64_t count);

/// Prints a comma and `"NAME": […]`.
void print_values(const char* name, const double* values, int64_t count);

#endif
