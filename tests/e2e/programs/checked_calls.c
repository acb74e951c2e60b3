// Functions that are called by their address and by their name, as many times each.
#include <stdio.h>
#include <stdlib.h>

__attribute__((noinline)) long leaf(long x) {
    for (int i = 0; i < 30; i++)
        x = x * 3 + i;
    return x;
}
__attribute__((noinline)) long twice(long x, int y) {
    return leaf(x) ^ leaf(x + y);
}
__attribute__((noinline)) long outer(long x, int y) {
    return twice(x, y) + 1;
}
long (*volatile g_functions[2])(long, int) = {twice, outer};

int main(int count, char** arguments) {
    const long n = count > 1 ? atol(arguments[1]) : 1000;
    long sum = 0;
    for (long i = 0; i < n; i++)
        sum += g_functions[i % 2](sum, (int)i);
    printf("%ld\n", sum);
}
