// call_and_compare(callee, before, after): gives every register the bytes in `before`, calls, and stores them in `after`.
// Each is 16 general registers of 8 bytes, then the vector registers (32 of 64 bytes), then 8 mask registers.
// The level that is passed in ecx: 0 xmm, 1 ymm, 2 zmm, and masks.

        .macro EACH_LOW do
        .irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
        \do \n
        .endr
        .endm
        .macro EACH_HIGH do
        .irp n, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
        \do \n
        .endr
        .endm
        .macro EACH_MASK do
        .irp n, 0, 1, 2, 3, 4, 5, 6, 7
        \do \n
        .endr
        .endm
        .macro LOAD_XMM n
        movups  (128 + 64 * \n)(%rax), %xmm\n
        .endm
        .macro LOAD_YMM n
        vmovups (128 + 64 * \n)(%rax), %ymm\n
        .endm
        .macro LOAD_ZMM n
        vmovups (128 + 64 * \n)(%rax), %zmm\n
        .endm
        .macro LOAD_MASK n
        kmovq   (128 + 64 * 32 + 8 * \n)(%rax), %k\n
        .endm
        .macro STORE_XMM n
        movups  %xmm\n, (128 + 64 * \n)(%rax)
        .endm
        .macro STORE_YMM n
        vmovups %ymm\n, (128 + 64 * \n)(%rax)
        .endm
        .macro STORE_ZMM n
        vmovups %zmm\n, (128 + 64 * \n)(%rax)
        .endm
        .macro STORE_MASK n
        kmovq   %k\n, (128 + 64 * 32 + 8 * \n)(%rax)
        .endm
        .macro VECTORS do
        cmpl    $0, level(%rip)
        jne     1f
        EACH_LOW \do\()_XMM
        jmp     3f
1:      cmpl    $1, level(%rip)
        jne     2f
        EACH_LOW \do\()_YMM
        jmp     3f
2:      EACH_LOW \do\()_ZMM
        EACH_HIGH \do\()_ZMM
        EACH_MASK \do\()_MASK
3:
        .endm

        .bss
        .balign 8
callee: .zero   8
after:  .zero   8
held:   .zero   8
level:  .zero   8

        .text
        .globl  call_and_compare
        .type   call_and_compare, @function
call_and_compare:
        endbr64
        push    %rbx
        push    %rbp
        push    %r12
        push    %r13
        push    %r14
        push    %r15
        sub     $8, %rsp
        mov     %rdi, callee(%rip)
        mov     %rdx, after(%rip)
        mov     %ecx, level(%rip)
        mov     %rsi, %rax
        VECTORS LOAD
        mov     8(%rax), %rbx
        mov     16(%rax), %rcx
        mov     24(%rax), %rdx
        mov     32(%rax), %rsi
        mov     40(%rax), %rdi
        mov     48(%rax), %rbp
        mov     56(%rax), %r8
        mov     64(%rax), %r9
        mov     72(%rax), %r10
        mov     80(%rax), %r11
        mov     88(%rax), %r12
        mov     96(%rax), %r13
        mov     104(%rax), %r14
        mov     112(%rax), %r15
        mov     0(%rax), %rax
        call    *callee(%rip)
        mov     %rax, held(%rip)
        mov     after(%rip), %rax
        mov     %rbx, 8(%rax)
        mov     %rcx, 16(%rax)
        mov     %rdx, 24(%rax)
        mov     %rsi, 32(%rax)
        mov     %rdi, 40(%rax)
        mov     %rbp, 48(%rax)
        mov     %r8, 56(%rax)
        mov     %r9, 64(%rax)
        mov     %r10, 72(%rax)
        mov     %r11, 80(%rax)
        mov     %r12, 88(%rax)
        mov     %r13, 96(%rax)
        mov     %r14, 104(%rax)
        mov     %r15, 112(%rax)
        VECTORS STORE
        mov     held(%rip), %rcx
        mov     %rcx, (%rax)
        add     $8, %rsp
        pop     %r15
        pop     %r14
        pop     %r13
        pop     %r12
        pop     %rbp
        pop     %rbx
        ret
        .size   call_and_compare, . - call_and_compare

        .section .note.GNU-stack, "", @progbits
