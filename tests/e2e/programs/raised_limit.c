// Raises the limit of its first thread's stack, and then recurses beyond the first one; on a stack of another
// place it calls the same function, too, before and after.
//
//   raised_limit KILOBYTES
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>

enum { FRAME = 1024, ELSEWHERE = 1 << 18, DEPTH_ELSEWHERE = 10 };

static long (*volatile next)(long);  // the compiler must not make a loop of it

__attribute__((noinline)) long deep(long depth) {
    volatile char room[FRAME];
    room[0] = (char)depth;
    return depth <= 0 ? room[0] : next(depth - 1) + 1;
}

/// Calls deep(depth) with the stack pointer at `top`.
static long call_on(void* top, long depth) {
    long result = depth;
    __asm__ volatile("mov %%rsp, %%r12\n mov %[top], %%rsp\n call deep\n mov %%r12, %%rsp"
                     : "=a"(result), "+D"(depth)
                     : [top] "r"(top)
                     : "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "r12", "cc", "memory");
    return result;
}

int main(int argc, char** argv) {
    if (argc != 2) return 2;
    next = deep;
    const long kilobytes = atol(argv[1]);
    char* const elsewhere = mmap(NULL, ELSEWHERE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (elsewhere == MAP_FAILED) return 1;
    struct rlimit limit;
    getrlimit(RLIMIT_STACK, &limit);
    limit.rlim_cur = 2UL * 1024 * (unsigned long)kilobytes;
    if (setrlimit(RLIMIT_STACK, &limit) != 0) return 77;
    long sum = call_on(elsewhere + ELSEWHERE, DEPTH_ELSEWHERE);
    sum += deep(kilobytes);
    sum += call_on(elsewhere + ELSEWHERE, DEPTH_ELSEWHERE);
    printf("%ld\n", sum);
    return 0;
}
