// Predicts what the kernel and the loader make of a program's file: whether they load a library
// that LD_PRELOAD names into it.
#pragma once

#include <sys/types.h>

namespace forebay::capture {

enum class ProgramKind {
    preloadable,     // glibc's loader starts it
    linked_static,   // nothing is loaded into it
    other_libc,      // its loader is another one's, into which our library cannot be relocated
    other_machine,   // it has another word size or processor
    privileged,      // it gets rights by its mode or its capabilities: the loader trusts nobody
    unreadable,      // so it cannot be told
    not_understood,  // what the kernel refuses, and shells take for a script
};

struct ProgramFile {
    ProgramKind kind = ProgramKind::not_understood;
    bool address_sanitizer = false;  // it is linked to libasan, which insists on being the first
};

// By a descriptor that may read. For a script, looks at its interpreter.
[[nodiscard]] ProgramFile look_at_program(int fd) noexcept;
// The same. A file that is not there is not understood, either.
[[nodiscard]] ProgramFile look_at_program(int folder, const char* path) noexcept;

// Why nobody captures it, for people; null: that is no reason.
[[nodiscard]] const char* why_uncaptured(ProgramKind kind) noexcept;

}  // namespace forebay::capture
