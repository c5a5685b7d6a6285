/* Captured syscall(2). Calls that do not concern files of the pool are passed on to libc's function
 * with unchanged arguments, by a jump: a child of a raw clone returns on a stack of its own, where
 * no frame of ours may lie. system_calls.cpp has the C++ part. */
#if !defined(__x86_64__) || !defined(__linux__)
#error "syscall is captured on x86-64 Linux only: add its registers to system_call.S"
#endif

    .set numbers_max, 512  /* size of NumberTable in numbers.hpp */

    .text
    .p2align 4
    .globl syscall
    .type syscall, @function
syscall:
    .cfi_startproc
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
    .cfi_endproc
    .size syscall, .-syscall
    .section .note.GNU-stack,"",@progbits
