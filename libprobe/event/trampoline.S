// The path of an event: what runs between the first instruction of a wrapped function and its body, and again
// between its return and its caller.
//
// Register contract, for every entry point below: all registers but the stack pointer, the flags and (on the way
// back) nothing else are handed on as they came. Callers compiled with -fipa-ra rely on call-clobbered registers
// that the callee does not touch, so rax rcx rdx r10 r11, which this code uses, are saved and restored on both ways; vector
// registers are read, never written. No libc, no lock, no allocation and no system call before a `slow` label.
//
// Stack contract: on entry rsp points to the return address, 8 modulo 16. A stack frame keeps rsp's value modulo
// 64 for the function it calls: code for wide vectors may be compiled to rely on it
// (-mpreferred-stack-boundary). A shadow frame calls the function with rsp as the caller left it.
//
// Signals may arrive anywhere. A record is taken by one unlocked xadd on the thread's own cursor: a handler that runs
// wrapped functions takes the records behind it.

#include "libprobe/event/event.inc"

        .section .data.rel.ro, "aw"
        .balign 8
rdam_first_function:
        .quad   rdam_functions

        .text

// Between these labels every return address belongs to a trampoline: a function that finds one as its return address
// was reached by a tail call from a wrapped function.
        .hidden rdam_trampolines_begin
        .globl  rdam_trampolines_begin
rdam_trampolines_begin:

// The parts that are rarely reached, behind the straight path of each trampoline.
.macro RARE_PATHS name, clock, frame, budget, count
.L\name\()_words:
        STORE_WORDS \name, .L\name\()_stamp
.L\name\()_stamp:
        STAMP_ENTER \clock, \budget, \count
    .ifc \frame, stack
        jmp     .L\name\()_arguments
    .else
        jmp     .L\name\()_made
    .endif

.L\name\()_pair:
        mov     %rcx, %rax                // a tail call's return address is in no pair that has been kept
        lea     rdam_trampolines_begin(%rip), %rdx
        sub     %rdx, %rax
        cmp     $(rdam_trampolines_end - rdam_trampolines_begin), %rax
        jb      .L\name\()_tail
        cmpq    $0, rdam_guard(%rip)
        je      .L\name\()_inactive
        push    %r15
        push    %r14
        push    %r13
        push    %r12
        push    %rbx
        push    (%rbp)
        lea     8(%rbp), %rax
        push    %rax                      // EntryRegisters begin here
        mov     %rsp, %rdx
        sub     $8, %rsp
        CALL_SLOW rdam_slow_pair
        add     $64, %rsp
        jmp     .L\name\()_again

.L\name\()_chunk:
        cmpq    $0, rdam_guard(%rip)
        je      .L\name\()_inactive
        CALL_SLOW rdam_slow_begin
        test    %eax, %eax
        jz      .L\name\()_pass
.L\name\()_again:
        mov     rdam_thread@gottpoff(%rip), %rax
        jmp     .L\name\()_record

.L\name\()_leave_chunk:
        cmpq    $0, rdam_guard(%rip)
        je      .L\name\()_left
        shl     $32, %rdx                 // the ticks must outlive rax
        or      %rax, %rdx
        CALL_SLOW rdam_slow_chunk
        test    %eax, %eax
        jz      .L\name\()_left
        mov     %edx, %eax
        shr     $32, %rdx
        mov     RDAM_FRAME_ENTRY(%rbp), %r11
        jmp     .L\name\()_leave_record

.L\name\()_value:
        mov     RDAM_FRAME_ENTRY(%rbp), %r11
        cmpb    $1, RDAM_ENTRY_RETURN_VALUE(%r11)
        jne     1f
        push    RDAM_FRAME_RAX(%rbp)
        pop     16(%r10)
        jmp     .L\name\()_leave_stamp
1:      movq    %xmm0, 16(%r10)
        jmp     .L\name\()_leave_stamp

// Not recording: a child after fork (its guard page is empty; it may start a trace of its own), or the end.
.L\name\()_inactive:
        CALL_SLOW rdam_slow_inactive
        test    %eax, %eax
        jz      .L\name\()_pass
        mov     rdam_thread@gottpoff(%rip), %rax
        jmp     .L\name\()_active

