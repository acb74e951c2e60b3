// clang 19: an interpreter whose operations keep no register, take their arguments in the callee-saved ones,
// and jump on to each other through a table.
#include <stdio.h>
#include <stdlib.h>

#define PRESERVES_NONE __attribute__((preserve_none))
#define JUMP __attribute__((musttail)) return operations[*++vm->code](vm, b, c, d, e, f, a)

struct vm {
    const unsigned char* code;
};

typedef PRESERVES_NONE long operation(struct vm*, long a, long b, long c, long d, long e, long f);
operation add, mul, call, last;
operation* const operations[] = {add, mul, call, last};
static long add_calls, mul_calls, call_calls, last_calls, leaf_calls, start_calls;

__attribute__((noinline)) long leaf(long x) {
    leaf_calls++;
    return x * 3 + 1;
}

PRESERVES_NONE long add(struct vm* vm, long a, long b, long c, long d, long e, long f) {
    add_calls++;
    a += b ^ c;
    JUMP;
}

PRESERVES_NONE long mul(struct vm* vm, long a, long b, long c, long d, long e, long f) {
    mul_calls++;
    b = a * 7 + d;
    JUMP;
}

PRESERVES_NONE long call(struct vm* vm, long a, long b, long c, long d, long e, long f) {
    call_calls++;
    c ^= leaf(a + f);
    JUMP;
}

PRESERVES_NONE long last(struct vm* vm, long a, long b, long c, long d, long e, long f) {
    last_calls++;
    return a ^ b ^ c ^ d ^ e ^ f ^ *vm->code;
}

__attribute__((noinline)) long start(struct vm* vm) {
    start_calls++;
    return operations[*vm->code](vm, 1, 2, 3, 4, 5, 6);
}

int main(int argc, char** argv) {
    const unsigned char code[] = {0, 1, 2, 0, 0, 2, 1, 2, 3};
    const long n = atol(argv[argc - 1]);
    unsigned long sum = 0;
    for (long i = 0; i < n; i++) {
        struct vm vm = {code + (i & 1)};
        sum = sum * 31 + (unsigned long)start(&vm);
    }
    printf("%lu: start %ld add %ld mul %ld call %ld last %ld leaf %ld\n", sum, start_calls, add_calls,
           mul_calls, call_calls, last_calls, leaf_calls);
}
