// The path of an event: what runs between the first instruction of a wrapped function and its body, and again
// between its return and its caller.
//
// Register contract, for every entry point below: all registers but the stack pointer, the flags and (on the way
// back) nothing else are handed on as they came. Callers compiled with -fipa-ra rely on call-clobbered registers
// that the callee does not touch, so rax rcx rdx r10 r11, which this code uses, are saved and restored on both ways; vector
// registers are read, never written. Without a frame on the stack, for functions that are not known to keep to the ABI,
// the flags of arithmetic are handed on as well. No libc, no lock, no allocation and no system call before a `slow` label.
//
// Stack contract: on entry rsp points to the return address, 8 modulo 16. A stack frame keeps rsp's value modulo
// 64 for the function it calls: code for wide vectors may be compiled to rely on it
// (-mpreferred-stack-boundary). Without a frame the function is called with rsp, and all that is above it, as the caller
// left them; only the return address is another. In both cases the caller's registers are where a collector of garbage
// looks for them: in the registers, or on the thread's stack.
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
.macro RARE_PATHS name, clock, frame, count
.L\name\()_words:
        STORE_WORDS \name, .L\name\()_stamp
.L\name\()_stamp:
        STAMP_ENTER \clock, \count
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

.L\name\()_leave_elsewhere:
        shl     $32, %rdx                 // the ticks must outlive rax
        or      %rax, %rdx
        CALL_SLOW rdam_slow_stack, place
        mov     %edx, %eax
        shr     $32, %rdx
        jmp     .L\name\()_leave_here

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
        jmp     .L\name\()_pass
.L\name\()_tail_chunk:
        cmpq    $0, rdam_guard(%rip)
        je      .L\name\()_pass
        CALL_SLOW rdam_slow_chunk
        test    %eax, %eax
        jnz     .L\name\()_tail_record
        jmp     .L\name\()_pass
.L\name\()_tail_words:
        STORE_WORDS \name\()_tail, .L\name\()_tail_stamp

.L\name\()_pass:
    .ifc \frame, shadow
        PASS_ON kept
    .else
        PASS_ON
    .endif
.endm

// rax = the thread's offset.
.macro RECORD_ENTER name, clock, count
.L\name\()_active:
        COUNT_PAIR .L\name\()_pair
.L\name\()_record:
        MAY_BEGIN rax, .L\name\()_chunk
        movzwl  RDAM_ENTRY_ENTER_SIZE(%r11), %r10d
        TAKE_RECORD rax, .L\name\()_chunk
        mov     %rcx, 16(%r10)
        cmpq    $0, RDAM_ENTRY_STACK_BYTES(%r11)
        jne     .L\name\()_words
        STAMP_ENTER \clock, \count
.L\name\()_made:
.endm

// --- The stack frame ------------------------------------------------------------------------------------------------
// Where the thread is deep in its stack, `deep` takes over: a shadow frame, which needs none of it.
.macro STACK_FRAME name, deep, clock, count=none
        .balign 64
        .type   rdam_enter_\name, @function
rdam_enter_\name:
        .cfi_startproc
        .cfi_personality 0x1b, rdam_personality
        BUILD_FRAME
        mov     rdam_thread@gottpoff(%rip), %rax
        CHECK_STACK rax, rsp, .L\name\()_below, RDAM_THREAD_STACK_LIMIT
.L\name\()_shallow:
        push    RDAM_ENTRY_RESUME(%r11)
        push    %r11
        sub     $(8 + RDAM_FRAME_PADDING), %rsp  // the count, and padding
        RECORD_ENTER \name, \clock, \count
.L\name\()_call:
        RESTORE_SCRATCH
        FENCE   \clock
        call    *RDAM_FRAME_RESUME(%rbp)
        mov     %rax, RDAM_FRAME_RAX(%rbp)
        mov     %rdx, RDAM_FRAME_RDX(%rbp)
        mov     %rcx, RDAM_FRAME_RCX(%rbp)
        mov     %r10, RDAM_FRAME_R10(%rbp)
        mov     %r11, RDAM_FRAME_R11(%rbp)
        RECORD_LEAVE \name, \clock, \count
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

.L\name\()_below:                       // deep in the thread's stack, or on another
        CHECK_STACK rax, rsp, .L\name\()_elsewhere
        jmp     .L\deep\()_built
