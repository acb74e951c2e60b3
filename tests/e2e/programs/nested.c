/* A nested function that is called through a pointer: by a few instructions on the stack, which give it its
 * static chain. */
#include <stdio.h>

#define KEPT __attribute__((noinline, noclone, noipa))

KEPT int apply(int (*function)(int), int n) {
    return function(n);
}

int main(void) {
    for (int n = 1; n <= 50; n++) {
        int from_outside = n;
        KEPT int nested(int x) {
            from_outside += x;
            return from_outside * 2;
        }
        printf("%d %d\n", apply(nested, 7), apply(nested, n));
    }
    return 9;
}
