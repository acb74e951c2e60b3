// Parameters in registers and on the stack, of a function that the debug information describes in some form.
#include <stdio.h>
#include <stdlib.h>

struct Pair {
    int first;
    long second;
    long third;
};

__attribute__((noinline)) long many(int fd, long b, int c, const char* name, unsigned e, short f, long g,
                                    double h, struct Pair s) {
    volatile long sum = 0;
    for (int i = 0; i < 30; i++)
        sum += fd * b + c + *name + e + f + g + (long)h + s.second;
    return sum;
}

int main(int count, char** arguments) {
    const long n = count > 1 ? atol(arguments[1]) : 10;
    const struct Pair s = {3, 4, 5};
    long sum = 0;
    for (long i = 0; i < n; i++)
        sum += many((int)(i & 3), i, 2, "x", 5, 6, 7, 8.0, s);
    printf("%ld\n", sum);
}
