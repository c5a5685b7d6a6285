// Examines a program's file (ELF header, interpreter, script line) to predict whether the dynamic
// loader will load a library that LD_PRELOAD names into it.
#pragma once

#include <elf.h>
#include <sys/types.h>

namespace forebay::capture {

// The processor that our libraries are for, as ELF files name it.
#if defined(__x86_64__)
inline constexpr Elf64_Half own_machine = EM_X86_64;
#elif defined(__aarch64__)
inline constexpr Elf64_Half own_machine = EM_AARCH64;
#else
#error "programs are told apart on x86-64 and aarch64 only: name this processor here"
#endif

enum class ProgramKind {
    preloadable,    // dynamically linked, and started by glibc's loader
    linked_static,  // has no dynamic loader
    other_libc,     // started by the loader of another libc, which cannot relocate our library
    other_machine,  // for another word size or processor
    // Set-user-ID, set-group-ID or capabilities: the loader ignores LD_PRELOAD (AT_SECURE).
    privileged,
    unreadable,  // the file cannot be read, so nothing is known
    // Neither ELF nor "#!": execve fails with ENOEXEC, and execvp runs it by /bin/sh.
    not_understood,
};

struct ProgramFile {
    ProgramKind kind = ProgramKind::not_understood;
    bool address_sanitizer = false;  // linked to libasan, which insists on being the first library
};

// Examines the file open as `fd`, which must be readable; for a script, its interpreter.
[[nodiscard]] ProgramFile look_at_program(int fd) noexcept;
// The same, by path. A file that does not exist is `not_understood`.
[[nodiscard]] ProgramFile look_at_program(int folder, const char* path) noexcept;

// Text for the user why a program of this kind cannot be captured; null if its kind does not
// prevent it.
[[nodiscard]] const char* why_uncaptured(ProgramKind kind) noexcept;

}  // namespace forebay::capture
