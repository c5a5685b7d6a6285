// The parts of a C++ run time that the compiler needs where there is none. Nothing here throws; a
// cancelled thread unwinds through our functions as through C's.
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
