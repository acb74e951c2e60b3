/* What compilers make of functions: copies for constants, for fewer arguments, of a part. Counts the calls
 * itself. */
#include <stdio.h>
#include <stdlib.h>

#define KEPT __attribute__((noinline))

static long counted[8];

/* A copy for the one constant it is called with. */
KEPT static long specialised(long x, int power) {
    ++counted[0];
    long result = 1;
    for (int i = 0; i < power; ++i)
        result = result * x + i;
    return result;
}

typedef struct {
    long a, b, unused[6];
} Pair;

/* Takes the two members instead of the pointer. */
KEPT static long scalars(const Pair* pair) {
    ++counted[1];
    return pair->a * 3 + pair->b;
}

/* The check is inlined, the rest becomes a function of its own. */
static long guarded(long* p, long n) {
    if (__builtin_expect(p == NULL, 1)) return 0;
    ++counted[2];
    for (long i = 1; i < 6; ++i) {
        *p += n % i;
        putchar('a' + (int)(*p % 7));
        putchar('A' + (int)(*p % 11));
        putchar('0' + (int)(*p % 9));
        *p = *p * 31 % 10007;
        putchar('a' + (int)(*p % 13));
        putchar('A' + (int)(*p % 17));
    }
    putchar('\n');
    return *p;
}

KEPT long uses_guarded(long* p, long n) {
    return guarded(p, n) + 1;
}
KEPT long uses_guarded_too(long* p, long n) {
    return guarded(p, n) * 5 + guarded(p, n + 1);
}

long twin_of_other(long x);
void last_byte(void);
void last_of_section(void);
KEPT static long twin(long x) {
    __asm__ volatile("");
    return x + 1;
}
int main(void) {
    long sum = 0, value = 7;
    for (long i = 0; i < 100; ++i) {
        Pair pair = {i, i + 1, {0}};
        sum += specialised(i % 5, 3) + specialised(i % 7, 3);
        sum += scalars(&pair);
        sum += uses_guarded(i % 2 == 0 ? &value : NULL, i) + uses_guarded_too(i % 4 == 0 ? &value : NULL, i);
        value %= 1000;
        sum += twin(i) + twin_of_other(i);
        last_byte();
        last_of_section();
    }
    printf("%ld %ld %ld %ld\n", sum, counted[0], counted[1], counted[2]);
    return 3;
}