.L\name\()_tail:
.L\name\()_tail_record:
        movzwl  RDAM_ENTRY_ENTER_SIZE(%r11), %r10d
        mov     rdam_thread@gottpoff(%rip), %rax
        TAKE_RECORD rax, .L\name\()_tail_chunk
        movq    $0, 16(%r10)              // the caller is the function before it in the chain
        cmpl    $0, RDAM_ENTRY_INTEGERS(%r11)
        jne     .L\name\()_tail_words
.L\name\()_tail_stamp:
        COUNT_ENTER \count
        READ_CLOCK \clock
        STORE_TICKS
        or      RDAM_ENTRY_ENTER_HEAD(%r11), %rcx
        movabs  $((RDAM_KIND_ENTER ^ RDAM_KIND_TAIL_ENTER) << RDAM_HEAD_KIND_SHIFT), %rax
        xor     %rax, %rcx
        mov     %rcx, 8(%r10)
        FENCE   \clock
        jmp     .L\name\()_tail_pass
.L\name\()_tail_chunk:
        cmpq    $0, rdam_guard(%rip)
        je      .L\name\()_tail_pass
        CALL_SLOW rdam_slow_chunk
        test    %eax, %eax
        jnz     .L\name\()_tail_record
        jmp     .L\name\()_tail_pass
.L\name\()_tail_words:
        STORE_WORDS \name\()_tail, .L\name\()_tail_stamp

.L\name\()_pass:
    .ifc \budget, budget
        END_TREE
    .endif
.L\name\()_tail_pass:                    // the frame may be at the place of the one that the chain began in
    .ifc \frame, shadow
        FREE_SHADOW_FRAME
    .endif
    .ifc \budget, budget
.L\name\()_skip:
    .endif
        PASS_ON
.endm

// rax = the thread's offset.
.macro RECORD_ENTER name, clock, budget, count
.L\name\()_active:
        COUNT_PAIR .L\name\()_pair
.L\name\()_record:
        MAY_BEGIN rax, .L\name\()_chunk
        movzwl  RDAM_ENTRY_ENTER_SIZE(%r11), %r10d
        TAKE_RECORD rax, .L\name\()_chunk
        mov     %rcx, 16(%r10)
        cmpq    $0, RDAM_ENTRY_STACK_BYTES(%r11)
        jne     .L\name\()_words
        STAMP_ENTER \clock, \budget, \count
.L\name\()_made:
.endm

// --- The stack frame ------------------------------------------------------------------------------------------------
// Where the thread is deep in its stack, `deep` takes over: a shadow frame, which needs none of it.
.macro STACK_FRAME name, deep, clock, budget=none, count=none
        .balign 64
        .type   rdam_enter_\name, @function
rdam_enter_\name:
        .cfi_startproc
        .cfi_personality 0x1b, rdam_personality
        BUILD_FRAME
        mov     rdam_thread@gottpoff(%rip), %rax
        cmp     %fs:RDAM_THREAD_STACK_LIMIT(%rax), %rsp
        jb      .L\name\()_below
.L\name\()_shallow:
        push    RDAM_ENTRY_RESUME(%r11)
        push    %r11
        sub     $(8 + RDAM_FRAME_PADDING), %rsp  // the rate, and padding
    .ifc \budget, budget
        SAMPLE  \name, .L\name\()_arguments
        mov     rdam_thread@gottpoff(%rip), %rax
    .endif
        RECORD_ENTER \name, \clock, \budget, \count
.L\name\()_call:
        FENCE_IF_RECORDED \name, \clock, \budget
        RESTORE_SCRATCH
    .ifc \budget, none
        FENCE   \clock
    .endif
        call    *RDAM_FRAME_RESUME(%rbp)
        mov     %rax, RDAM_FRAME_RAX(%rbp)
        mov     %rdx, RDAM_FRAME_RDX(%rbp)
        mov     %rcx, RDAM_FRAME_RCX(%rbp)
        mov     %r10, RDAM_FRAME_R10(%rbp)
        mov     %r11, RDAM_FRAME_R11(%rbp)
        RECORD_LEAVE \name, \clock, \budget, \count
        RESTORE_SCRATCH
        .cfi_remember_state
        leave
        .cfi_def_cfa %rsp, 8
        .cfi_same_value %rbp
        ret
        .cfi_restore_state

