# Functions that may have to wait, and functions that look like them.
        .text
        .macro begin name
        .globl \name
        .type \name, @function
\name:
        .cfi_startproc
        .endm
        .macro local name
        .type \name, @function
\name:
        .cfi_startproc
        .endm
        .macro finish name
        .cfi_endproc
        .size \name, . - \name
        .p2align 4, 0xcc
        .endm

# --- what sleeps
        local sleeps
        mov     $202, %eax
        syscall
        ret
        finish sleeps

        local sleeps_by_copy            # as libgomp passes the number
        mov     $202, %r8d
        xor     %r10d, %r10d
        mov     %r8d, %eax
        syscall
        ret
        finish sleeps_by_copy

        local sleeps_inside             # two calls further
        call    sleeps_between
        ret
        finish sleeps_inside

        local sleeps_between
        {disp32} jmp sleeps
        finish sleeps_between

        local writes                    # another call of the kernel's
        mov     $1, %eax
        syscall
        ret
        finish writes

        begin exported_sleep
        mov     $202, %eax
        syscall
        ret
        finish exported_sleep

# --- locks
        begin calls_behind
        lock cmpxchg %edx, (%rdi)
        jne     1f
        ret
1:      call    sleeps
        ret
        finish calls_behind

        begin jumps_behind
        xor     %eax, %eax
        lock cmpxchg %edx, (%rdi)
        jne     1f
        ret
1:      {disp32} jmp sleeps_by_copy
        finish jumps_behind

        begin swaps                     # xchg locks without a prefix
        xchg    %eax, (%rdi)
        test    %eax, %eax
        je      1f
        call    sleeps_inside
1:      ret
        finish swaps

        begin sees_and_tries            # as sem_wait: what is seen to be taken is not tried
        mov     (%rdi), %eax
        test    %eax, %eax
        je      1f
        lock cmpxchg %edx, (%rdi)
        jne     1f
        ret
1:      {disp32} jmp sleeps
        finish sees_and_tries

# --- other kinds
        begin leaves_before             # as pthread_mutex_lock: for another kind of lock, and for a third one
        test    %esi, %esi
        jne     2f
        test    %edx, %edx
        jne     3f
        lock cmpxchg %edx, (%rdi)
        je      1f
        call    sleeps
1:      ret
2:      {disp32} jmp sleeps_by_copy
3:      {disp32} jmp sleeps_between     # it does not sleep itself
        finish leaves_before

        begin leaves_behind_jump        # as pthread_mutex_unlock
        mov     $1, %esi
        {disp32} jmp leaves_inside
        finish leaves_behind_jump

        local leaves_inside
        test    %edx, %edx
        jne     2f
        xchg    %eax, (%rdi)
        test    %eax, %eax
        je      1f
        call    sleeps
1:      ret
2:      {disp32} jmp sleeps
        finish leaves_inside

        begin leaves_twice              # it is not known which is which
        test    %esi, %esi
        jne     2f
        test    %edx, %edx
        jne     3f
        lock cmpxchg %edx, (%rdi)
        je      1f
        call    sleeps
1:      ret
2:      {disp32} jmp sleeps_by_copy
3:      {disp32} jmp sleeps
        finish leaves_twice

# --- whether anybody waits
        begin sees_waiters
        endbr64
        push    %rbx
        sub     $8, %rsp
        mov     36(%rdi), %ebx
        mov     %ebx, %eax
        shr     $3, %eax
        je      1f
        shl     $7, %ebx
1:      add     $8, %rsp
        pop     %rbx
        ret
        finish sees_waiters

        begin sees_waiters_later
        movl    $0, (%rdi)
        mov     36(%rdi), %eax
        shr     $3, %eax
        je      1f
        nop
1:      ret
        finish sees_waiters_later

        begin sees_waiters_of_another
        mov     36(%rsi), %eax
        shr     $3, %eax
        je      1f
        nop
1:      ret
        finish sees_waiters_of_another

        begin sees_something_else
        mov     36(%rdi), %eax
        mov     40(%rdi), %ecx
        shr     $3, %eax
        je      1f
        nop
1:      ret
        finish sees_something_else

        begin sees_and_works
        mov     36(%rdi), %eax
        shr     $3, %eax
        je      1f
        ret
1:      movl    $1, 8(%rdi)
        ret
        finish sees_and_works

        begin sees_and_goes_on
        mov     36(%rdi), %eax
        shr     $3, %eax
        jne     1f
        nop
1:      ret
        finish sees_and_goes_on

# --- what is read of an object
        begin reads_member
        push    %rbx
        mov     %rdi, %rbx
        mov     16(%rdi), %eax
        pop     %rbx
        ret
        finish reads_member

        begin reads_other_member
        mov     8(%rdi), %eax
        ret
        finish reads_other_member

        begin reads_of_another
        mov     %esi, %edi
        mov     16(%rdi), %eax
        ret
        finish reads_of_another

        begin reads_perhaps
        test    %esi, %esi
        jne     1f
        mov     16(%rdi), %eax
1:      ret
        finish reads_perhaps

# --- none
        begin decides_before            # another kind of lock altogether
        test    %esi, %esi
        jne     1f
        lock cmpxchg %edx, (%rdi)
        ret
1:      {disp32} jmp sleeps
        finish decides_before

        begin calls_exported
        lock cmpxchg %edx, (%rdi)
        je      1f
        call    exported_sleep@PLT
        mov     $0, %eax
        call    exported_sleep
1:      ret
        finish calls_exported

        begin calls_writer
        lock cmpxchg %edx, (%rdi)
        je      1f
        call    writes
1:      ret
        finish calls_writer

        begin swaps_registers
        xchg    %rcx, %rdx
        call    sleeps
        ret
        finish swaps_registers

        begin loops_inside
        lock cmpxchg %edx, (%rdi)
1:      jmp     1b
        finish loops_inside

        .section .note.GNU-stack, "", @progbits
