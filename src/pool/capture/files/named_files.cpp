// Finds the file of a name in the daemon's directory, and asks the daemon about it.
#include "pool/capture/files/named_files.hpp"

#include "foundation/kernel/calls.hpp"
#include "pool/capture/files/files.hpp"
#include "pool/capture/files/known_files.hpp"
#include "pool/capture/files/other_names.hpp"
#include "pool/capture/processes/inside_call.hpp"
#include "pool/capture/processes/process.hpp"

#include <cerrno>
#include <fcntl.h>

namespace forebay::capture {

namespace {

// Runs `act` on the regular file of that name, if the pool knows it. Returns 0 or an errno, and
// keeps `errno`.
template <class Act>
int on_named(int folder, const char* path, int flags, const Act& act) noexcept {
    if (!capturing() || path == nullptr) {
        return 0;
    }
    const int before = errno;
    struct stat found{};
    const bool worth_asking = kernel::fstatat(folder, path, &found, flags) == 0 &&
                              S_ISREG(found.st_mode) && may_be_known(folder, path, found);
    const int error =
        worth_asking ? in_one_process([&]() noexcept { return on_known(found, act); }) : 0;
    errno = before;
    return error == ENOENT ? 0 : error;  // the pool has drained and forgotten it meanwhile
}

}  // namespace

int drain_named(int folder, const char* path, int flags) noexcept {
    return on_named(folder, path, flags, [](CapturedFile place) noexcept { return drain(place); });
}

int leave_named(int folder, const char* path, int flags, pool::ThroughReason reason) noexcept {
    return on_named(folder, path, flags,
                    [&](CapturedFile place) noexcept { return leave(place, reason); });
}

}  // namespace forebay::capture
