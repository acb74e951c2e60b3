#include <stdio.h>
#include <stdlib.h>
extern volatile long calls_of_vm, calls_of_op, calls_of_last, calls_of_next;

long keeping(long n);
__asm__(
    ".text\n.globl keeping\n.type keeping, @function\n"
    "keeping: push %rbx\n push %rbp\n push %r12\n push %r13\n push %r14\n push %r15\n sub $8, %rsp\n call "
    "run\n"
    "add $8, %rsp\n pop %r15\n pop %r14\n pop %r13\n pop %r12\n pop %rbp\n pop %rbx\n ret\n.size keeping, . "
    "- keeping\n");

int main(int argc, char** argv) {
    const long h = keeping(atol(argv[argc - 1]));
    printf("%ld vm %ld op %ld last %ld next %ld\n", h, calls_of_vm, calls_of_op, calls_of_last,
           calls_of_next);
}
