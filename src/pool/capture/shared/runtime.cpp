// The symbols of a C++ run time that the compiler's output refers to, since this library links
// none. Nothing here throws; a cancelled thread unwinds through our functions as through those of
// C.
extern "C" {

// The compiler chooses this name:
// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming)
int __gxx_personality_v0() noexcept;

int __gxx_personality_v0() noexcept {
    constexpr int continue_unwinding = 8;
    return continue_unwinding;
}
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)
}
