/* Captured syscall(2). Calls that do not concern files of the pool are passed on to libc's function
 * with unchanged arguments, by a jump: a child of a raw clone returns on a stack of its own, where
 * no frame of ours may lie. system_calls.cpp has the C++ part. */
#if !defined(__linux__) || !defined(__x86_64__) && !defined(__aarch64__)
#error "syscall is captured on Linux on x86-64 and aarch64 only: add another's registers here"
#endif

    .set numbers_max, 512  /* size of NumberTable in numbers.hpp */

    .text
    .p2align 4
    .globl syscall
    .type syscall, %function
syscall:
    .cfi_startproc
#if defined(__x86_64__)
    endbr64
    cmpl $0, forebay_captures_calls(%rip)
    je .Lpass
    cmpq $numbers_max, %rdi
    jae .Lpass
    leaq forebay_numbers(%rip), %rax
    cmpb $0, (%rax,%rdi)
    je .Lpass
    /* Saves number and arguments as the array that forebay_is_ours reads; the sixth argument came
     * on the stack. */
    subq $8, %rsp
    .cfi_adjust_cfa_offset 8
    pushq 16(%rsp)
    .cfi_adjust_cfa_offset 8
    pushq %r9
    .cfi_adjust_cfa_offset 8
    pushq %r8
    .cfi_adjust_cfa_offset 8
    pushq %rcx
    .cfi_adjust_cfa_offset 8
    pushq %rdx
    .cfi_adjust_cfa_offset 8
    pushq %rsi
    .cfi_adjust_cfa_offset 8
    pushq %rdi
    .cfi_adjust_cfa_offset 8
    subq $8, %rsp
    .cfi_adjust_cfa_offset 8
    leaq 8(%rsp), %rdi
    call forebay_is_ours
    addq $8, %rsp
    .cfi_adjust_cfa_offset -8
    popq %rdi
    .cfi_adjust_cfa_offset -8
    popq %rsi
    .cfi_adjust_cfa_offset -8
    popq %rdx
    .cfi_adjust_cfa_offset -8
    popq %rcx
    .cfi_adjust_cfa_offset -8
    popq %r8
    .cfi_adjust_cfa_offset -8
    popq %r9
    .cfi_adjust_cfa_offset -8
    addq $16, %rsp
    .cfi_adjust_cfa_offset -16
    testb %al, %al
    jne forebay_call_by_number
.Lpass:
    movq forebay_real_syscall(%rip), %rax
    testq %rax, %rax
    je .Lown
    jmp *%rax
.Lown:
    /* Our constructor has not run yet, so libc's function is not known. */
    movq %rdi, %rax
    movq %rsi, %rdi
    movq %rdx, %rsi
    movq %rcx, %rdx
    movq %r8, %r10
    movq %r9, %r8
    movq 8(%rsp), %r9
    syscall
    cmpq $-4095, %rax
    jae .Lfailed
    ret
.Lfailed:
    negl %eax
    pushq %rax
    .cfi_adjust_cfa_offset 8
    call __errno_location@PLT
    popq %rdx
    .cfi_adjust_cfa_offset -8
    movl %edx, (%rax)
    movq $-1, %rax
    ret
#else
    hint #34  /* bti c */
    adrp x16, forebay_captures_calls
    ldr w16, [x16, :lo12:forebay_captures_calls]
    cbz w16, .Lpass
    cmp x0, #numbers_max
    b.hs .Lpass
    adrp x16, forebay_numbers
    add x16, x16, :lo12:forebay_numbers
    ldrb w16, [x16, x0]
    cbz w16, .Lpass
    /* Saves number and arguments as the array that forebay_is_ours reads. */
    stp x29, x30, [sp, #-80]!
    .cfi_def_cfa_offset 80
    .cfi_offset x29, -80
    .cfi_offset x30, -72
    stp x0, x1, [sp, #16]
    stp x2, x3, [sp, #32]
    stp x4, x5, [sp, #48]
    str x6, [sp, #64]
    add x0, sp, #16
    bl forebay_is_ours
    and w16, w0, #1
    ldr x6, [sp, #64]
    ldp x4, x5, [sp, #48]
    ldp x2, x3, [sp, #32]
    ldp x0, x1, [sp, #16]
    ldp x29, x30, [sp], #80
    .cfi_def_cfa_offset 0
    .cfi_restore x29
    .cfi_restore x30
    cbz w16, .Lpass
    b forebay_call_by_number
.Lpass:
    adrp x16, forebay_real_syscall
    ldr x16, [x16, :lo12:forebay_real_syscall]
    cbz x16, .Lown
    br x16
.Lown:
    /* Our constructor has not run yet, so libc's function is not known. */
    mov x8, x0
    mov x0, x1
    mov x1, x2
    mov x2, x3
    mov x3, x4
    mov x4, x5
    mov x5, x6
    svc #0
    cmn x0, #4095
    b.hs .Lfailed
    ret
.Lfailed:
    stp x29, x30, [sp, #-32]!
    .cfi_def_cfa_offset 32
    .cfi_offset x29, -32
    .cfi_offset x30, -24
    neg w1, w0
    str w1, [sp, #16]
    bl __errno_location
    ldr w1, [sp, #16]
    str w1, [x0]
    mov x0, #-1
    ldp x29, x30, [sp], #32
    .cfi_def_cfa_offset 0
    .cfi_restore x29
    .cfi_restore x30
    ret
#endif
    .cfi_endproc
    .size syscall, .-syscall
    .section .note.GNU-stack,"",%progbits
