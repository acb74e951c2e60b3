// Functions whose first bytes are hard to move. Each takes and returns an int, and has its bytes written out.
        .macro ENTRY name
        .balign 32, 0x90
        .globl  \name
        .type   \name, @function
\name:  .cfi_startproc
        .endm
        .macro DONE name
        .cfi_endproc
        .size   \name, . - \name
        .endm

        .data
        .balign 4
number: .long   1000

        .text
        ENTRY   marked
        endbr64
        lea     1(%rdi), %eax
        ret
        DONE    marked

        ENTRY   rip_load
        mov     number(%rip), %eax
        add     %edi, %eax
        ret
        DONE    rip_load

        ENTRY   rip_compare
        cmpl    $1000, number(%rip)
        jne     1f
        lea     2(%rdi), %eax
        ret
1:      xor     %eax, %eax
        ret
        DONE    rip_compare

        ENTRY   short_jcc
        test    %edi, %edi
        je      1f
        lea     3(%rdi), %eax
        ret
1:      mov     $77, %eax
        ret
        DONE    short_jcc

        ENTRY   near_jcc
        test    %edi, %edi
        {disp32} je 1f
        lea     4(%rdi), %eax
        ret
1:      mov     $78, %eax
        ret
        DONE    near_jcc

        ENTRY   short_jump
        jmp     1f
        .skip   20, 0xcc
1:      lea     5(%rdi), %eax
        ret
        DONE    short_jump

        ENTRY   near_jump
        {disp32} jmp 1f
        .skip   20, 0xcc
1:      lea     6(%rdi), %eax
        ret
        DONE    near_jump

        ENTRY   near_call
        call    helper
        add     %edi, %eax
        ret
        DONE    near_call

        ENTRY   helper
        mov     $7, %eax
        ret
        DONE    helper

        // Jumps back to its own first byte: one call, however often it goes round.
        ENTRY   loop_to_entry
        sub     $3, %edi
        jg      loop_to_entry
        mov     %edi, %eax
        ret
        DONE    loop_to_entry

        // Jumps back into the bytes that are moved.
        ENTRY   loop_into_moved
        xor     %eax, %eax
1:      inc     %eax
        dec     %edi
        jg      1b
        ret
        DONE    loop_into_moved

        ENTRY   loop_instruction
        mov     %edi, %ecx
        inc     %ecx
        xor     %eax, %eax
1:      inc     %eax
        loop    1b
        ret
        DONE    loop_instruction

        // Shorter than the patch, with padding behind.
        ENTRY   short_padded
        mov     %edi, %eax
        ret
        DONE    short_padded
        .skip   16, 0x90

        ENTRY   one_byte
        ret
        DONE    one_byte
        .skip   16, 0xcc

        .globl  first_name, second_name
        .type   first_name, @function
        .type   second_name, @function
        ENTRY   first_name
second_name:
        lea     9(%rdi), %eax
        ret
        DONE    first_name
        .size   second_name, . - second_name

        // Shorter than the patch, with another function directly behind and before it.
        ENTRY   before_squeezed
        lea     10(%rdi), %eax
        ret
        DONE    before_squeezed
        .globl  squeezed
        .type   squeezed, @function
squeezed:
        .cfi_startproc
        mov     %edi, %eax
        ret
        DONE    squeezed
        .globl  after_squeezed
        .type   after_squeezed, @function
after_squeezed:
        .cfi_startproc
        lea     11(%rdi), %eax
        ret
        DONE    after_squeezed
        .skip   32, 0x90

        .section .note.GNU-stack, "", @progbits
