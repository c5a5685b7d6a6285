// Captured calls after which a process can no longer reach the daemon: with another root directory
// it has other names for its files; another user may not connect to the socket, nor may the
// children that it forks; and a filter of system calls may end it at the next message. It goes on
// without the pool, which is kept empty until the process ends.
#include "capture/captured.hpp"
#include "capture/real.hpp"
#include "foundation/kernel/calls.hpp"
#include "foundation/kernel/system_call.hpp"
#include "pool/capture/files/files.hpp"
#include "pool/capture/processes/process.hpp"
#include "pool/capture/processes/starting.hpp"

#include <linux/seccomp.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace forebay::capture {

namespace {

constexpr uid_t unchanged = static_cast<uid_t>(-1);

// Carries out `cut`, a call that returns -1 if it fails. All captured files leave the pool before,
// those that children inherit, too; it is asked to stay empty after the call. With a filter, it is
// asked before.
template <class Cut>
auto without_the_pool(const UncapturedProgram& what, bool asks_first, const Cut& cut) noexcept {
    const int before = errno;
    const int socket = connect_for_program();
    for (int fd = 0; socket >= 0 && fd < descriptors.end(); ++fd) {
        leave_if_captured(fd, pool::ThroughReason::inherited);
    }
    if (socket >= 0 && asks_first) {
        ask_for_room(socket, true, what);
    }
    errno = before;
    const auto done = cut();
    const int after = errno;
    if (done != -1 && socket >= 0) {
        if (!asks_first) {
            ask_for_room(socket, true, what);
        }
        state.captures.store(false, std::memory_order_release);  // `socket` is left open on purpose
    } else if (socket >= 0) {
        give_room_back(socket);
    }
    errno = after;
    return done;
}

// Calls that change the user who opens files and connects to sockets.
template <class Set>
auto as_user(uid_t user, const Set& set) noexcept {
    if (!capturing() || user == unchanged || user == ::geteuid()) {
        return set();
    }
    return without_the_pool({.path = "this process", .why = "it works as another user"}, false,
                            set);
}

template <class... User>
int changed(long number, User... users) noexcept {
    return static_cast<int>(kernel::system_call(number, kernel::word_of(users)...));
}

template <class Set>
auto filtered(const Set& set) noexcept {
    if (!capturing()) {
        return set();
    }
    return without_the_pool({.path = "this process", .why = "it filters its system calls"}, true,
                            set);
}

}  // namespace

namespace captured {

int chroot(const char* folder) noexcept {
    if (!capturing()) {
        return real::chroot(folder);
    }
    return without_the_pool({.path = folder, .why = "the root folder of a process"}, false,
                            [&]() noexcept { return real::chroot(folder); });
}

int setuid(uid_t user) noexcept {
    return as_user(user, [&]() noexcept { return real::setuid(user); });
}

int seteuid(uid_t user) noexcept {
    return as_user(user, [&]() noexcept { return real::seteuid(user); });
}

int setreuid(uid_t own, uid_t effective) noexcept {
    return as_user(effective, [&]() noexcept { return real::setreuid(own, effective); });
}

int setresuid(uid_t own, uid_t effective, uid_t saved) noexcept {
    return as_user(effective, [&]() noexcept { return real::setresuid(own, effective, saved); });
}

// By number they change the calling thread only; libc's functions change all threads.
int setuid_by_number(uid_t user) noexcept {
    return as_user(user, [&]() noexcept { return changed(SYS_setuid, user); });
}

int setreuid_by_number(uid_t own, uid_t effective) noexcept {
    return as_user(effective, [&]() noexcept { return changed(SYS_setreuid, own, effective); });
}

int setresuid_by_number(uid_t own, uid_t effective, uid_t saved) noexcept {
    return as_user(effective,
                   [&]() noexcept { return changed(SYS_setresuid, own, effective, saved); });
}

// It returns the user before, and never fails.
int setfsuid(uid_t user) noexcept {
    return as_user(user, [&]() noexcept { return real::setfsuid(user); });
}

int prctl(int option, long first, long second, long third, long fourth) noexcept {
    const auto as_asked = [&]() noexcept {
        return real::prctl(option, first, second, third, fourth);
    };
    return option == PR_SET_SECCOMP ? filtered(as_asked) : as_asked();
}

long seccomp(unsigned operation, unsigned flags, void* argument) noexcept {
    const auto as_asked = [&]() noexcept {
        return kernel::system_call(SYS_seccomp, kernel::word_of(operation), kernel::word_of(flags),
                                   kernel::word_of(argument));
    };
    const bool sets = operation == SECCOMP_SET_MODE_STRICT || operation == SECCOMP_SET_MODE_FILTER;
    return sets ? filtered(as_asked) : as_asked();
}

}  // namespace captured

}  // namespace forebay::capture
