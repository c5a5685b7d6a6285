/* Captured vfork. It returns twice on one stack, so no frame of ours may lie between it and its
 * caller: both ways out are jumps. */
#if !defined(__x86_64__) || !defined(__linux__)
#error "vfork is captured on x86-64 Linux only: add a jump for this machine to vfork.S"
#endif

    .text
    .p2align 4
    .globl vfork
    .type vfork, @function
    .globl __vfork
    .type __vfork, @function
vfork:
__vfork:
    .cfi_startproc
    endbr64
    cmpl $0, forebay_vfork_is_fork(%rip)
    jne .Lfork
    movq forebay_real_vfork(%rip), %rax
    testq %rax, %rax
    je .Lfork
    jmp *%rax
.Lfork:
    jmp fork@PLT
    .cfi_endproc
    .size vfork, .-vfork
    .size __vfork, .-__vfork
    .section .note.GNU-stack,"",@progbits
