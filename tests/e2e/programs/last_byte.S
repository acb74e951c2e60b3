// The last byte of .text: a function of one byte with nothing behind it, for a section of code adjoins. Linked last.
// And the same in a section with room behind it.
        .text
        .globl  last_byte
        .type   last_byte, @function
last_byte:
        .cfi_startproc
        ret
        .cfi_endproc
        .size   last_byte, . - last_byte

        .section adjoining_section, "ax", @progbits
        ret

        .section last_section, "ax", @progbits
        .balign 16
        .globl  last_of_section
        .type   last_of_section, @function
last_of_section:
        .cfi_startproc
        ret
        .cfi_endproc
        .size   last_of_section, . - last_of_section

        .section next_section, "ax", @progbits
        .balign 16
        ret

        .section .note.GNU-stack, "", @progbits
