// Functions that keep what the System V convention promises, and functions that do not.

        .text
.macro function name
        .globl \name
        .type \name, @function
\name: .cfi_startproc
.endm
.macro end_function name
        .cfi_endproc
        .size \name, . - \name
        .balign 16
.endm

function saves_by_push
        push    %rbx
        .cfi_adjust_cfa_offset 8
        mov     %rdi, %rbx
        lea     (%rbx,%rbx), %rax
        pop     %rbx
        .cfi_adjust_cfa_offset -8
        ret
end_function saves_by_push

function saves_by_store
        mov     %r12, -8(%rsp)
        mov     %rdi, %r12
        lea     (%r12,%r12), %rax
        mov     -8(%rsp), %r12
        ret
end_function saves_by_store

function has_a_frame
        push    %rbp
        .cfi_def_cfa_offset 16
        mov     %rsp, %rbp
        .cfi_def_cfa_register %rbp
        mov     16(%rbp), %rax
        leave
        .cfi_def_cfa %rsp, 8
        ret
end_function has_a_frame

function spoils_rbx
        mov     %rdi, %rbx
        lea     (%rbx,%rbx), %rax
        ret
end_function spoils_rbx

function spoils_rbp
        xor     %ebp, %ebp
        mov     %rdi, %rax
        ret
end_function spoils_rbp

// Far from those that spoil registers.
        .balign 65536

function jumps_to_a_spoiler
        test    %rdi, %rdi
        je      spoils_rbx_hidden
        mov     %rdi, %rax
        ret
end_function jumps_to_a_spoiler

        .balign 65536

function jumps_anywhere
        jmp     *(%rdi)
end_function jumps_anywhere

        .balign 65536

function jumps_beside_a_spoiler
        jmp     *(%rdi)
end_function jumps_beside_a_spoiler

        .type   spoils_rbx_hidden, @function
spoils_rbx_hidden:
        .cfi_startproc
        mov     %rdi, %rbx
        mov     %rbx, %rax
        ret
        .cfi_endproc
        .size   spoils_rbx_hidden, . - spoils_rbx_hidden

        .balign 65536

function pops_an_argument
        mov     8(%rsp), %rax
        ret     $8
end_function pops_an_argument

function reads_two_words
        push    %rbx
        .cfi_adjust_cfa_offset 8
        mov     24(%rsp), %rax
        pop     %rbx
        .cfi_adjust_cfa_offset -8
        ret
end_function reads_two_words
        .section .note.GNU-stack, "", @progbits
