// The path of an event: what runs between the first instruction of a wrapped function and its body, and again
// between its return and its caller.
//
// Register contract, for every entry point below: all registers but the stack pointer, the flags and (on the way
// back) nothing else are handed on as they came. Callers compiled with -fipa-ra rely on call-clobbered registers
// that the callee does not touch, so rax rcx rdx r10 r11, which this code uses, are saved and restored on both ways; vector
// registers are read, never written. No libc, no lock, no allocation and no system call before a `slow` label.
//
// Stack contract: on entry rsp points to the return address, 8 modulo 16. A real frame keeps rsp's value modulo
// 16 for the function it calls. A side frame calls the function with rsp as the caller left it.
//
// Signals may arrive anywhere. A slot is taken by one unlocked xadd on the thread's own cursor: a handler that runs
// wrapped functions takes the slots behind it.

#include "libprobe/layout.h"

#define RDAM_SYS_CLOCK_GETTIME 228
#define RDAM_CLOCK_MONOTONIC 1

// The FunctionEntry of a frame whose call tree is not recorded: no function has it.
#define RDAM_UNRECORDED (rdam_functions + ((RDAM_MAX_FUNCTIONS - 1) << RDAM_ENTRY_SHIFT))

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

.macro READ_CLOCK clock                 // edx:eax = ticks, rcx = processor << 52
    .ifc \clock, rdtscp
        rdtscp
        shl     $RDAM_HEAD_CPU_SHIFT, %rcx
    .else
    .ifc \clock, monotonic
        push    %rdi
        push    %rsi
        push    %r11
        sub     $16, %rsp                 // struct timespec
        mov     $RDAM_CLOCK_MONOTONIC, %edi
        mov     %rsp, %rsi
        mov     $RDAM_SYS_CLOCK_GETTIME, %eax
        syscall
        imul    $1000000000, (%rsp), %rdx
        add     8(%rsp), %rdx
        add     $16, %rsp
        pop     %r11
        pop     %rsi
        pop     %rdi
        mov     %edx, %eax
        shr     $32, %rdx
        movabs  $(0xfff << RDAM_HEAD_CPU_SHIFT), %rcx
    .else
        rdtsc
        movabs  $(0xfff << RDAM_HEAD_CPU_SHIFT), %rcx
    .endif
    .endif
.endm

// Two stores are shorter than putting the halves together. The slot counts from its head on, which comes behind them.
.macro STORE_TICKS
        mov     %eax, (%r10)
        mov     %edx, 4(%r10)
.endm

// Calls a C++ function of the recorder (which uses general registers only). rsp is 0 modulo 16 here.
// Keeps every register but rax, the result.
.macro CALL_SLOW function
        push    %rdi
        push    %rsi
        push    %r8
        push    %r9
        push    %r10
        push    %r11
        push    %rcx
        push    %rdx
        mov     %r11, %rdi
        mov     %rcx, %rsi
        call    \function
        pop     %rdx
        pop     %rcx
        pop     %r11
        pop     %r10
        pop     %r9
        pop     %r8
        pop     %rsi
        pop     %rdi
.endm

// On entry from a stub: (rsp) = the FunctionEntry's offset in rdam_functions, 8(rsp) = return address. Leaves the
// registers' part of the trampoline's frame, r11 = FunctionEntry, rcx = return address.
.macro BUILD_FRAME
        .cfi_def_cfa %rsp, 16
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
        mov     -RDAM_FRAME_R11(%rsp), %r11
        mov     %rbp, -RDAM_FRAME_R11(%rsp)
        .cfi_offset %rbp, -16
        lea     -RDAM_FRAME_R11(%rsp), %rbp
        .cfi_def_cfa %rbp, 16
        add     rdam_first_function(%rip), %r11
        mov     8(%rbp), %rcx
.endm