.L\name\()_elsewhere:
        sub     $8, %rsp
        CALL_SLOW rdam_slow_stack, place
        add     $8, %rsp
        mov     rdam_thread@gottpoff(%rip), %rax
        cmp     %fs:RDAM_THREAD_STACK_LIMIT(%rax), %rsp
        jae     .L\name\()_shallow
        jmp     .L\deep\()_built

        RARE_PATHS \name, \clock, stack, \count
        .cfi_endproc
        .size   rdam_enter_\name, . - rdam_enter_\name
.endm

// --- The shadow frame ------------------------------------------------------------------------------------------------
// The function is called with the caller's registers and stack untouched but for the return address: that is a pad's, below,
// whose CallSite has the caller's.
.macro SHADOW_FRAME name, clock, count=none
        .balign 64
        .type   rdam_enter_\name, @function
rdam_enter_\name:
        .cfi_startproc
        .cfi_personality 0x1b, rdam_personality
        BUILD_FRAME kept
.L\name\()_built:
        lea     -RDAM_SHADOW_FRAME_SIZE(%rbp), %rsp
        mov     %rax, RDAM_FRAME_FLAGS(%rbp)
        mov     rdam_thread@gottpoff(%rip), %rax
        CHECK_STACK rax, rsp, .L\name\()_elsewhere
.L\name\()_here:
        FIND_SITE .L\name\()_site
.L\name\()_found:
        shr     $(RDAM_SITE_SHIFT - RDAM_PAD_SHIFT), %edx
        lea     rdam_pads(%rip), %r10
        add     %rdx, %r10
        mov     %r10, RDAM_FRAME_RESUME(%rbp)
        RECORD_ENTER \name, \clock, \count
        RESTORE_FLAGS
        mov     RDAM_FRAME_RESUME(%rbp), %rax
        .cfi_remember_state
        LEAVE_FOR_RAX 1, \clock
        .cfi_restore_state

.L\name\()_elsewhere:
        CALL_SLOW rdam_slow_stack, place
        mov     rdam_thread@gottpoff(%rip), %rax
        jmp     .L\name\()_here

.L\name\()_site:
        mov     %rcx, %rax
        lea     rdam_trampolines_begin(%rip), %rdx
        sub     %rdx, %rax
        cmp     $(rdam_trampolines_end - rdam_trampolines_begin), %rax
        jb      .L\name\()_tail          // a tail call has its chain's return address
        CALL_SLOW rdam_slow_site
        mov     %rax, %rdx
        test    %eax, %eax
        jz      .L\name\()_pass
        mov     rdam_thread@gottpoff(%rip), %rax
        jmp     .L\name\()_found

        RARE_PATHS \name, \clock, shadow, \count

// The way back from a pad: (rsp) = the CallSite's offset in the table, where the return address was. Until that is back in
// its place, unwinders find it by the number at the begin of these 64 bytes.
        .size   rdam_enter_\name, . - rdam_enter_\name
        .balign 64
.L\name\()_origin:
        .long   rdam_call_sites - .L\name\()_origin, 0
        .type   rdam_leave_\name, @function
rdam_leave_\name:
        .cfi_def_cfa %rsp, 8
        .cfi_same_value %rbp
        .cfi_escape 0x10, 0x10, 0x0d, 0x38, 0x1c, 0x06, 0x80, 0x00, 0x09, 0xc0, 0x1a, 0x12, 0x94, 0x04, 0x22, 0x22
        push    %rbp
        .cfi_def_cfa %rsp, 16
        .cfi_offset %rbp, -16
        mov     %rsp, %rbp
        .cfi_def_cfa %rbp, 16
        push    %rax
        push    %rdx
        push    %rcx
        push    %r10
        push    %r11
        mov     8(%rbp), %r10
        lea     rdam_call_sites(%rip), %r11
        lea     (%r11,%r10), %r10
        mov     RDAM_SITE_RETURN(%r10), %rcx
        mov     %rcx, 8(%rbp)
        .cfi_offset 16, -8
        SAVE_FLAGS
        lea     -RDAM_SHADOW_FRAME_SIZE(%rbp), %rsp
        mov     %rax, RDAM_FRAME_FLAGS(%rbp)
        mov     RDAM_SITE_ENTRY(%r10), %r11
        mov     %r11, RDAM_FRAME_ENTRY(%rbp)
        RECORD_LEAVE \name, \clock, \count
        RESTORE_FLAGS
        RESTORE_SCRATCH
        .cfi_remember_state
        leave
        .cfi_def_cfa %rsp, 8
        .cfi_same_value %rbp
        ret
        .cfi_restore_state
        .cfi_endproc
        .size   rdam_leave_\name, . - rdam_leave_\name
