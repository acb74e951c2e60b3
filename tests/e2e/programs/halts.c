/* Stands still, three functions deep, until there is something to read. */
#include <stdio.h>
#include <unistd.h>

#define KEPT __attribute__((noipa))

KEPT int inner(int depth) {
    char byte = 'x';
    puts("there");
    fflush(stdout);
    const int got = (int)read(0, &byte, 1);
    return depth + got * byte;
}
KEPT int middle(int depth) {
    const int below = inner(depth + 1);
    __asm__ volatile("");
    return below * 2;
}
/* Has arguments on the stack, which its frame must have copied. */
KEPT int outer(int a, int b, int c, int d, int e, int f, int g, int h) {
    const int below = middle(a + b + c + d + e + f);
    __asm__ volatile("");
    return below + g * h;
}

int main(void) {
    printf("%d\n", outer(1, 2, 3, 4, 5, 6, 7, 8));
    return 12;
}
