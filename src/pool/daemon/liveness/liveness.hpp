// How clients see that the daemon is dead, without asking: a robust mutex in the directory, which
// it holds. When its holder dies, the kernel sets FUTEX_OWNER_DIED in the mutex' first word.
#pragma once

#include "foundation/base/result.hpp"
#include "pool/protocol/directory.hpp"

namespace forebay::daemon {

// The calling thread holds it until it calls end_life(), or ends.
Result<void> begin_life(pool::DirectoryHeader& header);

enum class ShutdownOutcome {
    well,   // everything has arrived: who still maps the directory is not to take it for dead
    badly,  // as if it had been killed
};
// By the thread that began it, before the memory is unmapped: the kernel and libc keep a list of
// what a thread holds.
void end_life(pool::DirectoryHeader& header, ShutdownOutcome ending) noexcept;

}  // namespace forebay::daemon