// Counts this pair of function and return address down; at zero, or when the pair is not in the thread's table, the
// recorder looks closer (first call of the thread, call stack due, another pair in its place). rax = the thread's offset; clobbers
// rdx, r10.
.macro COUNT_PAIR slow
        mov     RDAM_ENTRY_PAIR_KEY(%r11), %rdx
        xor     %rcx, %rdx
        imul    $RDAM_PAIR_HASH, %edx, %r10d
        shr     $(32 - RDAM_PAIR_BITS), %r10d
        add     %r10d, %r10d
        mov     rdam_thread@gottpoff(%rip), %rax
        cmp     %rdx, %fs:RDAM_THREAD_PAIRS(%rax,%r10,8)
        jne     \slow
        decq    %fs:RDAM_THREAD_PAIRS + 8(%rax,%r10,8)
        jz      \slow
.endm

// r10 = slot of r10 bytes; clobbers `thread`, the thread's offset. Goes to `slow` at the end of the chunk, and when nothing
// is recorded.
.macro TAKE_SLOT thread, slow
        xadd    %r10, %fs:RDAM_THREAD_CURSOR(%\thread)
        mov     %r10, %\thread
        and     $(RDAM_CHUNK_SIZE - 1), %\thread
        cmp     rdam_guard(%rip), %\thread
        jae     \slow
.endm

// Stores the parameters that the plan asks for behind the head. The FunctionEntry holds the address of the label to start
// at, one for each number of registers; `shift` is the distance of this copy's vector labels from those. Clobbers rax,
// rcx, rdx.
.macro STORE_WORDS name, done, shift=0
.L\name\()_i6:  mov     %r9, 64(%r10)
.L\name\()_i5:  mov     %r8, 56(%r10)
.L\name\()_i4:  mov     RDAM_FRAME_RCX(%rbp), %rax
        mov     %rax, 48(%r10)
.L\name\()_i3:  mov     RDAM_FRAME_RDX(%rbp), %rax
        mov     %rax, 40(%r10)
.L\name\()_i2:  mov     %rsi, 32(%r10)
.L\name\()_i1:  mov     %rdi, 24(%r10)
.L\name\()_i0:  movzwl  RDAM_ENTRY_VECTORS(%r11), %eax    // vectors and stack words in one look
        test    %eax, %eax
        jz      \done
        movzbl  RDAM_ENTRY_INTEGERS(%r11), %eax
        lea     24(%r10,%rax,8), %rcx
        mov     RDAM_ENTRY_STORE_VECTORS(%r11), %rax
        add     $(\shift), %rax
        jmp     *%rax
.L\name\()_v8:  movq    %xmm7, 56(%rcx)
.L\name\()_v7:  movq    %xmm6, 48(%rcx)
.L\name\()_v6:  movq    %xmm5, 40(%rcx)
.L\name\()_v5:  movq    %xmm4, 32(%rcx)
.L\name\()_v4:  movq    %xmm3, 24(%rcx)
.L\name\()_v3:  movq    %xmm2, 16(%rcx)
.L\name\()_v2:  movq    %xmm1, 8(%rcx)
.L\name\()_v1:  movq    %xmm0, (%rcx)
.L\name\()_v0:  movzbl  RDAM_ENTRY_VECTORS(%r11), %eax
        lea     (%rcx,%rax,8), %rcx
        movzbl  RDAM_ENTRY_STACK_WORDS(%r11), %eax
        test    %eax, %eax
        jz      \done
1:      mov     8(%rbp,%rax,8), %rdx
        mov     %rdx, -8(%rcx,%rax,8)
        dec     %eax
        jnz     1b
        jmp     \done
.endm

// The last word of the slot r10 is the count of instructions, where they are counted. Comes before the clock: what it costs
// is not in the call's time. r11 = FunctionEntry; clobbers rax, rcx, rdx.
.macro COUNT_ENTER count
    .ifc \count, count
        call    rdam_read_counter
        movzwl  RDAM_ENTRY_ENTER_SIZE(%r11), %edx
        mov     %rax, -8(%r10,%rdx)
    .endif
.endm

