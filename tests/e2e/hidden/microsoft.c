// Functions with Microsoft's convention, of which gcc's debug information says nothing.
#include <stdio.h>
#include <stdlib.h>
#define MS __attribute__((ms_abi, noinline))

MS long six(long a, long b, long c, long d, long e, double x) {
    return a + 2 * b + 3 * c + 4 * d + 5 * e + (long)x;
}

MS long home(long a, long b) {
    volatile long t[4] = {a, b};
    return t[0] + t[1];
}

MS double doubles(double a, long b, double c, long d, double e) {
    return a + (double)b + c + (double)d + e;
}

int main(int argc, char** argv) {
    const long n = atol(argv[argc - 1]);
    long sum = 0;
    for (long i = 0; i < n; i++)
        sum += six(i, 2, 3, 4, 5, 6.0) + home(i & 1, 2) + (long)doubles(1, 2, 3, 4, 5);
    printf("%ld\n", sum);
}
