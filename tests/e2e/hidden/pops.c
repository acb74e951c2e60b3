// A function that takes its arguments off the stack, and one that returns a truth in the carry flag.
#include <stdio.h>
#include <stdlib.h>
long pops(long x);
long is_odd(long x);
__asm__(
    ".text\n.globl pops_two\n.type pops_two, @function\npops_two: mov 8(%rsp), %rax\n sub 16(%rsp), %rax\n "
    "ret $16\n"
    ".size pops_two, . - pops_two\n.balign 16\n"
    ".globl pops\n.type pops, @function\npops: mov %rsp, %rdx\n push $7\n push %rdi\n call pops_two\n cmp "
    "%rsp, %rdx\n je 1f\n ud2\n1: ret\n"
    ".size pops, . - pops\n.balign 16\n");

int main(int argc, char** argv) {
    const long n = atol(argv[argc - 1]);
    long sum = 0;
    for (long i = 0; i < n; i++)
        sum += pops(i);
    printf("%ld\n", sum);
}
