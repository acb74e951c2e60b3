/* Mutual tail recursion of a million steps: with frames of their own the wrappers would overflow the stack.
 */
#include <stdio.h>

__attribute__((noinline)) long odd(long n, long sum);

__attribute__((noinline)) long even(long n, long sum) {
    if (n == 0) return sum;
    return odd(n - 1, sum + 2);
}

long odd(long n, long sum) {
    return even(n - 1, sum + 1);
}

__attribute__((noinline)) double target(int a, double b, long c, long d, long e, long f, long g, long h,
                                        double i) {
    __asm__ volatile("");
    return a + b + (double)(c + d + e + f + g + h) + i;
}

/* Its arguments on the stack are as many as target's, so the call can be a jump. */
__attribute__((noinline)) double jumps(int a, double b, long c, long d, long e, long f, long g, long h,
                                       double i) {
    __asm__ volatile("");
    return target(a % 3, b * 2, c, d, e, f, h, g % 2, i);
}

int main(void) {
    double sum = 0;
    for (int i = 0; i < 300; i++)
        sum += jumps(i, i % 5, 1, 2, 3, 4, i, 6, 0.5);
    printf("%g\n", sum);
    printf("%ld\n", even(1000000, 0));
    return 0;
}
