// Captured read, write, readv, writev and the variants with an offset. If only this process uses a
// file description, `FileDescription::offset` is its offset; otherwise the kernel has the offset,
// and advances it atomically for all processes that share it.
#include "capture/captured.hpp"
#include "capture/real.hpp"
#include "foundation/base/atomics.hpp"
#include "foundation/base/contracts.hpp"
#include "foundation/kernel/calls.hpp"
#include "pool/capture/calls/read_by_libc.hpp"
#include "pool/capture/connection/lending.hpp"
#include "pool/capture/descriptors/offset_lock.hpp"
#include "pool/capture/files/files.hpp"
#include "pool/capture/files/mounted.hpp"
#include "pool/capture/files/size_limit.hpp"
#include "pool/capture/processes/inside_call.hpp"
#include "pool/capture/processes/process.hpp"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <fcntl.h>
#include <limits>
#include <span>

namespace forebay::capture {

namespace {

constexpr std::size_t move_max = 0x7ffff000;  // MAX_RW_COUNT: the kernel moves no more in one call
constexpr off_t here = -1;                    // as offset of preadv2: use the description's offset

using Pieces = std::span<const iovec>;

// The file in the file system, read by the kernel.
class KernelFile final : public pool::BackingFile {
public:
    explicit KernelFile(CapturedFile place) noexcept : place_{place} {}
    [[nodiscard]] std::int64_t read(std::int64_t offset,
                                    std::span<std::byte> bytes) noexcept override {
        if (const auto got = read_below(place_, offset, bytes)) {
            return *got;
        }
        const ssize_t got = kernel::pread(place_.fd, bytes.data(), bytes.size(), offset);
        return got < 0 ? -errno : got;
    }
    [[nodiscard]] bool may_fill(std::span<std::byte> bytes) noexcept override {
        return state.memory.writable(bytes.data(), bytes.size());
    }

private:
    CapturedFile place_;
};

bool may_read(CapturedFile place) noexcept {
    return (place.file.flags.load(relaxed) & O_ACCMODE) != O_WRONLY;
}
bool may_write(CapturedFile place) noexcept {
    return (place.file.flags.load(relaxed) & O_ACCMODE) != O_RDONLY;
}

// Bytes of all pieces of an iovec, but no more than one call moves.
std::int64_t bytes_of(Pieces pieces) noexcept {
    std::size_t bytes = 0;
    for (const iovec& piece : pieces) {
        bytes += std::min(piece.iov_len, move_max - bytes);
    }
    return static_cast<std::int64_t>(bytes);
}

// Calls `move` (memory, bytes, bytes moved before) for one piece after the other until one is moved
// only in part. Returns the bytes moved, or minus an errno if there are none.
template <class Move>
std::int64_t move_each(Pieces pieces, Move move) noexcept {
    std::int64_t total = 0;
    for (const iovec& piece : pieces) {
        const std::size_t want =
            std::min(piece.iov_len, move_max - static_cast<std::size_t>(total));
        const std::int64_t moved = move(piece.iov_base, want, total);
        if (moved < 0) {
            return total > 0 ? total : moved;
        }
        total += moved;
        if (moved < static_cast<std::int64_t>(want)) {
            break;
        }
    }
    return total;
}

// -- writing

// Writes by the descriptor: the file is written through, or the mount puts the bytes in order.
// Another thread may have replaced it while this one waited for the daemon. Returns bytes, or minus
// an errno.
std::int64_t write_by_kernel(CapturedFile place, std::span<const std::byte> bytes,
                             std::int64_t at) noexcept {
    if (!descriptors.refers(place.fd, place.file)) {
        return -EBADF;
    }
    const ssize_t moved = unless_parents(
        [&]() noexcept { return kernel::pwrite(place.fd, bytes.data(), bytes.size(), at); });
    return moved < 0 ? -errno : moved;
}

// Writes at an offset above `sure_max`, where only the file system can tell whether a file may be
// that long: the file leaves the pool, and the kernel writes. Returns bytes, or minus an errno.
std::int64_t write_far(CapturedFile place, std::span<const std::byte> bytes,
                       std::int64_t at) noexcept {
    const int error = leave(place, pool::ThroughReason::asked);
    if (error != 0) {
        return -error;
    }
    return write_by_kernel(place, bytes, at);
}

// Writes the rest of a write by the mount, which waits until the file has left the pool, and knows
// how the daemon has ended. Returns bytes, `taken` among them, or minus an errno.
std::int64_t write_by_mount(CapturedFile place, std::span<const std::byte> bytes, std::int64_t at,
                            std::int64_t taken) noexcept {
    if (connection.life() == DaemonConnection::Life::dead) {
        connection.report_daemon_death();
    }
    const std::int64_t moved = write_by_kernel(place, bytes, at);
    if (moved < 0 && taken == 0) {
        return moved;
    }
    return taken + std::max<std::int64_t>(moved, 0);
}

// Writes to the pool by `put`, and the rest directly if the file is written through by now. Returns
// bytes written, or minus an errno.
template <class Put>
std::int64_t deposit(CapturedFile place, std::span<const std::byte> bytes, std::int64_t at,
                     const Put& put) noexcept {
    if (at > sure_max - static_cast<std::int64_t>(bytes.size())) {
        return write_far(place, bytes, at);
    }
    if (is_by_kernel(place)) {
        return write_by_kernel(place, bytes, at);
    }
    const pool::FileId file = place.file.file();
    const pool::WriteResult written = put(file);
    const auto taken = static_cast<std::int64_t>(written.taken);
    if (is_mounted(place) && (written.rest == pool::WriteResult::Rest::through ||
                              written.rest == pool::WriteResult::Rest::lost)) {
        return write_by_mount(place, bytes.subspan(written.taken), at + taken, taken);
    }
    int error = 0;
    switch (written.rest) {
        case pool::WriteResult::Rest::none: return taken;
        case pool::WriteResult::Rest::failed: error = written.error; break;
        case pool::WriteResult::Rest::through: {
            const pool::WriteResult settled = connection.log_writer().settle(file);
            if (settled.rest == pool::WriteResult::Rest::through) {
                const std::int64_t moved =
                    write_by_kernel(place, bytes.subspan(written.taken), at + taken);
                if (moved >= 0) {
                    return taken + moved;
                }
                error = static_cast<int>(-moved);
                break;
            }
            if (settled.rest == pool::WriteResult::Rest::failed) {
                error = settled.error;
                break;
            }
            [[fallthrough]];
        }
        case pool::WriteResult::Rest::lost:
            connection.report_daemon_death();
            error = EIO;
            break;
    }
    return taken > 0 ? taken : -error;
}

// Waits until the write is as durable as pool_durability promises. Returns `moved`, or minus an
// errno.
std::int64_t made_durable(CapturedFile place, std::int64_t moved) noexcept {
    const pool::WriteResult durable = connection.log_writer().make_durable(place.file.file());
    switch (durable.rest) {
        case pool::WriteResult::Rest::none:
        case pool::WriteResult::Rest::through: return moved;
        case pool::WriteResult::Rest::failed: return -durable.error;
        case pool::WriteResult::Rest::lost: break;
    }
    if (is_mounted(place) && connection.life() == DaemonConnection::Life::ended) {
        return moved;  // the daemon has drained what it had, and the mount wrote the rest below
    }
    connection.report_daemon_death();
    return -EIO;
}

// Returns bytes written, or minus an errno.
std::int64_t write_at(CapturedFile place, Pieces pieces, std::int64_t at) noexcept {
    heed_size_limit();
    if (!place.file.wrote.load(relaxed)) {
        place.file.wrote.store(true, relaxed);
    }
    const std::int64_t moved = move_each(
        pieces,
        [&](const void* memory, std::size_t want, std::int64_t before) noexcept -> std::int64_t {
            if (want == 0) {
                return 0;
            }
            // As the kernel does, writes the bytes before the first unreadable one.
            const std::size_t there = state.memory.readable(memory, want);
            const std::span bytes{static_cast<const std::byte*>(memory), there};
            if (at + before == 0 && is_read_by_libc(bytes)) {
                place.file.read_inside.store(true, relaxed);
            }
            return there == 0 ? -EFAULT
                              : deposit(place, bytes, at + before, [&](pool::FileId file) noexcept {
                                    return connection.log_writer().append(file, at + before, bytes);
                                });
        });
    return moved > 0 ? made_durable(place, moved) : moved;
}

// write_at() of bytes that lie in lent memory of the log already.
std::int64_t write_lent_at(CapturedFile place, const pool::LogReservation& part, std::int64_t at,
                           bool& taken) noexcept {
    heed_size_limit();
    place.file.wrote.store(true, relaxed);
    const std::int64_t moved = deposit(place, part.bytes, at, [&](pool::FileId file) noexcept {
        const pool::WriteResult written = connection.log_writer().append_lent(file, at, part);
        taken = written.taken > 0;
        return written;
    });
    return moved > 0 ? made_durable(place, moved) : moved;
}

// Whether this call may move the offset that the kernel has. A child that a signal handler forks
// must not move it a second time: that would leave a hole in the file. A descriptor that another
// thread has replaced has another file's offset.
bool may_move_in_kernel(CapturedFile place) noexcept {
    return !in_parents_call() && descriptors.refers(place.fd, place.file);
}

// Moves an offset that is in the kernel, and returns it; -1 if it may not.
off_t move_in_kernel(CapturedFile place, std::int64_t bytes) noexcept {
    const OffsetLock until_moved{place.file};
    if (!may_move_in_kernel(place)) {
        errno = EINTR;
        return -1;
    }
    return kernel::lseek(place.fd, bytes, SEEK_CUR);
}

// Advances the description's offset by `bytes`, so that no other thread reads or writes the same
// range. Returns the offset before, or -1 and errno if the sum overflows.
std::int64_t claim(CapturedFile place, std::int64_t bytes) noexcept {
    std::int64_t at = place.file.offset.load(std::memory_order_acquire);
    while (at != in_kernel) {
        invariant(at >= 0, "a description's offset lies in its file");
        std::int64_t end = 0;
        if (__builtin_add_overflow(at, bytes, &end)) {
            return fail(EINVAL);
        }
        if (place.file.offset.compare_exchange_weak(at, end, std::memory_order_acq_rel)) {
            return at;
        }
    }
    const off_t end = move_in_kernel(place, bytes);
    return end < 0 ? fail(EINVAL) : end - bytes;
}

// Moves the offset back over bytes that were claimed but not moved, unless another call has moved
// it since.
void give_back(CapturedFile place, std::int64_t end, std::int64_t bytes) noexcept {
    if (bytes == 0) {
        return;
    }
    if (place.file.offset.load(relaxed) == in_kernel) {
        move_in_kernel(place, -bytes);
        return;
    }
    place.file.offset.compare_exchange_strong(end, end - bytes, std::memory_order_acq_rel);
}

ssize_t told(std::int64_t moved) noexcept {
    return moved < 0 ? fail(static_cast<int>(-moved)) : moved;
}

// Writes at the description's offset, and advances it by the bytes written.
ssize_t write_here(CapturedFile place, Pieces pieces) noexcept {
    const std::int64_t bytes = bytes_of(pieces);
    const std::int64_t at = claim(place, bytes);
    if (at < 0) {
        return -1;
    }
    const std::int64_t moved = write_at(place, pieces, at);
    give_back(place, at + bytes, bytes - std::max<std::int64_t>(moved, 0));
    return told(moved);
}

ssize_t write_there(CapturedFile place, Pieces pieces, off_t at) noexcept {
    std::int64_t end = 0;
    if (__builtin_add_overflow(at, bytes_of(pieces), &end)) {
        return fail(EINVAL);
    }
    return told(write_at(place, pieces, at));
}

// -- reading

// Returns bytes read, or minus an errno.
std::int64_t read_at(CapturedFile place, Pieces pieces, std::int64_t at) noexcept {
    const DaemonConnection::Reading reading{connection};
    const PredictionLock guess{descriptors.guess(place.file)};
    KernelFile backing{place};
    return move_each(pieces, [&](void* memory, std::size_t want, std::int64_t before) noexcept {
        return connection.reader().read(place.file.file(), backing, guess.get(), at + before,
                                        {static_cast<std::byte*>(memory), want});
    });
}

// Moves an offset that is in the kernel on by `bytes`, if it is still `at`. False: it is not.
bool move_on_from(CapturedFile place, off_t at, std::int64_t bytes) noexcept {
    const OffsetLock until_moved{place.file};
    if (!may_move_in_kernel(place) || kernel::lseek(place.fd, 0, SEEK_CUR) != at) {
        return false;
    }
    if (kernel::lseek(place.fd, bytes, SEEK_CUR) == at + bytes) {
        return true;
    }
    // A call that is not captured has moved it at this moment (on a mount).
    kernel::lseek(place.fd, -bytes, SEEK_CUR);
    return false;
}

// read_here() at an offset that the kernel has. It is moved after reading, and only by the bytes
// that were read: if it were moved before, by all that is asked for, whoever shares it would
// meanwhile write behind the end of the file, or miss what is appended to it.
ssize_t read_shared(CapturedFile place, Pieces pieces, std::int64_t bytes) noexcept {
    for (;;) {
        const off_t at = kernel::lseek(place.fd, 0, SEEK_CUR);
        if (at < 0) {
            return -1;
        }
        const bool over = at > std::numeric_limits<std::int64_t>::max() - bytes;
        const std::int64_t moved = over ? -EINVAL : read_at(place, pieces, at);
        if (moved <= 0 || move_on_from(place, at, moved)) {
            return told(moved);
        }
        if (!may_move_in_kernel(place)) {
            return fail(EINTR);
        }
    }
}

// Reads at an offset that only this process moves: reads first, then advances the offset if it is
// still the same, and repeats otherwise.
ssize_t read_here(CapturedFile place, Pieces pieces) noexcept {
    const std::int64_t bytes = bytes_of(pieces);
    std::int64_t at = place.file.offset.load(std::memory_order_acquire);
    while (at != in_kernel) {
        const bool over = at > std::numeric_limits<std::int64_t>::max() - bytes;
        const std::int64_t moved = over ? -EINVAL : read_at(place, pieces, at);
        if (moved <= 0) {
            return told(moved);
        }
        if (place.file.offset.compare_exchange_strong(at, at + moved, std::memory_order_acq_rel)) {
            return moved;
        }
    }
    return read_shared(place, pieces, bytes);
}

ssize_t read_there(CapturedFile place, Pieces pieces, off_t at) noexcept {
    if (at > std::numeric_limits<std::int64_t>::max() - bytes_of(pieces)) {
        return fail(EINVAL);
    }
    return told(read_at(place, pieces, at));
}

// -- common to the captured functions

enum class CallDirection { reads, writes };

// Direction and offset of a call; without `has_offset`, the description's offset.
struct CallTransfer {
    CallDirection direction;
    bool has_offset = false;
    off_t at = 0;
};

// The checks of descriptor and offset that the kernel makes before those of memory. Returns 0 or an
// errno.
int refusal_of(CapturedFile place, const CallTransfer& move) noexcept {
    if (move.has_offset && move.at < 0) {
        return EINVAL;
    }
    return (move.direction == CallDirection::reads ? may_read(place) : may_write(place)) ? 0
                                                                                         : EBADF;
}

ssize_t move(CapturedFile place, Pieces pieces, const CallTransfer& how) noexcept {
    if (how.direction == CallDirection::reads) {
        return how.has_offset ? read_there(place, pieces, how.at) : read_here(place, pieces);
    }
    return how.has_offset ? write_there(place, pieces, how.at) : write_here(place, pieces);
}

// Bytes that a file of a mount moves tell when it pays to capture it.
FileRoute route_transfer(CapturedFile place, Pieces pieces) noexcept {
    return is_mounted(place) ? route_mounted(place, bytes_of(pieces)) : route(place);
}

// For read, write, pread and pwrite.
template <class Pass>
ssize_t on_bytes(int fd, const iovec& piece, const CallTransfer& how, const Pass& pass) noexcept {
    const iovec whole{piece.iov_base, std::min(piece.iov_len, move_max)};
    return on(
        fd, pass,
        [&](CapturedFile place) noexcept -> ssize_t {
            if (const int error = refusal_of(place, how); error != 0) {
                return fail(error);
            }
            if (!KnownMemory::possible(piece.iov_base, piece.iov_len)) {
                return fail(EFAULT);
            }
            return move(place, {&whole, 1}, how);
        },
        [&](CapturedFile place) noexcept { return route_transfer(place, {&whole, 1}); });
}

// The checks of an iovec that the kernel makes before it moves any byte, in its order. Returns 0 or
// an errno. The kernel cuts a single piece to MAX_RW_COUNT before it checks the address, but not
// several pieces.
int refusal_of(const iovec* pieces, int count) noexcept {
    if (count < 0 || count > IOV_MAX) {
        return EINVAL;
    }
    const std::size_t bytes = static_cast<std::size_t>(count) * sizeof(iovec);
    if (state.memory.readable(pieces, bytes) != bytes) {
        return EFAULT;
    }
    const Pieces all{pieces, static_cast<std::size_t>(count)};
    if (!std::ranges::all_of(all,
                             [](const iovec& one) noexcept { return one.iov_len <= SSIZE_MAX; })) {
        return EINVAL;
    }
    const std::size_t looked_at = count == 1 ? move_max : SSIZE_MAX;
    const bool possible = std::ranges::all_of(all, [&](const iovec& one) noexcept {
        return KnownMemory::possible(one.iov_base, std::min(one.iov_len, looked_at));
    });
    return possible ? 0 : EFAULT;
}

// For readv, writev, and those with an offset.
template <class Pass>
ssize_t on_pieces(int fd, const iovec* pieces, int count, const CallTransfer& how,
                  const Pass& pass) noexcept {
    return on(
        fd, pass,
        [&](CapturedFile place) noexcept -> ssize_t {
            int error = refusal_of(place, how);
            error = error == 0 ? refusal_of(pieces, count) : error;
            return error != 0 ? fail(error)
                              : move(place, {pieces, static_cast<std::size_t>(count)}, how);
        },
        [&](CapturedFile place) noexcept {
            const bool counts = is_mounted(place) && refusal_of(pieces, count) == 0;
            return route_transfer(
                place, counts ? Pieces{pieces, static_cast<std::size_t>(count)} : Pieces{});
        });
}

// Flags that deposits cannot honour: the file leaves the pool, and libc's function is called.
template <class Pass>
ssize_t leave_for(int fd, int flags, const Pass& pass) noexcept {
    const pool::ThroughReason why = (flags & RWF_APPEND) != 0 ? pool::ThroughReason::append
                                    : (flags & (RWF_DSYNC | RWF_SYNC)) != 0
                                        ? pool::ThroughReason::direct
                                        : pool::ThroughReason::flags;
    const int error = leave_if_captured(fd, why);
    return error != 0 ? fail(error) : pass();
}

}  // namespace

namespace captured {

ssize_t read(int fd, void* to, size_t bytes) noexcept {
    return on_bytes(fd, {to, bytes}, {.direction = CallDirection::reads},
                    [&]() noexcept { return real::read(fd, to, bytes); });
}

ssize_t write(int fd, const void* from, size_t bytes) noexcept {
    return on_bytes(fd, {const_cast<void*>(from), bytes}, {.direction = CallDirection::writes},
                    [&]() noexcept { return real::write(fd, from, bytes); });
}

ssize_t pread(int fd, void* to, size_t bytes, off_t at) noexcept {
    return on_bytes(fd, {to, bytes}, {CallDirection::reads, true, at},
                    [&]() noexcept { return real::pread(fd, to, bytes, at); });
}

ssize_t pwrite(int fd, const void* from, size_t bytes, off_t at) noexcept {
    return on_bytes(fd, {const_cast<void*>(from), bytes}, {CallDirection::writes, true, at},
                    [&]() noexcept { return real::pwrite(fd, from, bytes, at); });
}

ssize_t readv(int fd, const iovec* pieces, int count) noexcept {
    return on_pieces(fd, pieces, count, {.direction = CallDirection::reads},
                     [&]() noexcept { return real::readv(fd, pieces, count); });
}

ssize_t writev(int fd, const iovec* pieces, int count) noexcept {
    return on_pieces(fd, pieces, count, {.direction = CallDirection::writes},
                     [&]() noexcept { return real::writev(fd, pieces, count); });
}

ssize_t preadv(int fd, const iovec* pieces, int count, off_t at) noexcept {
    return on_pieces(fd, pieces, count, {CallDirection::reads, true, at},
                     [&]() noexcept { return real::preadv(fd, pieces, count, at); });
}

ssize_t pwritev(int fd, const iovec* pieces, int count, off_t at) noexcept {
    return on_pieces(fd, pieces, count, {CallDirection::writes, true, at},
                     [&]() noexcept { return real::pwritev(fd, pieces, count, at); });
}

ssize_t preadv2(int fd, const iovec* pieces, int count, off_t at, int flags) noexcept {
    const auto pass = [&]() noexcept { return real::preadv2(fd, pieces, count, at, flags); };
    if ((flags & ~(RWF_HIPRI | RWF_NOWAIT)) != 0) {
        return leave_for(fd, flags, pass);
    }
    return on_pieces(fd, pieces, count, {CallDirection::reads, at != here, at}, pass);
}

ssize_t pwritev2(int fd, const iovec* pieces, int count, off_t at, int flags) noexcept {
    const auto pass = [&]() noexcept { return real::pwritev2(fd, pieces, count, at, flags); };
    if ((flags & ~(RWF_HIPRI | RWF_NOWAIT)) != 0) {
        return leave_for(fd, flags, pass);
    }
    return on_pieces(fd, pieces, count, {CallDirection::writes, at != here, at}, pass);
}

// With _FORTIFY_SOURCE, libc aborts a program that reads more than its buffer holds.
ssize_t read_chk(int fd, void* to, size_t bytes, size_t room) noexcept {
    return bytes > room ? real::read_chk(fd, to, bytes, room) : read(fd, to, bytes);
}

ssize_t pread_chk(int fd, void* to, size_t bytes, off_t at, size_t room) noexcept {
    return bytes > room ? real::pread_chk(fd, to, bytes, at, room) : pread(fd, to, bytes, at);
}

}  // namespace captured

ssize_t write_lent(int fd, const pool::LentBytes* part, off_t at, bool* taken) noexcept {
    *taken = false;
    const InsideCall inside;
    // A child that is forked meanwhile does not have the lent memory.
    return on(
        fd,
        [&]() noexcept {
            return inside.is_parents() ? fail(EIO) : real::pwrite(fd, part->begin, part->bytes, at);
        },
        [&](CapturedFile place) noexcept -> ssize_t {
            if (inside.is_parents()) {
                return fail(EIO);
            }
            const pool::LogReservation loan{.position = part->position,
                                            .place = part->place,
                                            .bytes = {part->begin, part->bytes}};
            return may_write(place) ? told(write_lent_at(place, loan, at, *taken)) : fail(EBADF);
        });
}

}  // namespace forebay::capture
