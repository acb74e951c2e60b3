// makecontext, interposed by plain preloading: the extent of a stack is known before anything runs on it. Hands every register
// on: makecontext takes any number of arguments.

        .text
        .globl  makecontext
        .type   makecontext, @function
makecontext:
        .cfi_startproc
        .irp    register, rax, rdi, rsi, rdx, rcx, r8, r9
        push    %\register
        .cfi_adjust_cfa_offset 8
        .endr
        mov     32(%rdi), %rsi            // ucontext_t: uc_stack.ss_size, uc_stack.ss_sp
        mov     16(%rdi), %rdi
        call    rdam_stack_made
        .irp    register, r9, r8, rcx, rdx, rsi, rdi, rax
        pop     %\register
        .cfi_adjust_cfa_offset -8
        .endr
        jmp     *rdam_real_makecontext(%rip)
        .cfi_endproc
        .size   makecontext, . - makecontext

        .section .note.GNU-stack, "", @progbits
