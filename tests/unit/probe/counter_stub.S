// The recorder's reading routine with a function of the test in the place of the instruction.
#define RDAM_RDPMC call rdam_test_rdpmc
#include "libprobe/event/counter.S"

        .text

// As the instruction: ecx says which counter, edx:eax is the value, nothing else changes.
        .type   rdam_test_rdpmc, @function
rdam_test_rdpmc:
        .cfi_startproc
        push    %rbp
        .cfi_adjust_cfa_offset 8
        .cfi_offset %rbp, -16
        mov     %rsp, %rbp
        .cfi_def_cfa_register %rbp
        push    %rcx
        push    %rsi
        push    %rdi
        push    %r8
        push    %r9
        push    %r10
        push    %r11
        and     $-16, %rsp
        mov     %ecx, %edi
        call    rdam_test_counter
        mov     %rax, %rdx
        shr     $32, %rdx
        mov     %eax, %eax
        lea     -56(%rbp), %rsp
        pop     %r11
        pop     %r10
        pop     %r9
        pop     %r8
        pop     %rdi
        pop     %rsi
        pop     %rcx
        pop     %rbp
        .cfi_def_cfa %rsp, 8
        ret
        .cfi_endproc
        .size   rdam_test_rdpmc, . - rdam_test_rdpmc

// std::uint64_t rdam_test_changed_registers(): reads the counter with a mark in every register that it must keep; one bit for
// each that lost it.
        .globl  rdam_test_changed_registers
        .type   rdam_test_changed_registers, @function
rdam_test_changed_registers:
        .cfi_startproc
        .irp    register, rbx, rbp, r12, r13, r14, r15
        push    %\register
        .cfi_adjust_cfa_offset 8
        .endr
        .set    mark, 0x1234
        .irp    register, rbx, rbp, rsi, rdi, r8, r9, r10, r11, r12, r13, r14, r15
        mov     $mark, %\register
        .set    mark, mark + 1
        .endr
        call    rdam_read_counter
        xor     %eax, %eax
        .set    mark, 0x1234
        .irp    register, rbx, rbp, rsi, rdi, r8, r9, r10, r11, r12, r13, r14, r15
        add     %eax, %eax
        cmp     $mark, %\register
        je      1f
        inc     %eax
1:
        .set    mark, mark + 1
        .endr
        .irp    register, r15, r14, r13, r12, rbp, rbx
        pop     %\register
        .cfi_adjust_cfa_offset -8
        .endr
        ret
        .cfi_endproc
        .size   rdam_test_changed_registers, . - rdam_test_changed_registers
