// What the compiler wants of a C++ run time where there is none. Nothing here throws; a thread that
// is cancelled is unwound through our functions as through C's.
extern "C" {

int __gxx_personality_v0() noexcept;  // NOLINT(bugprone-reserved-identifier): the compiler's name

int __gxx_personality_v0() noexcept {  // NOLINT(bugprone-reserved-identifier): the compiler's name
    constexpr int continue_unwinding = 8;
    return continue_unwinding;
}
}
