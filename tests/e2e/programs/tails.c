/* Mutual tail recursion of a million steps: with frames of their own the wrappers would overflow the stack. */
#include <stdio.h>

__attribute__((noinline)) long odd(long n, long sum);

__attribute__((noinline)) long even(long n, long sum) {
    if (n == 0) return sum;
    return odd(n - 1, sum + 2);
}

long odd(long n, long sum) { return even(n - 1, sum + 1); }

int main(void) {
    printf("%ld\n", even(1000000, 0));
    return 0;
}