.endm

// The two of one kind.
.macro PAIR_OF_FRAMES rest, clock, count=none
        STACK_FRAME stack_\rest, shadow_\rest, \clock, \count
        SHADOW_FRAME shadow_\rest, \clock, \count
        .pushsection .data.rel.ro.variants, "aw"
        .quad   rdam_enter_stack_\rest, rdam_enter_shadow_\rest, rdam_leave_shadow_\rest
        .popsection
.endm

// The trampolines of a clock, in the order of rdam_variants (patch.cpp).
.macro TRAMPOLINES clock
        PAIR_OF_FRAMES \clock, \clock
        PAIR_OF_FRAMES \clock\()_count, \clock, count
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

// The pads, one for each CallSite: they call its function, so that processors predict where that returns to. A pad's frame is
// not on the stack. Unwinders find the CallSite by the displacement in the call: the return address is its first word. They tell
// frames by their CFA, which must not be that of the function called, so this one is a byte above it; rsp is what it is.
        .balign RDAM_PAGE
        .hidden rdam_pads
        .globl  rdam_pads
        .type   rdam_pads, @function
rdam_pads:
        .cfi_startproc
        .cfi_personality 0x1b, rdam_personality
        // CFA = rsp + 1 + ((rip & 15) >= 11) * 8
        .cfi_escape 0x0f, 0x0b, 0x77, 0x01, 0x80, 0x00, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22
        // rsp = CFA - 1
        .cfi_escape 0x16, 0x07, 0x02, 0x31, 0x1c
        // rip is saved at (rip & -16) + (the 4 bytes at (rip & -16) + 2) - 10
        .cfi_escape 0x10, 0x10, 0x0e, 0x13, 0x80, 0x00, 0x09, 0xf0, 0x1a, 0x12, 0x23, 0x02, 0x94, 0x04, 0x22, 0x3a, 0x1c
        .set    offset, 0
        .rept   RDAM_MAX_SITES
        call    *(rdam_call_sites + offset + RDAM_SITE_RESUME)(%rip)
        .byte   0x68                                      // push imm32
        .long   offset
        .byte   0xe9                                      // jmp
        .long   .Lback - . - 4
        .set    offset, offset + (1 << RDAM_SITE_SHIFT)
        .endr
        .cfi_endproc
        .hidden rdam_pads_end
        .globl  rdam_pads_end
rdam_pads_end:
        .size   rdam_pads, . - rdam_pads

// The stack is as at the begin of rdam_leave_…: (rsp) holds the CallSite's offset; the number before this label
// leads to the table.
        .balign 64
.Lback_origin:
        .long   rdam_call_sites - .Lback_origin, 0
        .cfi_startproc
        .cfi_personality 0x1b, rdam_personality
        .cfi_escape 0x10, 0x10, 0x0d, 0x38, 0x1c, 0x06, 0x80, 0x00, 0x09, 0xc0, 0x1a, 0x12, 0x94, 0x04, 0x22, 0x22
.Lback:
        jmp     *rdam_target_return(%rip)
        .cfi_endproc

        .hidden rdam_trampolines_end
        .globl  rdam_trampolines_end
rdam_trampolines_end:

// Where STORE_WORDS begins, from its first label, by the number of registers, and for an owner: as in one copy, so in all. No
// jump out of the macro, which is short in one copy and long in another, is between the labels.
        .section .rodata
        .hidden rdam_store_integers
        .globl  rdam_store_integers
rdam_store_integers:
        .irp    first, i0, i1, i2, i3, i4, i5, i6, owner
        .byte   .Lstack_rdtscp_\first - .Lstack_rdtscp_owner
        .endr
        .hidden rdam_store_vectors
        .globl  rdam_store_vectors
rdam_store_vectors:
        .irp    first, v0, v1, v2, v3, v4, v5, v6, v7, v8
        .byte   .Lstack_rdtscp_\first - .Lstack_rdtscp_v8
        .endr

        .section .note.GNU-stack, "", @progbits