// Ends an enter event: reads the clock as late as possible and publishes the slot by its head.
.macro STAMP_ENTER clock, budget, count
        COUNT_ENTER \count
        READ_CLOCK \clock
        STORE_TICKS
        or      RDAM_ENTRY_ENTER_HEAD(%r11), %rcx
    .ifc \budget, budget
        or      RDAM_FRAME_RATE(%rbp), %rcx
    .endif
        mov     %rcx, 8(%r10)
.endm

// With a budget for overhead, before anything is recorded. Inside a call tree everything shares its fate; where none is
// open one begins, and is recorded with the probability that its outermost function has at the moment. A tree whose
// frame is not above this one was left by a jump. rcx = return address, r11 = FunctionEntry; clobbers rax, rdx, r10.
//
// Goes to `skip` to leave without a frame, and to `unrecorded` with a frame whose FunctionEntry is RDAM_UNRECORDED.
.macro SAMPLE name, unrecorded
        testb   $RDAM_RATE_OFF, RDAM_ENTRY_RATE(%r11)
        jnz     .L\name\()_skip
        movq    $0, RDAM_FRAME_RATE(%rbp)
        mov     rdam_thread@gottpoff(%rip), %rdx
        mov     %fs:RDAM_THREAD_TREE(%rdx), %r10
        lea     rdam_trampolines_begin(%rip), %rax
        neg     %rax
        add     %rcx, %rax
        cmp     $(rdam_trampolines_end - rdam_trampolines_begin), %rax
        jb      .L\name\()_inside        // a tail call out of a tree's frame
        mov     %r10, %rax
        and     $-2, %rax
        cmp     %rbp, %rax
        jbe     .L\name\()_tree
.L\name\()_inside:
        test    $1, %r10b
        jnz     .L\name\()_skip
        jmp     .L\name\()_sampled
.L\name\()_tree:
        movzbl  RDAM_ENTRY_RATE(%r11), %eax
        test    %eax, %eax
        jz      .L\name\()_begin_tree
        movabs  $6364136223846793005, %r10         // Knuth, TAOCP 3.3.4; the high bits are good
        imul    %fs:RDAM_THREAD_RANDOM(%rdx), %r10
        add     $0x5851f42d, %r10
        mov     %r10, %fs:RDAM_THREAD_RANDOM(%rdx)
        mov     %eax, %ecx
        neg     %ecx
        shr     %cl, %r10                          // by 64 − rate
        mov     8(%rbp), %rcx
        jnz     .L\name\()_unrecorded
.L\name\()_begin_tree:
        or      $RDAM_RATE_TREE, %eax
        shl     $RDAM_HEAD_RATE_SHIFT, %rax
        mov     %rax, RDAM_FRAME_RATE(%rbp)
        mov     %rbp, %fs:RDAM_THREAD_TREE(%rdx)
        jmp     .L\name\()_sampled
.L\name\()_unrecorded:
        lea     1(%rbp), %rax
        mov     %rax, %fs:RDAM_THREAD_TREE(%rdx)
        lea     RDAM_UNRECORDED(%rip), %rax
        mov     %rax, RDAM_FRAME_ENTRY(%rbp)
        jmp     \unrecorded
.L\name\()_sampled:
.endm

// The outermost call's frame goes. Clobbers rdx, r10.
.macro END_TREE
        mov     rdam_thread@gottpoff(%rip), %rdx
        mov     %fs:RDAM_THREAD_TREE(%rdx), %r10
        and     $-2, %r10
        cmp     %rbp, %r10
        jne     1f
        movq    $0, %fs:RDAM_THREAD_TREE(%rdx)
1:
.endm

// Leaves the trampoline without a frame: on to the function as if nothing had been there.
.macro PASS_ON
        mov     RDAM_ENTRY_RESUME(%r11), %rax
        mov     RDAM_FRAME_RDX(%rbp), %rdx
        mov     RDAM_FRAME_RCX(%rbp), %rcx
        mov     RDAM_FRAME_R10(%rbp), %r10
        mov     (%rbp), %r11
        .cfi_register %rbp, %r11
        mov     %rax, (%rbp)
        mov     RDAM_FRAME_RAX(%rbp), %rax
        mov     %rbp, %rsp
        .cfi_def_cfa %rsp, 16
        mov     %r11, %rbp
        .cfi_same_value %rbp
        mov     RDAM_FRAME_R11(%rsp), %r11
        lea     8(%rsp), %rsp
        .cfi_def_cfa %rsp, 8
        jmp     *-8(%rsp)
