// Reading the limit, and the captured calls that set it.
#include "pool/capture/files/size_limit.hpp"

#include "capture/captured.hpp"
#include "capture/real.hpp"
#include "foundation/base/atomics.hpp"
#include "foundation/kernel/calls.hpp"
#include "pool/capture/descriptors/tables.hpp"
#include "pool/capture/files/files.hpp"
#include "pool/capture/processes/process.hpp"

#include <cerrno>
#include <ctime>
#include <sys/resource.h>
#include <ulimit.h>

namespace forebay::capture {

namespace {

bool is_limited() noexcept { return kernel::limit_of(RLIMIT_FSIZE) != RLIM_INFINITY; }

// Makes files leave that this process has open for writing. Files that a child inherited and has
// not used stay: such a child mostly sets limits for a program that it is about to start.
void leave_for_limit() noexcept {
    const int before = errno;
    for (int fd = 0; fd < descriptors.end(); ++fd) {
        bool writes = false;
        if (descriptors.captured(fd)) {
            const HeldDescription held{fd};
            writes = held && (held->flags.load(relaxed) & O_ACCMODE) != O_RDONLY &&
                     held->connection.load(relaxed) == connection.generation();
        }
        if (writes) {
            leave_if_captured(fd, pool::ThroughReason::asked);
        }
    }
    errno = before;
}

// To be called after a call that may have set a limit; returns `result`.
template <class Result>
Result limit_was_set(int resource, Result result) noexcept {
    const int before = errno;
    if (result != -1 && resource == RLIMIT_FSIZE && descriptors.end() > 0 && is_limited()) {
        state.limit_asked_ns.store(0, relaxed);
        leave_for_limit();
    }
    if (result != -1 && resource == RLIMIT_NOFILE && connection.reached() && !is_shared_table()) {
        connection.move_beyond_limit();
    }
    errno = before;
    return result;
}

}  // namespace

void heed_size_limit() noexcept {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC_COARSE, &now);  // vDSO: no system call
    const std::int64_t tick = now.tv_sec * nanoseconds + now.tv_nsec;
    if (state.limit_asked_ns.load(relaxed) == tick) [[likely]] {
        return;
    }
    state.limit_asked_ns.store(tick, relaxed);
    if (is_limited()) {
        leave_for_limit();
    }
}

bool is_beyond_size_limit(long long bytes) noexcept {
    const rlim_t limit = kernel::limit_of(RLIMIT_FSIZE);
    return limit != RLIM_INFINITY && static_cast<rlim_t>(bytes) > limit;
}

namespace captured {

int setrlimit(int resource, const rlimit* limit) noexcept {
    return limit_was_set(resource, real::setrlimit(resource, limit));
}

int prlimit(pid_t process, int resource, const rlimit* limit, rlimit* before) noexcept {
    const int done = real::prlimit(process, resource, limit, before);
    return limit != nullptr ? limit_was_set(resource, done) : done;
}

long ulimit(int command, long amount) noexcept {
    const long done = real::ulimit(command, amount);
    return command == UL_SETFSIZE ? limit_was_set(RLIMIT_FSIZE, done) : done;
}

}  // namespace captured

}  // namespace forebay::capture