.L\name\()_arguments:                     // on the stack: a multiple of 64 bytes
        mov     RDAM_ENTRY_STACK_BYTES(%r11), %eax
        test    %eax, %eax
        jz      .L\name\()_call
        sub     %rax, %rsp
1:      mov     8(%rbp,%rax), %rcx
        mov     %rcx, -8(%rsp,%rax)
        sub     $8, %rax
        jnz     1b
        jmp     .L\name\()_call

.L\name\()_below:                       // the limit, in the thread's own stack or in another
        cmp     %fs:RDAM_THREAD_STACK_LOW(%rax), %rsp
        jae     .L\deep\()_built
        jmp     .L\name\()_shallow

        RARE_PATHS \name, \clock, stack, \budget, \count
        .cfi_endproc
        .size   rdam_enter_\name, . - rdam_enter_\name
.endm

// --- The shadow frame ------------------------------------------------------------------------------------------------
// The function is called with the caller's stack untouched but for the return address. That one, the caller's rbp and the
// FunctionEntry stand in a ShadowFrame of the thread, to which rbp points during the call.
.macro SHADOW_FRAME name, clock, budget=none, count=none
        .balign 64
        .type   rdam_enter_\name, @function
rdam_enter_\name:
        .cfi_startproc
        .cfi_personality 0x1b, rdam_personality
        BUILD_FRAME
.L\name\()_built:
        sub     $(RDAM_FRAME_SIZE + RDAM_FRAME_R11), %rsp
    .ifc \budget, budget
        mov     %r11, RDAM_FRAME_ENTRY(%rbp)
        SAMPLE  \name, .L\name\()_sampled
    .endif
        mov     rdam_thread@gottpoff(%rip), %r10
        mov     %fs:RDAM_THREAD_SHADOW_FREE(%r10), %rax
.L\name\()_shadow_retry:
        test    %rax, %rax
        jz      .L\name\()_shadow_more
        mov     (%rax), %rdx
        cmpxchg %rdx, %fs:RDAM_THREAD_SHADOW_FREE(%r10)
        jne     .L\name\()_shadow_retry
        mov     %rax, RDAM_FRAME_RESUME(%rbp)
        mov     (%rbp), %rdx
        mov     %rdx, RDAM_SHADOW_RBP(%rax)
        mov     %rcx, RDAM_SHADOW_RETURN(%rax)
    .ifc \budget, budget
        mov     RDAM_FRAME_ENTRY(%rbp), %rdx
        mov     %rdx, RDAM_SHADOW_ENTRY(%rax)
    .else
        mov     %r11, RDAM_SHADOW_ENTRY(%rax)
    .endif
        mov     RDAM_ENTRY_RESUME(%r11), %rdx
        mov     %rdx, RDAM_SHADOW_RESUME(%rax)
        mov     %fs:RDAM_THREAD_SHADOW_COUNT(%r10), %rdx
        inc     %rdx
        mov     %rdx, %fs:RDAM_THREAD_SHADOW_COUNT(%r10)
        mov     %rdx, RDAM_SHADOW_ORDER(%rax)
        lea     8(%rbp), %rdx             // last: without a place the frame is being filled
        mov     %rdx, RDAM_SHADOW_PLACE(%rax)
    .ifc \budget, budget
        cmp     %r11, RDAM_FRAME_ENTRY(%rbp)
        jne     .L\name\()_made
    .endif
        mov     %r10, %rax
        RECORD_ENTER \name, \clock, \budget, \count
        FENCE_IF_RECORDED \name, \clock, \budget
        mov     RDAM_FRAME_RESUME(%rbp), %r10
        mov     %r10, (%rbp)
        .cfi_remember_state
        .cfi_escape 0x10, 0x06, 0x03, 0x76, 0x00, 0x06     // rbp: saved where the word at rbp+0 points
        RESTORE_SCRATCH
        mov     %rbp, %rsp
        .cfi_def_cfa %rsp, 16
        pop     %rbp
        .cfi_adjust_cfa_offset -8
        .cfi_escape 0x10, 0x06, 0x02, 0x76, 0x00           // rbp: saved at rbp+0
        lea     8(%rsp), %rsp
        // From here on the frame has no place on the stack. Unwinders tell frames by their CFA, so this one gets an
        // address of its own, in the ShadowFrame; rsp is what it is.
        .cfi_def_cfa %rbp, 16
        .cfi_offset %rbp, -16
        .cfi_escape 0x16, 0x07, 0x02, 0x77, 0x00           // rsp: is rsp+0
    .ifc \budget, none
        FENCE   \clock
    .endif
        call    *RDAM_SHADOW_RESUME(%rbp)
        push    RDAM_SHADOW_RETURN(%rbp)
        .cfi_restore %rsp
        .cfi_def_cfa %rsp, 8
        .cfi_escape 0x10, 0x06, 0x02, 0x76, 0x00           // rbp: saved at rbp+0
        push    RDAM_SHADOW_RBP(%rbp)
        .cfi_adjust_cfa_offset 8
        push    %rax
        .cfi_adjust_cfa_offset 8
        push    %rdx
        .cfi_adjust_cfa_offset 8
        push    %rcx
        .cfi_adjust_cfa_offset 8
        push    %r10
        .cfi_adjust_cfa_offset 8
        push    %r11
        .cfi_adjust_cfa_offset 8
        push    %rbp
        .cfi_adjust_cfa_offset 8
        push    RDAM_SHADOW_ENTRY(%rbp)
        .cfi_adjust_cfa_offset 8
        lea     (-RDAM_FRAME_ENTRY)(%rsp), %rbp
        .cfi_def_cfa %rbp, 16
        .cfi_offset %rbp, -16
        sub     $8, %rsp
        RECORD_LEAVE \name, \clock, \budget, \count
        FREE_SHADOW_FRAME
        RESTORE_SCRATCH
        leave
        .cfi_def_cfa %rsp, 8
        .cfi_same_value %rbp
        ret
        .cfi_restore_state

