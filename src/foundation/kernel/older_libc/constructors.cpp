// Runs the constructors of a program, as glibc's own start code did before version 2.34 (start.S).
#include <span>

extern "C" {

using ProgramConstructor = void (*)(int, char**, char**);

// The linker defines the bounds, and crti.o the function.
// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming)
extern const ProgramConstructor __init_array_start[] __attribute__((visibility("hidden")));
extern const ProgramConstructor __init_array_end[] __attribute__((visibility("hidden")));
__attribute__((visibility("hidden"))) void _init();
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)

__attribute__((visibility("hidden"))) void forebay_run_constructors(int count, char** words,
                                                                    char** environment) {
    _init();
    for (const ProgramConstructor constructor :
         std::span<const ProgramConstructor>{__init_array_start, __init_array_end}) {
        constructor(count, words, environment);
    }
}
}
