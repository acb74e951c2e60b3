// A signal at every instruction of the probe.
//   steps LIBRARY ROUNDS FILL CALLS STRIDE   runs itself with LIBRARY preloaded and single-steps it, in
//   ROUNDS
//     calls of each kind: at every STRIDE-th instruction outside libc (the first of them is another one in
//     each round) a signal arrives whose handler makes CALLS calls of a wrapped function. Before each round
//     FILL calls are made that are not stepped. Prints how many signals arrived.
//   steps run ROUNDS FILL CALLS STRIDE       the traced side; prints how often each function was entered
#define _GNU_SOURCE
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

// --- The traced side
// -------------------------------------------------------------------------------------------
static volatile unsigned long works, scales, sums, firsts, seconds;
static long handler_calls, stride;

__attribute__((noinline)) long work(long i) {
    __atomic_fetch_add(&works, 1, __ATOMIC_RELAXED);
    return i * 3 + 1;
}

__attribute__((noinline)) double scaled(double x, long n, const char* text) {
    ++scales;
    return x * (double)(n + text[0]);
}

__attribute__((noinline)) long summed(int count, ...) {
    ++sums;
    va_list list;
    va_start(list, count);
    long sum = 0;
    for (int i = 0; i < count; ++i)
        sum += va_arg(list, long);
    va_end(list);
    return sum;
}

__attribute__((noinline)) long second(long x) {
    ++seconds;
    return x ^ 5;
}

__attribute__((noinline)) long first(long x) {
    ++firsts;
    return second(x + 1);
}

// Tells the tracer; `value` is for it. SIGURG: steps from here on, or no more. SIGUSR2: the handler is done.
static void tell(int number, void* value) {
    sigqueue(getpid(), number, (union sigval){.sival_ptr = value});
}

static void on_signal(int number) {
    (void)number;
    for (long i = 0; i < handler_calls; ++i)
        work(i);
    tell(SIGUSR2, NULL);
}

#define STEPPED(call, right)             \
    do {                                 \
        tell(SIGURG, (void*)on_signal);  \
        const __auto_type result = call; \
        tell(SIGURG, NULL);              \
        if (result != (right)) exit(3);  \
    } while (0)

static int run(long rounds, long fill) {
    signal(SIGUSR1, on_signal);
    for (long i = 0; i < rounds; ++i) {
        for (long j = 0; j < fill; ++j)
            work(j);
        STEPPED(work(i), i * 3 + 1);
        STEPPED(scaled(2, i, "A"), 2.0 * (double)(i + 65));
        STEPPED(summed(8, 1L, 2L, 3L, 4L, 5L, 6L, 7L, i), 28 + i);
        STEPPED(first(i), (i + 1) ^ 5);
    }
    printf("work %lu scaled %lu summed %lu first %lu second %lu\n", works, scales, sums, firsts, seconds);
    return 0;
}

// --- The tracer
// ------------------------------------------------------------------------------------------------
struct Range {
    unsigned long from, to;
};
static struct Range libc[64];
static int libc_count;

static void read_ranges(pid_t pid) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/maps", pid);
    FILE* maps = fopen(path, "r");
    char line[4096];
    libc_count = 0;
    while (maps != NULL && fgets(line, sizeof line, maps) != NULL && libc_count < 64)
        if ((strstr(line, "/libc") != NULL || strstr(line, "/ld-") != NULL ||
             strstr(line, "[vdso]") != NULL) &&
            sscanf(line, "%lx-%lx", &libc[libc_count].from, &libc[libc_count].to) == 2)
            ++libc_count;
    if (maps != NULL) fclose(maps);
}

static int in_libc(unsigned long address) {
    for (int i = 0; i < libc_count; ++i)
        if (address >= libc[i].from && address < libc[i].to) return 1;
    return 0;
}

enum { kKinds = 4 };  // STEPPED calls a round
static pid_t tracee;

static int resume(enum __ptrace_request how, int number) {
    int status = 0;
    if (ptrace(how, tracee, 0, (long)number) != 0 || waitpid(tracee, &status, 0) != tracee) exit(4);
    return status;
}

static struct user_regs_struct registers(void) {
    struct user_regs_struct now;
    if (ptrace(PTRACE_GETREGS, tracee, 0, &now) != 0) exit(4);
    return now;
}

// Of the SIGURG that the tracee has stopped at: the handler's address, or 0.
static unsigned long told(void) {
    siginfo_t info;
    if (ptrace(PTRACE_GETSIGINFO, tracee, 0, &info) != 0) exit(4);
    return (unsigned long)info.si_value.sival_ptr;
}

// One instruction, with a signal before it or not. False at a SIGURG.
static int step(int number) {
    const int status = resume(PTRACE_SINGLESTEP, number);
    if (!WIFSTOPPED(status)) exit(5);
    if (WSTOPSIG(status) == SIGURG) return 0;
    if (WSTOPSIG(status) == SIGTRAP) return 1;
    // It was blocked, and is not any more.
    if (WSTOPSIG(status) == SIGUSR1 && number == 0) return 1;
    exit(6);
}

// The handler has just been entered: lets it run, and steps back to where the signal came.
static void finish_handler(const struct user_regs_struct* from) {
    const int status = resume(PTRACE_CONT, 0);
    if (!WIFSTOPPED(status) || WSTOPSIG(status) != SIGUSR2) exit(7);
    struct user_regs_struct now;
    do {
        if (!step(0)) exit(8);
        now = registers();
    } while (now.rsp != from->rsp || now.rip != from->rip);
}

static int pending(void) {
    siginfo_t info;
    return ptrace(PTRACE_GETSIGINFO, tracee, 0, &info) == 0 && info.si_signo == SIGUSR1;
}

// From one SIGURG to the next.
static unsigned long step_through(unsigned long handler, long round) {
    unsigned long arrived = 0;
    for (long at = round;; ++at) {
        const struct user_regs_struct from = registers();
        const int wanted = pending() || (at % stride == 0 && !in_libc(from.rip)) ? SIGUSR1 : 0;
        if (wanted != 0) {
            // Where it is blocked the step is made, and the signal comes back later.
            if (!step(wanted)) return arrived;
            if (registers().rip != handler) continue;
            ++arrived;
            finish_handler(&from);
        }
        if (!step(0)) return arrived;
    }
}

int main(int count, char** words) {
    if (count != 6) return 2;
    handler_calls = atol(words[4]);
    stride = atol(words[5]);
    if (strcmp(words[1], "run") == 0) return run(atol(words[2]), atol(words[3]));
    tracee = fork();
    if (tracee == 0) {
        setenv("LD_PRELOAD", words[1], 1);
        if (ptrace(PTRACE_TRACEME, 0, 0, 0) != 0) _exit(10);
        execl("/proc/self/exe", words[0], "run", words[2], words[3], words[4], words[5], (char*)NULL);
        _exit(11);
    }
    int status = 0;
    unsigned long arrived = 0;
    long stepped = 0;
    waitpid(tracee, &status, 0);
    while (WIFSTOPPED(status)) {
        const int number = WSTOPSIG(status);
        if (number == SIGURG) {
            read_ranges(tracee);
            const unsigned long handler = told();
            if (handler != 0) arrived += step_through(handler, stepped++ / kKinds);
        }
        const int passed = number == SIGURG || number == SIGTRAP || number == SIGUSR2 ? 0 : number;
        status = resume(PTRACE_CONT, passed);
    }
    fprintf(stderr, "%lu signals\n", arrived);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
