// Where libc makes a process. Each entry point below stands in for two instructions of libc, the second of which is
// `syscall`; libprobe/start/children.cpp has put the jump there.
//
// Register contract: as of the system call instruction itself. rax is the result, rcx and r11 are lost, everything else is
// kept, in the maker and in the child. The child of vfork goes on with its maker's stack: nothing that the maker needs
// after the call may be kept there, so the two ways on are told by their place in the code.

#define RDAM_SYS_CLONE 56
#define RDAM_SYS_VFORK 58
#define RDAM_SYS_PRCTL 157
#define RDAM_SYS_SECCOMP 317
#define RDAM_SYS_CLONE3 435

        .text

// Calls a C++ function of the recorder with (rax, rdi, rsi, rdx); rax is its result. Keeps everything else but rcx and r11.
.macro CALL_KEEPING function
        push    %rbp
        mov     %rsp, %rbp
        push    %rdi
        push    %rsi
        push    %rdx
        push    %r8
        push    %r9
        push    %r10
        mov     %rdx, %rcx
        mov     %rsi, %rdx
        mov     %rdi, %rsi
        mov     %rax, %rdi
        and     $-16, %rsp
        call    \function
        lea     -48(%rbp), %rsp
        pop     %r10
        pop     %r9
        pop     %r8
        pop     %rdx
        pop     %rsi
        pop     %rdi
        pop     %rbp
.endm

// Makes the system call where libc would: a filter may look at where calls come from. Nothing is done behind it.
.macro CALL_IN_LIBC name
        mov     rdam_\name\()_back(%rip), %rcx
        sub     $2, %rcx                  // its instruction is still there
        jmp     *%rcx
.endm

// rax = the number of a system call that may make a process.
.macro MAKE_PROCESS name
        push    %rax
        CALL_KEEPING rdam_before_child
        test    %eax, %eax
        pop     %rax
        jnz     1f
        CALL_IN_LIBC \name
1:      syscall
        test    %rax, %rax
        jz      2f
        push    %rax
        CALL_KEEPING rdam_after_child
        pop     %rax
        jmp     *rdam_\name\()_back(%rip)
2:      CALL_KEEPING rdam_in_child
        xor     %eax, %eax
        jmp     *rdam_\name\()_back(%rip)
.endm

// rax = the number of a system call that may make this process adopt orphans, or put its threads under a filter.
.macro CONTROL_PROCESS name
        push    %rax
        CALL_KEEPING rdam_before_control
        test    %eax, %eax
        pop     %rax
        jnz     1f
        CALL_IN_LIBC \name
1:      syscall
        push    %rax
        CALL_KEEPING rdam_after_control
        pop     %rax
        jmp     *rdam_\name\()_back(%rip)
.endm

.macro BEGIN_SITE name
        .hidden rdam_\name\()_site
        .globl  rdam_\name\()_site
        .type   rdam_\name\()_site, @function
rdam_\name\()_site:
        .cfi_startproc
.endm

.macro END_SITE name
        .cfi_endproc
        .size   rdam_\name\()_site, . - rdam_\name\()_site
.endm

BEGIN_SITE clone
        mov     $RDAM_SYS_CLONE, %eax
        MAKE_PROCESS clone
END_SITE clone

BEGIN_SITE clone3
        mov     $RDAM_SYS_CLONE3, %eax
        MAKE_PROCESS clone3
END_SITE clone3

// libc keeps the return address in rdi: the child returns first and writes over its place on the stack.
BEGIN_SITE vfork
        .cfi_def_cfa %rsp, 0
        .cfi_register %rip, %rdi
        mov     $RDAM_SYS_VFORK, %eax
        MAKE_PROCESS vfork
END_SITE vfork

BEGIN_SITE syscall
        mov     8(%rsp), %r9
        cmp     $RDAM_SYS_CLONE, %rax
        je      3f
        cmp     $RDAM_SYS_VFORK, %rax
        je      3f
        cmp     $RDAM_SYS_CLONE3, %rax
        je      3f
        cmp     $RDAM_SYS_PRCTL, %rax
        je      4f
        cmp     $RDAM_SYS_SECCOMP, %rax
        je      4f
        CALL_IN_LIBC syscall
3:      MAKE_PROCESS syscall
4:      CONTROL_PROCESS syscall
END_SITE syscall

        .section .note.GNU-stack, "", @progbits
