// Parameters that are assigned to at once. At the first instruction gcc's debug information has a place for
// what was passed, for no byte of code, and behind it one for what was assigned.
#include <stdio.h>
#include <stdlib.h>
#define APART __attribute__((noipa)) long

APART less(long x) {
    return x - 100;
}

APART assigned(long a, long b) {
    a = b;
    while (a > 3)
        a = less(a);
    return a;
}

APART counted(const char* s, long n) {
    long colons = 0;
    while (n--)
        if (*s++ == ':') colons++;
    return colons;
}

APART negated(long a) {
    a = -a;
    return less(a) + a;
}

int main(int argc, char** argv) {
    const long n = atol(argv[argc - 1]);
    long sum = 0;
    for (long i = 0; i < n; i++)
        sum += assigned(11, 22) + counted(":::::", 5) + negated(33);
    printf("%ld\n", sum);
}
