// gcc 14: functions without callee-saved registers, as interpreters use them. Their callers keep rbp as well.
#include <stdio.h>
#include <stdlib.h>

#define KEEPS_NOTHING __attribute__((no_callee_saved_registers, noinline))

static long leaf_calls, step_calls, run_calls;

__attribute__((noinline)) long leaf(long x) {
    leaf_calls++;
    return x * 3 + 1;
}

KEEPS_NOTHING long step(long x) {
    step_calls++;
    long y = leaf(x), z = leaf(y), w = leaf(z);
    return x + y * 3 + z * 5 + w * 7;
}

KEEPS_NOTHING long run(long pc, long acc) {
    long a = pc, b = acc, d = pc ^ acc, e = acc * 3, f = pc + 7, g = acc - pc;
    run_calls++;
    for (int i = 0; i < 20; i++) {
        a += leaf(b);
        b ^= d + i;
        d += e;
        e ^= f;
        f += g;
        g ^= a;
    }
    return a ^ b ^ d ^ e ^ f ^ g;
}

int main(int argc, char** argv) {
    const long n = atol(argv[argc - 1]);
    long sum = 0;
    for (long i = 0; i < n; i++) {
        sum ^= run(i, sum);
        sum += step(sum);
    }
    printf("%ld: run %ld step %ld leaf %ld\n", sum, run_calls, step_calls, leaf_calls);
}
