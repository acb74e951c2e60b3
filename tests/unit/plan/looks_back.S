// Functions that read their return address, and functions that seem to.

        .text
.macro function name
        .globl \name
        .type \name, @function
\name: .cfi_startproc
.endm
.macro end_function name
        .cfi_endproc
        .size \name, . - \name
.endm

function reads_at_once
        mov     (%rsp), %rdi
        jmp     reads_through_frame
end_function reads_at_once

function reads_behind_pushes
        push    %rbx
        .cfi_adjust_cfa_offset 8
        sub     $32, %rsp
        .cfi_adjust_cfa_offset 32
        lea     8(%rsp), %rdi
        cmp     %rdi, 40(%rsp)
        add     $32, %rsp
        .cfi_adjust_cfa_offset -32
        pop     %rbx
        .cfi_adjust_cfa_offset -8
        ret
end_function reads_behind_pushes

function reads_through_frame
        push    %rbp
        .cfi_def_cfa_offset 16
        mov     %rsp, %rbp
        .cfi_def_cfa_register %rbp
        sub     $64, %rsp
        push    8(%rbp)
        leave
        .cfi_def_cfa %rsp, 8
        ret
end_function reads_through_frame

function is_a_barrier
        lock orq $0, (%rsp)
        ret
        ret
end_function is_a_barrier

function takes_the_end_of_an_array
        sub     $24, %rsp
        .cfi_adjust_cfa_offset 24
        lea     24(%rsp), %rdi
        mov     16(%rsp), %rax
        mov     32(%rsp), %rax          // an argument on the stack
        mov     24(%rsp,%rdx), %rax     // anything
        add     $24, %rsp
        .cfi_adjust_cfa_offset -24
        ret
end_function takes_the_end_of_an_array

function pushes_untold
        push    %rax
        push    %rbx
        mov     (%rsp), %rcx            // its own
        pop     %rbx
        pop     %rax
        ret
end_function pushes_untold

        .globl  has_no_tables
        .type   has_no_tables, @function
has_no_tables:
        mov     (%rsp), %rdi
        xor     %eax, %eax
        ret
        .size   has_no_tables, . - has_no_tables

        .section .note.GNU-stack, "", @progbits
