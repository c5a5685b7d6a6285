// What the compiler wants of a C++ run time where there is none. Nothing here throws; a thread that
// is cancelled is unwound through our functions as through C's.
extern "C" {

// The compiler's name:
// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming)
int __gxx_personality_v0() noexcept;

int __gxx_personality_v0() noexcept {
    constexpr int continue_unwinding = 8;
    return continue_unwinding;
}
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)
}
