# Functions with unwind tables that compilers make seldom, or that are not theirs. Never run.
        .text

.macro begin name
        .balign 16
        .globl  \name
        .type   \name, @function
\name:
.endm
.macro end name
        .size   \name, . - \name
.endm

        # A state that is remembered within the moved instructions, and restored behind them.
        begin   remembers
.Lremembers:
        .cfi_startproc
        push    %rbx
        .cfi_def_cfa_offset 16
        .cfi_offset %rbx, -16
        test    %edi, %edi
        .cfi_remember_state
        je      1f
        pop     %rbx
        .cfi_restore %rbx
        .cfi_def_cfa_offset 8
        ret
        .cfi_restore_state
1:      mov     %esi, %eax
        pop     %rbx
        .cfi_def_cfa_offset 8
        ret
        .cfi_endproc
        end     remembers

        # Remembered and restored among them.
        begin   restores
        .cfi_startproc
        .cfi_remember_state
        push    %rbp
        .cfi_def_cfa_offset 16
        .cfi_offset %rbp, -16
        pop     %rbp
        .cfi_restore_state
        nop
        nop
        nop
        mov     %edi, %eax
        ret
        .cfi_endproc
        end     restores

        # A frame that is where an expression says, from its first instruction on.
        begin   computes
        .cfi_startproc
        .cfi_escape 0x0f, 0x03, 0x77, 0x08, 0x96   # def_cfa_expression: rsp + 8; nop
        mov     %rdi, %rax
        add     %rsi, %rax
        .cfi_escape 0x10, 0x03, 0x02, 0x77, 0x00   # rbx is where rsp points
        nop
        ret
        .cfi_endproc
        end     computes

        # The same, and it calls: where the stack is deeper the expression does not hold.
        begin   computes_and_calls
        .cfi_startproc
        .cfi_escape 0x0f, 0x03, 0x77, 0x08, 0x96
        call    remembers
        ret
        .cfi_endproc
        end     computes_and_calls

        # A call among the moved instructions, by the stack's end and by another register.
        begin   calls
        .cfi_startproc
        push    %rbx
        .cfi_def_cfa_offset 16
        .cfi_offset %rbx, -16
        call    remembers
        pop     %rbx
        .cfi_def_cfa_offset 8
        ret
        .cfi_endproc
        end     calls

        begin   calls_with_base
        .cfi_startproc
        push    %rbp
        .cfi_def_cfa_offset 16
        .cfi_offset %rbp, -16
        mov     %rsp, %rbp
        .cfi_def_cfa_register %rbp
        call    *%rax
        pop     %rbp
        .cfi_def_cfa %rsp, 8
        ret
        .cfi_endproc
        end     calls_with_base

        # Its description begins with another function.
        begin   before
        .cfi_startproc
        push    %rbx
        .cfi_def_cfa_offset 16
        .cfi_offset %rbx, -16
        mov     %edi, %ebx
        mov     %ebx, %eax
        nop
        .globl  described_before
        .type   described_before, @function
described_before:
        mov     %edi, %edi
        add     $1, %eax
        pop     %rbx
        .cfi_def_cfa_offset 8
        ret
        .cfi_endproc
        .size   before, described_before - before
        end     described_before

        # A short loop, moved as a whole.
        begin   loops
        .cfi_startproc
        dec     %edi
        jne     loops
        push    %rbx
        .cfi_def_cfa_offset 16
        pop     %rbx
        .cfi_def_cfa_offset 8
        ret
        .cfi_endproc
        end     loops

        # Not understood: an address of its own amid the program.
        begin   sets_place
        .cfi_startproc
        mov     %edi, %eax
        .cfi_escape 0x01, 0, 0, 0, 0
        mov     %edi, %eax
        mov     %edi, %eax
        ret
        .cfi_endproc
        end     sets_place

        # The frame of a signal handler's caller is none that is called.
        begin   returns_from_signals
        .cfi_startproc
        .cfi_signal_frame
        mov     %edi, %eax
        mov     %edi, %eax
        mov     %edi, %eax
        ret
        .cfi_endproc
        end     returns_from_signals

        # A personality without a landing table; and one whose landing table is none.
        begin   no_table
        .cfi_startproc
        .cfi_personality 0x9b, reference
        mov     %edi, %eax
        mov     %edi, %eax
        mov     %edi, %eax
        ret
        .cfi_endproc
        end     no_table

        # Landing pads count from elsewhere, sites in 4 bytes, types in 8, and are addresses.
        begin   elsewhere
        .cfi_startproc
        .cfi_personality 0x1b, personality
        .cfi_lsda 0x1b, .Lelsewhere
        mov     (%rdi), %eax
.Lelsewhere_1:
        mov     (%rdi), %ecx
        mov     (%rdi), %edx
        ret
