// Calls `leafy`, `tiny` and `upper` with a signal behind every instruction, whose handler walks the stack, as
// sampling profilers and reports of crashes do. Prints the sum, and on stderr how many walks there were and
// how many of them did not reach main.
#define _GNU_SOURCE
#include <execinfo.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <ucontext.h>

enum { MOST_FRAMES = 64, TRAP = 0x100 };

static volatile long plus;
static volatile long walks, lost, over;
static uintptr_t caller;

__attribute__((noinline)) long leafy(long x) {
    __asm__ volatile("" ::: "memory");
    return x * 3 + plus;
}

/* So short, with something else right behind it, that the jump to the recorder is in the padding before. */
long tiny(long x);
__asm__(
    ".text\n\t"
    ".type before_tiny, @function\n"
    "before_tiny:\n\t"
    ".fill 8, 1, 0xcc\n\t"
    ".size before_tiny, . - before_tiny\n\t"
    ".fill 16, 1, 0x90\n\t"
    ".globl tiny\n\t"
    ".type tiny, @function\n"
    "tiny:\n\t"
    ".cfi_startproc\n\t"
    "mov %rdi, %rax\n\t"
    "ret\n\t"
    ".cfi_endproc\n\t"
    ".size tiny, . - tiny\n\t"
    ".type behind_tiny, @function\n"
    "behind_tiny:\n\t"
    ".cfi_startproc\n\t"
    "ud2\n\t"
    ".cfi_endproc\n\t"
    ".size behind_tiny, . - behind_tiny\n");

__attribute__((noinline)) long upper(long x) {
    long sum = 0;
    for (int i = 0; i < 3; ++i)
        sum += leafy(x + i);
    return tiny(sum) + plus;
}

static void walk(int number, siginfo_t* info, void* context) {
    void* frames[MOST_FRAMES];
    const int count = backtrace(frames, MOST_FRAMES);
    int reached = 0;
    for (int i = 0; i < count; ++i)
        reached |= (uintptr_t)frames[i] - caller < 256;
    ++walks;
    lost += !reached;
    if (over) ((ucontext_t*)context)->uc_mcontext.gregs[REG_EFL] &= ~TRAP;
    (void)number, (void)info;
}

/* Behind the next instruction there is a signal, and behind each one from then on, until `over`. */
static void step(void) {
    __asm__ volatile("pushfq; orq $0x100, (%%rsp); popfq" ::: "memory", "cc");
}

static __attribute__((noinline)) long stepped(long rounds) {
    long sum = 0;
    for (long i = 0; i < rounds; ++i)
        sum += upper(i);
    return sum;
}

int main(void) {
    struct sigaction action;
    void* first[4];
    backtrace(first, 4);  // loads what it needs
    memset(&action, 0, sizeof action);
    action.sa_sigaction = walk;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGTRAP, &action, NULL);
    caller = (uintptr_t)stepped;
    long sum = stepped(100);
    step();
    sum += stepped(20);
    over = 1;
    fprintf(stderr, "%ld walks, %ld lost\n", walks, lost);
    printf("%ld\n", sum);
    return 0;
}
