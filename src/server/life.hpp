// How clients see that the daemon is dead, without asking: a robust mutex in the directory, which
// it holds. When its holder dies, the kernel sets FUTEX_OWNER_DIED in the mutex' first word.
#pragma once

#include "base/result.hpp"
#include "pool/shared/directory.hpp"

namespace forebay::server {

// The calling thread holds it until end_life(), or until it ends.
Result<void> begin_life(pool::DirectoryHeader& header);
// Everything has arrived, and nobody needs the daemon any more: clients that still map the
// directory are not to take it for dead.
void end_life(pool::DirectoryHeader& header) noexcept;

}  // namespace forebay::server
