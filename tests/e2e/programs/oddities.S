// Functions that keep to no convention but their own: `oddities` calls each and prints what it makes of them.

        .text
.macro FUNCTION name
        .globl  \name
        .type   \name, @function
        .balign 16
\name:
        .cfi_startproc
.endm

.macro END name
        .cfi_endproc
        .size   \name, . - \name
.endm

// The result is in the carry flag.
FUNCTION odd_carry
        bt      $0, %rdi
        ret
END odd_carry

// … in the overflow flag.
FUNCTION odd_overflow
        mov     %edi, %eax
        shl     $31, %eax
        sub     $1, %eax                  // overflows for odd numbers
        ret
END odd_overflow

// The argument is in a flag, and goes on to the result.
FUNCTION odd_taken
        setc    %al
        movzbl  %al, %eax
        ret
END odd_taken

// Takes its arguments from the stack, and removes them.
FUNCTION odd_removes
        mov     8(%rsp), %rax
        add     16(%rsp), %rax
        ret     $16
END odd_removes

// Changes registers that others would have to keep: the caller knows.
FUNCTION odd_clobbers
        lea     (%rdi,%rdi), %rbp
        lea     1(%rdi), %rbx
        lea     2(%rdi), %r12
        xor     %eax, %eax
        nop
        ret
END odd_clobbers

// unsigned long odd_all(unsigned long n): calls them all n times.
FUNCTION odd_all
        push    %rbp
        push    %rbx
        push    %r12
        push    %r13
        push    %r14
        mov     %rdi, %r13
        xor     %r14d, %r14d              // the sum
1:      mov     %r13, %rdi
        call    odd_carry
        adc     $3, %r14
        mov     %r13, %rdi
        call    odd_overflow
        jno     2f
        add     $5, %r14
2:      bt      $1, %r13
        call    odd_taken
        lea     (%r14,%rax,8), %r14
        push    %r13
        push    $7
        call    odd_removes
        add     %rax, %r14
        mov     %r13, %rdi
        call    odd_clobbers
        add     %rbp, %r14
        add     %rbx, %r14
        add     %r12, %r14
        dec     %r13
        jnz     1b
        mov     %r14, %rax
        pop     %r14
        pop     %r13
        pop     %r12
        pop     %rbx
        pop     %rbp
        ret
END odd_all

        .section .note.GNU-stack, "", @progbits