.L\name\()_shadow_more:
        lea     8(%rbp), %rdx             // the third argument
        CALL_SLOW rdam_slow_shadow
        test    %rax, %rax
        jnz     .L\name\()_shadow_retry
    .ifc \budget, budget
        END_TREE
    .endif
        PASS_ON
        .cfi_def_cfa %rbp, 16
        .cfi_offset %rbp, -16

        RARE_PATHS \name, \clock, shadow, \budget, \count
        .cfi_endproc
        .size   rdam_enter_\name, . - rdam_enter_\name
.endm

// The two of one kind.
.macro PAIR_OF_FRAMES rest, clock, budget=none, count=none
        STACK_FRAME stack_\rest, shadow_\rest, \clock, \budget, \count
        SHADOW_FRAME shadow_\rest, \clock, \budget, \count
        .pushsection .data.rel.ro.variants, "aw"
        .quad   rdam_enter_stack_\rest, rdam_enter_shadow_\rest
        .popsection
.endm

// The trampolines of a clock, in the order of rdam_variants (patch.cpp).
.macro TRAMPOLINES clock
        PAIR_OF_FRAMES \clock, \clock
        PAIR_OF_FRAMES \clock\()_budget, \clock, budget
        PAIR_OF_FRAMES \clock\()_count, \clock, none, count
        PAIR_OF_FRAMES \clock\()_budget_count, \clock, budget, count
.endm

        .section .data.rel.ro.variants, "aw"
        .hidden rdam_variants
        .globl  rdam_variants
        .balign 8
rdam_variants:
        .text

#define RDAM_CLOCK(name) TRAMPOLINES name;
        RDAM_CLOCKS(RDAM_CLOCK)
#undef RDAM_CLOCK

        .hidden rdam_trampolines_end
        .globl  rdam_trampolines_end
rdam_trampolines_end:

// Where STORE_WORDS begins, from its first label, by the number of registers: as in one copy, so in all.
        .section .rodata
        .hidden rdam_store_integers
        .globl  rdam_store_integers
rdam_store_integers:
        .irp    first, i0, i1, i2, i3, i4, i5, i6
        .byte   .Lstack_rdtscp_\first - .Lstack_rdtscp_i6
        .endr
        .hidden rdam_store_vectors
        .globl  rdam_store_vectors
rdam_store_vectors:
        .irp    first, v0, v1, v2, v3, v4, v5, v6, v7, v8
        .byte   .Lstack_rdtscp_\first - .Lstack_rdtscp_v8
        .endr

        .section .note.GNU-stack, "", @progbits