.endm

.macro RESTORE_SCRATCH
        mov     RDAM_FRAME_RAX(%rbp), %rax
        mov     RDAM_FRAME_RDX(%rbp), %rdx
        mov     RDAM_FRAME_RCX(%rbp), %rcx
        mov     RDAM_FRAME_R10(%rbp), %r10
        mov     RDAM_FRAME_R11(%rbp), %r11
.endm

// Gives the SideFrame at RDAM_FRAME_RESUME back to its thread; clobbers rax, rdx, r10.
.macro FREE_SIDE_FRAME
        mov     RDAM_FRAME_RESUME(%rbp), %r10
        movq    $0, RDAM_SIDE_PLACE(%r10)
        mov     rdam_thread@gottpoff(%rip), %rdx
        mov     %fs:RDAM_THREAD_SIDE_FREE(%rdx), %rax
1:      mov     %rax, (%r10)
        cmpxchg %r10, %fs:RDAM_THREAD_SIDE_FREE(%rdx)
        jne     1b
.endm

// The leave event and the way back to the caller. The frame holds the results and, at RDAM_FRAME_ENTRY, the FunctionEntry.
.macro RECORD_LEAVE name, clock, budget, count
    .ifc \budget, budget
        lea     RDAM_UNRECORDED(%rip), %rax
        cmp     %rax, RDAM_FRAME_ENTRY(%rbp)
        je      .L\name\()_left
    .endif
        READ_CLOCK \clock
    .ifc \count, count
        push    %rcx
        push    %rdx
        push    %rax
        call    rdam_read_counter         // before the slot: changing the chunk is not the call's work
        mov     %rax, RDAM_FRAME_COUNT(%rbp)
        pop     %rax
        pop     %rdx
        pop     %rcx
    .endif
        mov     RDAM_FRAME_ENTRY(%rbp), %r11
        or      RDAM_ENTRY_LEAVE_HEAD(%r11), %rcx
.L\name\()_leave_slot:
        movzwl  RDAM_ENTRY_LEAVE_SIZE(%r11), %r10d
        mov     rdam_thread@gottpoff(%rip), %r11
        TAKE_SLOT r11, .L\name\()_leave_chunk
        bt      $RDAM_HEAD_WORDS_SHIFT, %rcx
        jc      .L\name\()_value
.L\name\()_leave_stamp:
        STORE_TICKS
    .ifc \count, count
        mov     RDAM_FRAME_ENTRY(%rbp), %r11
        movzwl  RDAM_ENTRY_LEAVE_SIZE(%r11), %eax
        mov     RDAM_FRAME_COUNT(%rbp), %rdx
        mov     %rdx, -8(%r10,%rax)
    .endif
        mov     %rcx, 8(%r10)
.L\name\()_left:
    .ifc \budget, budget
        END_TREE
    .endif
.endm

// The parts that are rarely reached, behind the straight path of each trampoline.
.macro RARE_PATHS name, clock, frame, budget, count
.L\name\()_words:
        jmp     *RDAM_ENTRY_STORE_INTEGERS(%r11)
        STORE_WORDS \name, .L\name\()_stamp
.L\name\()_stamp:
        STAMP_ENTER \clock, \budget, \count
    .ifc \frame, real
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
        CALL_SLOW rdam_slow_chunk
        test    %eax, %eax
        jz      .L\name\()_pass
.L\name\()_again:
        mov     rdam_thread@gottpoff(%rip), %rax
        jmp     .L\name\()_slot

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
        jmp     .L\name\()_leave_slot

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
        jnz     .L\name\()_active
        jmp     .L\name\()_pass

