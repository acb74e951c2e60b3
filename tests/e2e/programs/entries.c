/* Calls the functions of entries.S, and those that the compiler splits, clones or chooses. */
#include <stdio.h>

#define ALL(do)                                                                                                                       \
    do                                                                                                                                \
    (marked) do(rip_load) do(rip_compare) do(short_jcc) do(near_jcc) do(short_jump) do(near_jump) do(near_call) do(loop_to_entry) do( \
        loop_into_moved) do(loop_instruction) do(short_padded) do(first_name) do(second_name) do(before_squeezed) do(squeezed) do(after_squeezed)
#define DECLARE(name) int name(int);
ALL(DECLARE)
void one_byte(void);

static int fast(int x) {
    __asm__ volatile("");
    return x + 20;
}
static int (*resolve(void))(int) {
    return fast;
}
__attribute__((ifunc("resolve"))) int chosen(int);

__attribute__((noinline, noipa)) long pong(long n, long sum);
__attribute__((noinline, noipa)) long ping(long n, long sum) {
    if (n == 0) return sum;
    return pong(n - 1, sum + 2);
}
__attribute__((noinline, noipa)) long pong(long n, long sum) {
    if (n == 0) return sum;
    return ping(n - 1, sum + 1);
}

__attribute__((cold, noinline)) static void rare(int x) {
    printf("rare %d\n", x);
}
__attribute__((noinline, noipa)) int split(int x) {
    if (__builtin_expect(x == 5, 0)) {
        rare(x);
        rare(x + 1);
        return 3;
    }
    return x * 7;
}

int main(void) {
    long sum = 0;
    for (int i = 0; i < 100; i++) {
#define CALL(name) sum = sum * 3 + name(i);
        ALL(CALL)
        one_byte();
        sum += chosen(i) + split(i);
    }
    printf("%ld\n%ld\n", sum, ping(10000000, 0));
    return 6;
}
