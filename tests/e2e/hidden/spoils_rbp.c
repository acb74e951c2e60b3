// Functions that leave another value in rbp, and a caller that takes it from there: the recorder must neither
// need rbp behind the call nor restore it.
#include <stdio.h>
#include <stdlib.h>

#define NAKED __attribute__((naked, noinline, used))

long leaf_calls, late_calls, jumping_calls, plain_calls;

NAKED long leaf(long a, long b) {
    __asm__("incq leaf_calls(%rip)\n lea (%rdi,%rsi), %rbp\n lea 1(%rdi), %rax\n ret");
}

NAKED long plain(long a, long b) {
    __asm__("incq plain_calls(%rip)\n lea 3(%rdi,%rsi), %rax\n ret");
}

// Calls another one before.
NAKED long late(long a, long b) {
    __asm__(
        "incq late_calls(%rip)\n push %rdi\n call plain\n pop %rdi\n"
        " lea 7(%rax), %rbp\n lea 2(%rdi), %rax\n ret");
}

// Goes on in another one instead of returning.
NAKED long jumping(long a, long b) {
    __asm__("incq jumping_calls(%rip)\n lea 5(%rdi,%rsi,2), %rbp\n jmp plain");
}

static unsigned long sum;

static void call(long (*function)(long, long), long a, long b) {
    register long (*target)(long, long) __asm__("r13") = function;
    long result, left;
    __asm__ volatile(
        "mov %%rsp, %%r12\n sub $128, %%rsp\n and $-16, %%rsp\n push %%rbp\n push %%rbp\n call *%[target]\n"
        " mov %%rbp, %%rbx\n pop %%rbp\n pop %%rbp\n mov %%r12, %%rsp"
        : "=a"(result), "=b"(left), "+D"(a), "+S"(b)
        : [target] "r"(target)
        : "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "cc", "memory");
    sum = sum * 31 + (unsigned long)result;
    if (function != plain) sum = sum * 31 + (unsigned long)left;
}

// Beyond an eighth of the stack, too.
static void deep(long depth, long i) {
    char room[1024];
    __asm__ volatile("" : : "r"(room) : "memory");
    if (depth > 0) deep(depth - 1, i);
    call(depth % 4 == 0 ? leaf : depth % 4 == 1 ? late : depth % 4 == 2 ? jumping : plain, depth, i);
}

int main(int argc, char** argv) {
    const long calls = argc > 1 ? atol(argv[1]) : 1000;
    for (long i = 0; i < calls; ++i) {
        call(leaf, i, 1);
        call(late, i, 2);
        call(jumping, i, 3);
        call(plain, i, 4);
    }
    for (long i = 0; i < 3; ++i)
        deep(3000, i);
    printf("leaf %ld late %ld jumping %ld plain %ld\nsum %lu\n", leaf_calls, late_calls, jumping_calls,
           plain_calls, sum);
    return 0;
}