.L\name\()_tail:
.L\name\()_tail_slot:
        movzwl  RDAM_ENTRY_ENTER_SIZE(%r11), %r10d
        mov     rdam_thread@gottpoff(%rip), %rax
        TAKE_SLOT rax, .L\name\()_tail_chunk
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
        jmp     .L\name\()_tail_pass
.L\name\()_tail_chunk:
        cmpq    $0, rdam_guard(%rip)
        je      .L\name\()_tail_pass
        CALL_SLOW rdam_slow_chunk
        test    %eax, %eax
        jnz     .L\name\()_tail_slot
        jmp     .L\name\()_tail_pass
.L\name\()_tail_words:
        mov     RDAM_ENTRY_STORE_INTEGERS(%r11), %rax
        add     $(.L\name\()_tail_i6 - .L\name\()_i6), %rax
        jmp     *%rax
        STORE_WORDS \name\()_tail, .L\name\()_tail_stamp, shift=(.L\name\()_tail_v8-.L\name\()_v8)

.L\name\()_pass:
    .ifc \budget, budget
        END_TREE
    .endif
.L\name\()_tail_pass:                    // the frame may be at the place of the one that the chain began in
    .ifc \frame, side
        FREE_SIDE_FRAME
    .endif
    .ifc \budget, budget
.L\name\()_skip:
    .endif
        PASS_ON
.endm

// What the recorder's start-up needs to know of a trampoline: its address, and the labels in STORE_WORDS.
.macro VARIANT_TABLE name
        .pushsection .data.rel.ro, "aw"
        .hidden rdam_variant_\name
        .globl  rdam_variant_\name
        .balign 8
rdam_variant_\name:
        .quad   rdam_enter_\name
        .quad   .L\name\()_i0, .L\name\()_i1, .L\name\()_i2, .L\name\()_i3, .L\name\()_i4, .L\name\()_i5, .L\name\()_i6
        .quad   .L\name\()_v0, .L\name\()_v1, .L\name\()_v2, .L\name\()_v3, .L\name\()_v4, .L\name\()_v5, .L\name\()_v6
        .quad   .L\name\()_v7, .L\name\()_v8
        .popsection
.endm

.macro RECORD_ENTER name, clock, budget, count
.L\name\()_active:
        COUNT_PAIR .L\name\()_pair
.L\name\()_slot:
        movzwl  RDAM_ENTRY_ENTER_SIZE(%r11), %r10d
        TAKE_SLOT rax, .L\name\()_chunk
        mov     %rcx, 16(%r10)
        cmpq    $0, RDAM_ENTRY_STACK_BYTES(%r11)
        jne     .L\name\()_words
        STAMP_ENTER \clock, \budget, \count
.L\name\()_made:
.endm

// --- The real frame ------------------------------------------------------------------------------------------------
.macro REAL_FRAME name, clock, budget=none, count=none
        .balign 64
        .type   rdam_enter_\name, @function
rdam_enter_\name:
        .cfi_startproc
        .cfi_personality 0x1b, rdam_personality
        BUILD_FRAME
        push    RDAM_ENTRY_RESUME(%r11)
        push    %r11
        push    $0                        // the rate
    .ifc \budget, budget
        SAMPLE  \name, .L\name\()_arguments
    .endif
        RECORD_ENTER \name, \clock, \budget, \count
.L\name\()_call:
        RESTORE_SCRATCH
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

.L\name\()_arguments:                     // on the stack: a multiple of 16 bytes
        mov     RDAM_ENTRY_STACK_BYTES(%r11), %eax
        test    %eax, %eax
        jz      .L\name\()_call
        sub     %rax, %rsp
1:      mov     8(%rbp,%rax), %rcx
        mov     %rcx, -8(%rsp,%rax)
        sub     $8, %rax
        jnz     1b
        jmp     .L\name\()_call

        RARE_PATHS \name, \clock, real, \budget, \count
        .cfi_endproc
        .size   rdam_enter_\name, . - rdam_enter_\name
        VARIANT_TABLE \name
