// Reads the thread's hardware counter of instructions, as linux/perf_event.h says (struct perf_event_mmap_page).
#include "libprobe/base/layout.h"

// A test gives another one, for there is no counter in most virtual machines.
#ifndef RDAM_RDPMC
#define RDAM_RDPMC rdpmc
#endif

// The kernel changes the page when it interrupts the thread, so a second try nearly always succeeds.
#define RDAM_COUNTER_TRIES 4

        .text

// std::uint64_t rdam_read_counter(): 0 where the count is not known. Clobbers rax, rcx, rdx and the flags, no more: the
// trampolines call it.
//
// lfence: rdpmc is executed out of order like any instruction and would miss what is not finished yet, up to some
// hundred instructions.
//
// An event that was enabled for longer than it ran was not on the processor for some time, and its count is that of a part.
        .hidden rdam_read_counter
        .globl  rdam_read_counter
        .type   rdam_read_counter, @function
rdam_read_counter:
        .cfi_startproc
        mov     rdam_thread@gottpoff(%rip), %rcx
        mov     %fs:RDAM_THREAD_COUNTER(%rcx), %rax
        and     (rdam_guard + RDAM_GUARD_COUNTERS)(%rip), %rax    // fork does not hand the page on
        jz      .Lno_counter
        push    %r8
        .cfi_adjust_cfa_offset 8
        push    %r9
        .cfi_adjust_cfa_offset 8
        push    %r10
        .cfi_adjust_cfa_offset 8
        push    %r11
        .cfi_adjust_cfa_offset 8
        mov     %rax, %r10
        mov     %fs:RDAM_THREAD_COUNTER_GAP(%rcx), %r8
        mov     $RDAM_COUNTER_TRIES, %r9d
.Ltry:
        mov     RDAM_PERF_LOCK(%r10), %r11d
        testb   $RDAM_PERF_CAP_USER_RDPMC, RDAM_PERF_CAPABILITIES(%r10)
        jz      .Lunknown
        mov     RDAM_PERF_INDEX(%r10), %ecx
        sub     $1, %ecx
        jb      .Lunknown
        lfence
        RDAM_RDPMC
        shl     $32, %rdx
        or      %rdx, %rax
        movzwl  RDAM_PERF_WIDTH(%r10), %ecx
        neg     %ecx                      // shifts by 64 − width
        shl     %cl, %rax
        sar     %cl, %rax
        add     RDAM_PERF_OFFSET(%r10), %rax
        mov     RDAM_PERF_TIME_ENABLED(%r10), %rdx
        sub     RDAM_PERF_TIME_RUNNING(%r10), %rdx
        cmp     %r11d, RDAM_PERF_LOCK(%r10)
        jne     .Lretry
        cmp     %r8, %rdx
        jne     .Lunknown
.Ldone:
        pop     %r11
        .cfi_remember_state
        .cfi_adjust_cfa_offset -8
        pop     %r10
        .cfi_adjust_cfa_offset -8
        pop     %r9
        .cfi_adjust_cfa_offset -8
        pop     %r8
        .cfi_adjust_cfa_offset -8
.Lno_counter:
        ret
        .cfi_restore_state
.Lretry:
        dec     %r9d
        jnz     .Ltry
.Lunknown:
        xor     %eax, %eax
        jmp     .Ldone
        .cfi_endproc
        .size   rdam_read_counter, . - rdam_read_counter

        .section .note.GNU-stack, "", @progbits
