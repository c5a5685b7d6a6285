/* The start of a program that was linked with glibc 2.34 or newer, by an older glibc, too. Since
 * then, the first code of a program (crt1.o) leaves its constructors to libc, and an older one does
 * not run them. So libc is asked as programs did before: with a function that runs them
 * (constructors.cpp).
 */
#include <features.h>

#if __GLIBC_PREREQ(2, 34)
    .text
    .globl __libc_start_main
    .hidden __libc_start_main
    .hidden forebay_run_constructors
#if defined(__x86_64__)
    .symver older_start_main, __libc_start_main@GLIBC_2.2.5
    .type __libc_start_main, @function
    .p2align 4
__libc_start_main:
    endbr64
    leaq forebay_run_constructors(%rip), %rcx
    jmp *older_start_main@GOTPCREL(%rip)
#elif defined(__aarch64__)
    .symver older_start_main, __libc_start_main@GLIBC_2.17
    .type __libc_start_main, %function
    .p2align 2
__libc_start_main:
    hint #34  /* bti c */
    adrp x3, forebay_run_constructors
    add x3, x3, :lo12:forebay_run_constructors
    adrp x16, :got:older_start_main
    ldr x16, [x16, :got_lo12:older_start_main]
    br x16
#else
#error "programs start by an older libc on x86-64 and aarch64 only: add a start for this one"
#endif
    .size __libc_start_main, . - __libc_start_main
#endif
    .section .note.GNU-stack, "", %progbits
