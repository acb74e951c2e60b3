// Functions that put their arguments into their frames, each in its own way.

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
.macro frame
        push    %rbp
        .cfi_def_cfa_offset 16
        .cfi_offset %rbp, -16
        mov     %rsp, %rbp
        .cfi_def_cfa_register %rbp
.endm

// 4 bytes at rbp-4, 8 at rbp-16 from xmm0, 1 at rbp-17 through other registers and memory, the fourth behind the return address.
function stores_all
        frame
        mov     %edi, -4(%rbp)
        movsd   %xmm0, -16(%rbp)
        mov     %esi, -24(%rbp)
        mov     -24(%rbp), %ecx
        mov     %ecx, %eax
        mov     %al, -17(%rbp)
        mov     16(%rbp), %eax
        leave
        .cfi_def_cfa %rsp, 8
        ret
end_function stores_all

// What rbp-8 holds is no argument on its way to rbp-4, but the program's own copy.
function copies_a_parameter
        frame
        mov     %edi, -8(%rbp)
        mov     -8(%rbp), %eax
        mov     %eax, -4(%rbp)
        leave
        .cfi_def_cfa %rsp, 8
        ret
end_function copies_a_parameter

// A constant comes first; 8 bytes of which 4 are the argument; half of a place; the lowest bit.
function changes_them
        frame
        movl    $7, -4(%rbp)
        mov     %edi, -4(%rbp)
        mov     %esi, %esi
        mov     %rsi, -16(%rbp)
        mov     %dx, -20(%rbp)
        and     $1, %cl
        mov     %cl, -21(%rbp)
        leave
        .cfi_def_cfa %rsp, 8
        ret
end_function changes_them

// By rsp, which stays where it is.
function by_stack_pointer
        sub     $24, %rsp
        .cfi_adjust_cfa_offset 24
        mov     %edi, 12(%rsp)
        mov     40(%rsp), %eax
        add     $24, %rsp
        .cfi_adjust_cfa_offset -24
        ret
end_function by_stack_pointer

// By rsp, which is moved for a call: where the frame is cannot be told.
function pushes_for_a_call
        sub     $24, %rsp
        .cfi_adjust_cfa_offset 24
        mov     %edi, 12(%rsp)
        push    $0
        .cfi_adjust_cfa_offset 8
        pop     %rax
        .cfi_adjust_cfa_offset -8
        add     $24, %rsp
        .cfi_adjust_cfa_offset -24
        ret
end_function pushes_for_a_call

// Behind a branch, not every call comes by.
function branches_first
        frame
        test    %edi, %edi
        je      1f
        mov     %edi, -4(%rbp)
1:      leave
        .cfi_def_cfa %rsp, 8
        ret
end_function branches_first

// r12 is the second argument throughout, and rbx first one thing, then another; rdi is changed only by what it held.
function keeps_in_registers
        push    %rbx
        .cfi_adjust_cfa_offset 8
        push    %r12
        .cfi_adjust_cfa_offset 8
        mov     %esi, %r12d
        mov     %edx, %ebx
        sub     $1, %edi
        test    %edi, %edi
        jle     1f
        mov     $3, %ebx
        mov     $4, %ecx
1:      lea     (%rbx,%r12), %eax
        pop     %r12
        .cfi_adjust_cfa_offset -8
        pop     %rbx
        .cfi_adjust_cfa_offset -8
        ret
end_function keeps_in_registers

        .section .note.GNU-stack,"",@progbits
