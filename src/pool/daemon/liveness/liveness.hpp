// How clients see without a message that the daemon is dead: the daemon holds a robust mutex in the
// directory that they map. When the owner of such a mutex dies, the kernel sets FUTEX_OWNER_DIED in
// the mutex's futex word.
#pragma once

#include "foundation/base/result.hpp"
#include "pool/protocol/directory.hpp"

namespace forebay::daemon {

// Initialises and locks the mutex. The calling thread holds it until it calls end_life(), or dies.
Result<void> begin_life(pool::DirectoryHeader& header);

enum class ShutdownOutcome {
    // Everything is in the files: clients that still map the directory must not take it for dead.
    well,
    badly,  // clients see the same as if the daemon had been killed
};
// To be called by the thread that called begin_life(), before the memory is unmapped: the kernel
// and libc keep a list of the robust mutexes that a thread holds.
void end_life(pool::DirectoryHeader& header, ShutdownOutcome ending) noexcept;

}  // namespace forebay::daemon
