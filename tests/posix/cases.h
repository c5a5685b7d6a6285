// A program of several cases: it runs the one that its first argument names.
#pragma once

#include <stddef.h>
#include <string.h>

struct test_case {
    const char* name;
    void (*run)(void);
};

// The exit status for main: 2 where there is no such case.
static inline int run_named(int argc, char** argv, const struct test_case* cases, size_t count) {
    for (size_t i = 0; i < count; ++i) {
        if (argc > 1 && strcmp(argv[1], cases[i].name) == 0) {
            cases[i].run();
            return 0;
        }
    }
    return 2;
}
