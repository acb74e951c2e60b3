// Where patched entries jump to, and two functions of the recorder's own that clobber nothing.

#include "libprobe/base/layout.h"

        .text

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

        STUBS stack
        STUBS shadow

        .section .note.GNU-stack, "", @progbits