.endm

// --- The side frame ------------------------------------------------------------------------------------------------
// The function is called with the caller's stack untouched but for the return address. That one, the caller's rbp and the
// FunctionEntry stand in a SideFrame of the thread, to which rbp points during the call.
.macro SIDE_FRAME name, clock, budget=none, count=none
        .balign 64
        .type   rdam_enter_\name, @function
rdam_enter_\name:
        .cfi_startproc
        .cfi_personality 0x1b, rdam_personality
        BUILD_FRAME
        sub     $(RDAM_FRAME_SIZE + RDAM_FRAME_R11), %rsp
    .ifc \budget, budget
        mov     %r11, RDAM_FRAME_ENTRY(%rbp)
        SAMPLE  \name, .L\name\()_sampled
    .endif
        mov     rdam_thread@gottpoff(%rip), %r10
        mov     %fs:RDAM_THREAD_SIDE_FREE(%r10), %rax
.L\name\()_side_retry:
        test    %rax, %rax
        jz      .L\name\()_side_more
        mov     (%rax), %rdx
        cmpxchg %rdx, %fs:RDAM_THREAD_SIDE_FREE(%r10)
        jne     .L\name\()_side_retry
        mov     %rax, RDAM_FRAME_RESUME(%rbp)
        mov     (%rbp), %rdx
        mov     %rdx, RDAM_SIDE_RBP(%rax)
        mov     %rcx, RDAM_SIDE_RETURN(%rax)
    .ifc \budget, budget
        mov     RDAM_FRAME_ENTRY(%rbp), %rdx
        mov     %rdx, RDAM_SIDE_ENTRY(%rax)
    .else
        mov     %r11, RDAM_SIDE_ENTRY(%rax)
    .endif
        mov     RDAM_ENTRY_RESUME(%r11), %rdx
        mov     %rdx, RDAM_SIDE_RESUME(%rax)
        mov     %fs:RDAM_THREAD_SIDE_COUNT(%r10), %rdx
        inc     %rdx
        mov     %rdx, %fs:RDAM_THREAD_SIDE_COUNT(%r10)
        mov     %rdx, RDAM_SIDE_ORDER(%rax)
        lea     8(%rbp), %rdx             // last: without a place the frame is being filled
        mov     %rdx, RDAM_SIDE_PLACE(%rax)
    .ifc \budget, budget
        cmp     %r11, RDAM_FRAME_ENTRY(%rbp)
        jne     .L\name\()_made
    .endif
        RECORD_ENTER \name, \clock, \budget, \count
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
        // address of its own, in the SideFrame; rsp is what it is.
        .cfi_def_cfa %rbp, 16
        .cfi_offset %rbp, -16
        .cfi_escape 0x16, 0x07, 0x02, 0x77, 0x00           // rsp: is rsp+0
        call    *RDAM_SIDE_RESUME(%rbp)
        push    RDAM_SIDE_RETURN(%rbp)
        .cfi_restore %rsp
        .cfi_def_cfa %rsp, 8
        .cfi_escape 0x10, 0x06, 0x02, 0x76, 0x00           // rbp: saved at rbp+0
        push    RDAM_SIDE_RBP(%rbp)
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
        push    RDAM_SIDE_ENTRY(%rbp)
        .cfi_adjust_cfa_offset 8
        lea     (-RDAM_FRAME_ENTRY)(%rsp), %rbp
        .cfi_def_cfa %rbp, 16
        .cfi_offset %rbp, -16
        sub     $8, %rsp
        RECORD_LEAVE \name, \clock, \budget, \count
        FREE_SIDE_FRAME
        RESTORE_SCRATCH
        leave
        .cfi_def_cfa %rsp, 8
        .cfi_same_value %rbp
        ret
        .cfi_restore_state

