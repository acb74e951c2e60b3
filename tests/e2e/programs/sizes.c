/* Calls whose work depends on a size: a parameter, or the result. All amounts are drawn from the same
 * numbers. Built by the test, without builtins and without debug information. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { largest = 1 << 16, calls = 20000 };
static char to[largest + 64], from[largest + 64];

static int compare(const void* a, const void* b) {
    const int x = *(const int*)a, y = *(const int*)b;
    return (x > y) - (x < y);
}

int main(void) {
    unsigned long sum = 0;
    srand(1);
    for (int call = 0; call < calls; call++) {
        const size_t n = 64 + rand() % largest;
        memset(from, 'a', n);
        memcpy(to, from, n);
        memmove(to + 1, from, n);
        from[n] = 0;
        sum += strlen(from);
        from[n / 2] = 'b';
        sum += strchr(from, 'b') != NULL;
        sum += memcmp(to + 2, from, n / 2 - 4) == 0;
        if (call % 100 == 0) {
            int numbers[512];
            const int count = 8 + rand() % 500;
            for (int i = 0; i < count; i++)
                numbers[i] = i;
            qsort(numbers, count, sizeof *numbers, compare);
            sum += numbers[count / 2];
        }
        free(malloc(n));
        free(calloc(n, 2));
    }
    printf("%lu\n", sum);
    return 0;
}
