// A descriptor has one owner; see tools/checks/wrong.py.
#include "foundation/base/own_fd.hpp"

#include <utility>

namespace forebay {

// RIGHT: it changes hands
OwnFd right_owner(OwnFd& fd) { return std::move(fd); }

// WRONG: it has two owners
OwnFd wrong_owner(OwnFd& fd) { return fd; }

// WRONG: a bare number becomes an owner unsaid
OwnFd wrong_number() { return 3; }

}  // namespace forebay