.L\name\()_side_more:
        lea     8(%rbp), %rdx             // the third argument
        CALL_SLOW rdam_slow_side
        test    %rax, %rax
        jnz     .L\name\()_side_retry
    .ifc \budget, budget
        END_TREE
    .endif
        PASS_ON
        .cfi_def_cfa %rbp, 16
        .cfi_offset %rbp, -16

        RARE_PATHS \name, \clock, side, \budget, \count
        .cfi_endproc
        .size   rdam_enter_\name, . - rdam_enter_\name
        VARIANT_TABLE \name
.endm

        REAL_FRAME real_rdtscp, rdtscp
        SIDE_FRAME side_rdtscp, rdtscp
        REAL_FRAME real_rdtsc, rdtsc
        SIDE_FRAME side_rdtsc, rdtsc
        REAL_FRAME real_monotonic, monotonic
        SIDE_FRAME side_monotonic, monotonic
        REAL_FRAME real_rdtscp_budget, rdtscp, budget
        SIDE_FRAME side_rdtscp_budget, rdtscp, budget
        REAL_FRAME real_rdtsc_budget, rdtsc, budget
        SIDE_FRAME side_rdtsc_budget, rdtsc, budget
        REAL_FRAME real_monotonic_budget, monotonic, budget
        SIDE_FRAME side_monotonic_budget, monotonic, budget
    .irp clock, rdtscp, rdtsc, monotonic
        REAL_FRAME real_\clock\()_count, \clock, none, count
        SIDE_FRAME side_\clock\()_count, \clock, none, count
        REAL_FRAME real_\clock\()_budget_count, \clock, budget, count
        SIDE_FRAME side_\clock\()_budget_count, \clock, budget, count
    .endr

        .hidden rdam_trampolines_end
        .globl  rdam_trampolines_end
rdam_trampolines_end:

// A wrapped function of nothing: what a probe costs is measured with it.
        .hidden rdam_nothing
        .globl  rdam_nothing
        .type   rdam_nothing, @function
rdam_nothing:
        .cfi_startproc
        ret
        .cfi_endproc
        .size   rdam_nothing, . - rdam_nothing

// Stands in for the empty function that the dynamic linker calls when its list of objects has changed: that one
// clobbers nothing.
        .hidden rdam_link_map_hook
        .globl  rdam_link_map_hook
        .type   rdam_link_map_hook, @function
rdam_link_map_hook:
        .cfi_startproc
        .irp    register, rax, rcx, rdx, rsi, rdi, r8, r9, r10, r11
        push    %\register
        .cfi_adjust_cfa_offset 8
        .endr
        call    rdam_link_map_changed
        .irp    register, r11, r10, r9, r8, rdi, rsi, rdx, rcx, rax
        pop     %\register
        .cfi_adjust_cfa_offset -8
        .endr
        ret
        .cfi_endproc
        .size   rdam_link_map_hook, . - rdam_link_map_hook

// One stub for each function number: the place that a patched entry jumps to. It clobbers nothing: the FunctionEntry's
// offset travels on the stack. Unwinding from inside follows the rule that PLTs use: the frame is one word deeper from the
// sixth byte of each 16-byte stub on.
.macro STUBS name
        .balign RDAM_STUB_SIZE
        .hidden rdam_stubs_\name
        .globl  rdam_stubs_\name
        .type   rdam_stubs_\name, @function
rdam_stubs_\name:
        .cfi_startproc
        // CFA = rsp + 8 + ((rip & 15) >= 5) * 8
        .cfi_escape 0x0f, 0x0b, 0x77, 0x08, 0x80, 0x00, 0x3f, 0x1a, 0x35, 0x2a, 0x33, 0x24, 0x22
        .set    offset, 0
        .rept   RDAM_MAX_FUNCTIONS
        .byte   0x68                                      // push imm32
        .long   offset
        jmp     *rdam_target_\name(%rip)
        .balign RDAM_STUB_SIZE, 0xcc
        .set    offset, offset + (1 << RDAM_ENTRY_SHIFT)
        .endr
        .cfi_endproc
        .size   rdam_stubs_\name, . - rdam_stubs_\name
.endm

        STUBS real
        STUBS side

        .section .note.GNU-stack, "", @progbits