.Lelsewhere_pad:
        ret
        .cfi_endproc
        end     elsewhere

        # D's own compiler nests its sites: the last one that covers an instruction counts.
        begin   nests
        .cfi_startproc
        .cfi_personality 0x9b, reference
        .cfi_lsda 0x1b, .Lnests
        mov     (%rdi), %eax
.Lnests_1:
        mov     (%rdi), %ecx
.Lnests_2:
        mov     (%rdi), %edx
        nop
        ret
.Lnests_pad:
        ret
.Lnests_pad_2:
        ret
        .cfi_endproc
        end     nests

        # A chain that goes back, a list of types, and everything.
        begin   chains
        .cfi_startproc
        .cfi_personality 0x9b, reference
        .cfi_lsda 0x1b, .Lchains
        mov     (%rdi), %eax
        mov     (%rdi), %ecx
        mov     (%rdi), %edx
        ret
.Lchains_pad:
        ret
        .cfi_endproc
        end     chains

        # A chain without an end.
        begin   circles
        .cfi_startproc
        .cfi_personality 0x9b, reference
        .cfi_lsda 0x1b, .Lcircles
        mov     (%rdi), %eax
        mov     (%rdi), %ecx
        mov     (%rdi), %edx
        ret
.Lcircles_pad:
        ret
        .cfi_endproc
        end     circles

        # An exception lands among the first bytes, which leaves two for a jump into the padding before.
        .balign 16
        .fill   16, 1, 0x90
        .globl  lands_within
        .type   lands_within, @function
lands_within:
        .cfi_startproc
        .cfi_personality 0x9b, reference
        .cfi_lsda 0x1b, .Lwithin
        mov     (%rdi), %eax
        ret
.Lwithin_pad:
        mov     $-1, %eax
        ret
        .cfi_endproc
        end     lands_within

        .globl  personality
        .hidden personality
        .type   personality, @function
personality:
        ret
        end     personality

        .section .gcc_except_table, "a", @progbits
        .balign 4
.Lelsewhere:
        .byte   0x1b
        .long   .Lremembers - .
        .byte   0x1c
        .uleb128 .Lelsewhere_types - .Lelsewhere_from
.Lelsewhere_from:
        .byte   0x03
        .uleb128 .Lelsewhere_actions - .Lelsewhere_sites
.Lelsewhere_sites:
        .long   0, .Lelsewhere_1 - elsewhere, .Lelsewhere_pad - .Lremembers
        .uleb128 1
        .long   .Lelsewhere_1 - elsewhere, 100, 0
        .uleb128 0
.Lelsewhere_actions:
        .sleb128 2, 0
        .balign 4
        .quad   personality - .
        .quad   .Lremembers - .
.Lelsewhere_types:

.Lnests:
        .byte   0xff, 0x9b
        .uleb128 .Lnests_types - .Lnests_from
.Lnests_from:
        .byte   0x01
        .uleb128 .Lnests_actions - .Lnests_sites
.Lnests_sites:
        .uleb128 0, .Lnests_2 - nests, .Lnests_pad - nests, 1
        .uleb128 .Lnests_1 - nests, .Lnests_2 - .Lnests_1, .Lnests_pad_2 - nests, 0
        .uleb128 .Lnests_2 - nests, 9, .Lnests_pad_2 - nests, 0
.Lnests_actions:
        .sleb128 1, 0
        .balign 4
        .long   reference - .
.Lnests_types:

.Lchains:
        .byte   0xff, 0x9b
        .uleb128 .Lchains_types - .Lchains_from
.Lchains_from:
        .byte   0x01
        .uleb128 .Lchains_actions - .Lchains_sites
.Lchains_sites:
        .uleb128 0, 9, .Lchains_pad - chains, 9
.Lchains_actions:
        .sleb128 -1, 0                  # 1
        .sleb128 2, -3                  # 3
        .sleb128 1, -3                  # 5
        .sleb128 -4, -3                 # 7
        .sleb128 0, -3                  # 9
        .balign 4
        .long   0
        .long   reference - .
.Lchains_types:
        .uleb128 1, 2, 0
        .uleb128 2, 0

.Lcircles:
        .byte   0xff, 0xff, 0x01
        .uleb128 .Lcircles_actions - .Lcircles_sites
.Lcircles_sites:
        .uleb128 0, 9, .Lcircles_pad - circles, 1
.Lcircles_actions:
        .sleb128 0, -1

.Lwithin:
        .byte   0xff, 0xff, 0x01
        .uleb128 .Lwithin_actions - .Lwithin_sites
.Lwithin_sites:
        .uleb128 0, 2, .Lwithin_pad - lands_within, 0
.Lwithin_actions:

        .data
        .balign 8
reference:
        .quad   personality
        .section .note.GNU-stack, "", @progbits
