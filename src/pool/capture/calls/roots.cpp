// Captured chroot: a process with another root directory has other names for its files and can no
// longer reach the daemon. It goes on without the pool, which is kept empty until the process ends.
#include "capture/captured.hpp"
#include "capture/real.hpp"
#include "foundation/kernel/calls.hpp"
#include "pool/capture/files/files.hpp"
#include "pool/capture/processes/process.hpp"
#include "pool/capture/processes/starting.hpp"

#include <cerrno>

namespace forebay::capture {

namespace {

// All captured files leave the pool, those that children inherit, too. `socket` is left open on
// purpose.
void go_on_without_the_pool(int socket, const char* folder) noexcept {
    ask_for_room(socket, true, {.path = folder, .why = "the root folder of a process"});
    for (int fd = 0; fd < descriptors.end(); ++fd) {
        leave_if_captured(fd, pool::ThroughReason::inherited);
    }
    state.captures.store(false, std::memory_order_release);
}

}  // namespace

namespace captured {

int chroot(const char* folder) noexcept {
    if (!capturing()) {
        return real::chroot(folder);
    }
    const int before = errno;
    const int socket = connect_for_program();  // it cannot be reached from the new root
    errno = before;
    const int done = real::chroot(folder);
    const int after = errno;
    if (done == 0 && socket >= 0) {
        go_on_without_the_pool(socket, folder);  // keeps the connection open
    } else if (socket >= 0) {
        kernel::close(socket);
    }
    errno = after;
    return done;
}

}  // namespace captured

}  // namespace forebay::capture
