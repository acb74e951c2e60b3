// Registers and stack as a conservative collector of garbage sees them inside a wrapped function: its caller
// has the only reference to an object in one callee-saved register. `kept ROUNDS DEPTH`, called on the first
// thread and on another, each DEPTH kilobytes deep. Prints how often the reference was found.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define KEPT __attribute__((noinline))

static const unsigned long hidden =
    ~0x5ca1ab1e0b5e55edUL;  // what is looked for is its complement, which is in no memory
static __thread const unsigned long* high;
static __thread long wanted, found;

KEPT void look(long round) {
    __builtin_unwind_init();  // all callee-saved registers go to the stack
    wanted++;
    for (const unsigned long* at = __builtin_frame_address(0) - 64; at < high; at++)
        if (~*at == hidden) {
            found++;
            return;
        }
    __asm__ volatile("" : : "r"(round) : "memory");
}

KEPT int look_variadic(long round, ...) {
    look(round);
    return (int)round;
}

// with_NAME(complement, round): calls look_variadic(round) with the reference in that register alone.
#define WITH(name)                                                                                         \
    void with_##name(unsigned long complement, long round);                                                \
    __asm__(".text\n.type with_" #name ",@function\nwith_" #name ":\n .cfi_startproc\n push %" #name       \
            "\n .cfi_adjust_cfa_offset 8\n .cfi_offset %" #name ",-16\n mov %rdi,%" #name "\n not %" #name \
            "\n mov %rsi,%rdi\n xor %eax,%eax\n call look_variadic\n xor %eax,%eax\n pop %" #name          \
            "\n .cfi_adjust_cfa_offset -8\n ret\n .cfi_endproc\n.size with_" #name ",.-with_" #name "\n")
WITH(rbp);
WITH(rbx);
WITH(r12);
WITH(r15);

static long rounds;

KEPT static void look_around(void) {
    for (long i = 0; i < rounds; i++) {
        with_rbp(hidden, i);
        with_rbx(hidden, i);
        with_r12(hidden, i);
        with_r15(hidden, i);
    }
}

KEPT static int down(long depth) {
    volatile char pad[1000];
    pad[0] = 1;
    if (depth > 0) return down(depth - 1) + pad[0];
    look_around();
    return pad[0];
}

static void* run(void* depth) {
    high = (const unsigned long*)__builtin_frame_address(0);
    down((long)depth);
    printf("%ld of %ld found\n", found, wanted);
    return NULL;
}

int main(int count, char** arguments) {
    if (count != 3) return 2;
    rounds = atol(arguments[1]);
    pthread_t thread;
    run((void*)atol(arguments[2]));
    if (pthread_create(&thread, NULL, run, (void*)atol(arguments[2])) != 0) return 1;
    pthread_join(thread, NULL);
    return 0;
}
