// Counts the calls of its functions; some are called through pointers.
#include <stdio.h>
#include <stdlib.h>
#define NI __attribute__((noinline))
volatile long calls_of_first, calls_of_second, calls_of_third, calls_of_tiny;
NI long first(long x) {
    calls_of_first++;
    for (int i = 0; i < 30; i++)
        x = x * 3 + i;
    return x;
}
NI long second(long x, int y) {
    calls_of_second++;
    return first(x) ^ first(x + y);
}
NI long third(long x, int y) {
    calls_of_third++;
    return second(x, y) + 1;
}
NI long tiny(long x, int y) {
    calls_of_tiny++;
    return x + y;
}
typedef long (*function)(long, int);
function volatile table[3] = {second, third, tiny};

int main(int argc, char** argv) {
    const long n = atol(argv[argc - 1]);
    long h = 0;
    for (long i = 0; i < n; i++)
        h += table[i % 3](h, (int)i);
    printf("%ld first %ld second %ld third %ld tiny %ld\n", h, calls_of_first, calls_of_second,
           calls_of_third, calls_of_tiny);
}
