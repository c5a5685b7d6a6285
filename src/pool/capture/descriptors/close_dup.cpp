// Captured close, dup and fcntl. The connection's own descriptors stay open, whatever numbers a
// program closes.
#include "capture/captured.hpp"
#include "capture/real.hpp"
#include "foundation/kernel/calls.hpp"
#include "foundation/kernel/newer_linux.hpp"
#include "pool/capture/calls/locks.hpp"
#include "pool/capture/descriptors/offset_lock.hpp"
#include "pool/capture/descriptors/tables.hpp"
#include "pool/capture/files/files.hpp"
#include "pool/capture/files/mounted.hpp"
#include "pool/capture/processes/process.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <utility>

namespace forebay::capture {

namespace {

// The loader and the kernel read programs and libraries by calls that are not captured.
bool is_program(int fd) noexcept {
    constexpr mode_t anybody = S_IXUSR | S_IXGRP | S_IXOTH;
    struct stat found{};
    return kernel::fstat(fd, &found) == 0 && (found.st_mode & anybody) != 0;
}

// Called before the descriptor is closed. Returns 0, or the errno that close() has to report.
int report_at_close(CapturedFile place) noexcept {
    const bool writes = (place.file.flags.load(std::memory_order_relaxed) & O_ACCMODE) != O_RDONLY;
    if (!writes ||
        place.file.connection.load(std::memory_order_relaxed) != connection.generation()) {
        return 0;  // a parent's file, which this process has not used
    }
    if (place.file.passes.load(std::memory_order_relaxed)) {
        refresh_size(place);  // for whoever has the file open; the mount reports the errors
        return 0;
    }
    if (connection.life() == DaemonConnection::Life::dead) {
        connection.report_daemon_death();
        return EIO;
    }
    const bool wrote = place.file.wrote.load(std::memory_order_relaxed);
    if (wrote && (place.file.read_inside.load(std::memory_order_relaxed) || is_program(place.fd))) {
        return drain(place);
    }
    const bool lives = connection.reached() && connection.life() == DaemonConnection::Life::lives;
    return wrote && lives ? arrives(place.file.file()) : error_of(place);
}

// Calls `act`, which takes a descriptor away from `held`, the description to which it refers (or
// from none). No other thread moves the offset of `held` in the kernel meanwhile, which by this
// descriptor would soon be another file's.
template <class Act>
auto with_offset_kept(const HeldDescription& held, const Act& act) noexcept {
    if (held && held->offset.load(std::memory_order_acquire) == in_kernel) {
        const OffsetLock until_taken_away{*held};
        return act();
    }
    return act();
}

// Stores in the table that `to` refers to the description of `from`, or to none. Returns the
// description to which it did so before, for the caller to let go; null: none.
[[nodiscard]] FileDescription* refer(const HeldDescription& from, int to) noexcept {
    if (to >= descriptors_max) {
        return nullptr;
    }
    if (from) {
        DescriptorTable::hold(*from);
        return descriptors.put(to, &*from);
    }
    return descriptors.captured(to) ? descriptors.take(to) : nullptr;
}

// Behind refer(): what the new number means for the file.
void finish_sharing(const HeldDescription& from, int to, FileDescription* before) noexcept {
    if (before != nullptr) {
        let_go(*before);
    }
    if (from && to >= descriptors_max) {
        leave({*from, to}, pool::ThroughReason::asked);
    } else if (from && is_standard(to)) {
        leave_if_captured(to, pool::ThroughReason::stream);
    }
}

// Makes `to` refer to the description of `from`, or of none, after the kernel has done so.
void share(const HeldDescription& from, int to) noexcept {
    finish_sharing(from, to, refer(from, to));
}

// Why the kernel would refuse dup3 for two different numbers, of which `other` is open; 0: it would
// not.
int refusal_of(int fd, int other, int flags) noexcept {
    if ((flags & ~O_CLOEXEC) != 0) {
        return EINVAL;
    }
    const bool beyond = static_cast<rlim_t>(other) >= kernel::limit_of(RLIMIT_NOFILE);
    return beyond || kernel::fcntl(fd, F_GETFD) < 0 ? EBADF : 0;
}

// Before dup3: moves the connection's descriptor away from the number that the program asks for.
// Returns 0 or an errno, with nothing changed. A call that the kernel refuses must not be made: it
// could leave the old number open, which the program could then use.
int make_room(int fd, int other, int flags) noexcept {
    if (!connection.owns(other)) {
        return 0;
    }
    const int before = errno;
    int error = refusal_of(fd, other, flags);
    if (error == 0 && !connection.move_from(other)) {
        error = EMFILE;
    }
    errno = before;
    return error;
}

// Takes the descriptor out of the table, before it is closed. Returns what it referred to; null:
// nothing, by now.
FileDescription* take(int fd) noexcept {
    const HeldDescription held{fd};
    return with_offset_kept(held, [&]() noexcept { return descriptors.take(fd); });
}

// For dup2 and dup3.
template <class Real>
int replace(int fd, int other, int flags, const Real& real) noexcept {
    if (connection.owns(fd)) {
        return fail(EBADF);
    }
    if (const int error = make_room(fd, other, flags); error != 0) {
        return fail(error);
    }
    if (!descriptors.captured(fd) && !descriptors.captured(other)) {
        return real();
    }
    const HeldDescription from{fd};
    if (fd == other) {
        return real();
    }
    const HeldDescription replaced{other};
    FileDescription* gone = nullptr;
    int done = -1;
    with_offset_kept(replaced, [&]() noexcept {
        done = real();
        gone = done >= 0 ? refer(from, other) : nullptr;
    });
    if (done >= 0) {
        const int before = errno;
        finish_sharing(from, other, gone);
        errno = before;
    }
    return done;
}

// For dup, F_DUPFD and F_DUPFD_CLOEXEC.
template <class Real>
int duplicate(int fd, const Real& real) noexcept {
    if (connection.owns(fd)) {
        return fail(EBADF);
    }
    if (!descriptors.captured(fd)) {
        const int done = real();
        if (descriptors.captured(done)) {
            // The number was closed by a call that is not captured.
            share(HeldDescription{-1}, done);
        }
        return done;
    }
    const HeldDescription from{fd};
    const int done = real();
    if (done >= 0) {
        const int before = errno;
        share(from, done);
        errno = before;
    }
    return done;
}

// Closes the range, but for the connection's own descriptors.
template <class Close>
int close_ranges(unsigned first, unsigned last, const Close& close) noexcept {
    auto own = connection.own();
    std::ranges::sort(own);
    for (const int fd : own) {
        const auto kept = static_cast<unsigned>(fd);
        if (fd < 0 || kept < first || kept > last) {
            continue;
        }
        if (kept > first && close(first, kept - 1) != 0) {
            return -1;
        }
        first = kept + 1;
    }
    return first <= last ? close(first, last) : 0;
}

}  // namespace

namespace captured {

int close(int fd) noexcept {
    if (connection.owns(fd)) {
        return fail(EBADF);
    }
    if (!descriptors.captured(fd)) [[likely]] {
        return real::close(fd);
    }
    const int before = errno;
    const InsideCall inside;
    FileDescription* const held = take(fd);
    if (held == nullptr) {
        return real::close(fd);
    }
    int error = report_at_close({*held, fd});
    errno = before;
    const int closed = real::close(fd);
    const int late = let_go(*held);
    // A child that was forked meanwhile could not learn of errors: its parent does.
    error = inside.is_parents() ? 0 : error == 0 ? late : error;
    return closed == 0 && error != 0 ? fail(error) : closed;
}

int dup(int fd) noexcept {
    return duplicate(fd, [&]() noexcept { return real::dup(fd); });
}

int dup2(int fd, int other) noexcept {
    return replace(fd, other, 0, [&]() noexcept { return real::dup2(fd, other); });
}

int dup3(int fd, int other, int flags) noexcept {
    return replace(fd, other, flags, [&]() noexcept { return real::dup3(fd, other, flags); });
}

int fcntl(int fd, int command, void* argument) noexcept {
    const auto pass = [&]() noexcept { return real::fcntl(fd, command, argument); };
    if (command == F_DUPFD || command == F_DUPFD_CLOEXEC) {
        return duplicate(fd, pass);
    }
    if (is_record_lock(command)) {
        return record_lock(fd, command, argument);
    }
    if (command == F_SETFL && descriptors.captured(fd)) {
        const auto flags = reinterpret_cast<std::intptr_t>(argument);
        if ((flags & (O_APPEND | O_DIRECT)) != 0) {
            const int error =
                leave_if_captured(fd, (flags & O_APPEND) != 0 ? pool::ThroughReason::append
                                                              : pool::ThroughReason::direct);
            if (error != 0) {
                return fail(error);
            }
        }
    }
    return pass();
}

int close_range(unsigned first, unsigned last, int flags) noexcept {
    if ((static_cast<unsigned>(flags) & kernel::own_table) != 0 && first <= last) {
        const int error = prepare_own_table();
        if (error != 0) {
            return fail(error);
        }
    }
    if ((static_cast<unsigned>(flags) & kernel::close_on_exec) != 0 || first > last) {
        return real::close_range(first, last, flags);
    }
    const int before = errno;
    const auto end = static_cast<unsigned>(descriptors.end());
    for (unsigned fd = first; fd < end && fd <= last; ++fd) {
        if (descriptors.captured(static_cast<int>(fd))) {
            // The kernel's close_range reports no errors of close, either.
            static_cast<void>(close(static_cast<int>(fd)));
        }
    }
    errno = before;
    return close_ranges(first, last, [&](unsigned from, unsigned to) noexcept {
        return real::close_range(from, to, flags);
    });
}

void closefrom(int first) noexcept {
    const int before = errno;
    const auto from = static_cast<unsigned>(std::max(first, 0));
    if (close_range(from, ~0U, 0) != 0) {
        const auto end =
            static_cast<int>(std::min<rlim_t>(kernel::limit_of(RLIMIT_NOFILE), 1U << 20U));
        for (int fd = static_cast<int>(from); fd < end; ++fd) {
            static_cast<void>(close(fd));
        }
    }
    errno = before;
}

}  // namespace captured

}  // namespace forebay::capture
