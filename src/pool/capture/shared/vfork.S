/* Captured vfork. It returns twice on one stack, so no frame of ours may lie between it and its
 * caller: both ways out are jumps. */
#if !defined(__linux__) || !defined(__x86_64__) && !defined(__aarch64__)
#error "vfork is captured on Linux on x86-64 and aarch64 only: add a jump for this one to vfork.S"
#endif

    .text
    .p2align 4
    .globl vfork
    .type vfork, %function
    .globl __vfork
    .type __vfork, %function
vfork:
__vfork:
    .cfi_startproc
#if defined(__x86_64__)
    endbr64
    cmpl $0, forebay_vfork_is_fork(%rip)
    jne .Lfork
    movq forebay_real_vfork(%rip), %rax
    testq %rax, %rax
    je .Lfork
    jmp *%rax
.Lfork:
    jmp fork@PLT
#else
    hint #34  /* bti c */
    adrp x16, forebay_vfork_is_fork
    ldr w16, [x16, :lo12:forebay_vfork_is_fork]
    cbnz w16, .Lfork
    adrp x16, forebay_real_vfork
    ldr x16, [x16, :lo12:forebay_real_vfork]
    cbz x16, .Lfork
    br x16
.Lfork:
    b fork
#endif
    .cfi_endproc
    .size vfork, .-vfork
    .size __vfork, .-__vfork
    .section .note.GNU-stack,"",%progbits
