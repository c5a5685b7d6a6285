// Questions to the daemon are asked under the file's mutex, for which reads and deposits do not
// wait unless the file leaves the pool.
#include "pool/mount/files/pool_route.hpp"

#include "foundation/base/atomics.hpp"
#include "foundation/base/times.hpp"
#include "pool/client/known_file.hpp"
#include "pool/mount/serving/unanswered_requests.hpp"
#include "pool/mount/tier/tiered_files.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <limits>
#include <shared_mutex>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/xattr.h>
#include <thread>
#include <unistd.h>

namespace forebay::mount {

namespace {

// Offsets in bytes up to which the file systems of pooled files go; beyond, the file is written
// below, and the file system decides (EFBIG).
constexpr std::int64_t sure_max = pool::deposit_end_max;
// A daemon closes a file that nobody needs within that time, mostly at once.
constexpr std::int64_t unlinked_max_ns = 2'000'000'000;
constexpr std::int64_t room_wait_ns = 200'000'000;
constexpr auto room_pause = std::chrono::milliseconds{2};

class FileBelow final : public pool::BackingFile {
public:
    explicit FileBelow(int fd) noexcept : fd_{fd} {}
    [[nodiscard]] std::int64_t read(std::int64_t offset,
                                    std::span<std::byte> bytes) noexcept override {
        const ssize_t got = ::pread(fd_, bytes.data(), bytes.size(), offset);
        return got < 0 ? -errno : got;
    }

private:
    int fd_;
};

bool writes(int flags) noexcept { return (flags & O_ACCMODE) != O_RDONLY; }

// Clears set-id bits and file capabilities, as a write by the caller would: the daemon's later
// write has root's privileges, and keeps them.
void clear_privileges(int fd) noexcept {
    struct stat status{};
    if (::fstat(fd, &status) != 0) {
        return;
    }
    const bool group = (status.st_mode & S_ISGID) != 0 && (status.st_mode & S_IXGRP) != 0;
    const mode_t gone = (status.st_mode & S_ISUID) | (group ? S_ISGID : 0U);
    if (gone != 0) {
        static_cast<void>(::fchmod(fd, status.st_mode & 07777 & ~gone) == 0);
    }
    static_cast<void>(::fremovexattr(fd, "security.capability") == 0);
}

}  // namespace

const pool::FileSlot* PoolRoute::slot_of(const FileUse& use) const noexcept {
    if (link_ == nullptr || !use.known()) {
        return nullptr;
    }
    const pool::FileId file = use.file();
    const pool::FileSlot& slot = link_->directory().files[file.slot];
    const bool same = slot.generation.load(std::memory_order_acquire) == file.generation &&
                      slot.state.load(std::memory_order_acquire) != pool::FileState::free;
    return same ? &slot : nullptr;
}

void PoolRoute::found(FileUse& use, int fd, struct stat& status) {
    if (link_ == nullptr || !S_ISREG(status.st_mode)) {
        return;
    }
    if (const auto file = pool::known_file(link_->directory(), status.st_dev, status.st_ino)) {
        const std::scoped_lock lock{use.mutex};
        use.set_file(*file);
    } else {
        // The file may have been drained and forgotten since `status` was taken.
        static_cast<void>(stat_again(fd, status));
    }
}

int PoolRoute::ask(const FileUse& use, protocol::ClientQuestion question) {
    question.slot = use.file().slot;
    question.generation = use.file().generation;
    const auto reply = link_->ask(question);
    if (reply) {
        return reply->error;
    }
    return link_->life() == PoolLink::Life::ended ? 0 : EIO;
}

// Makes the file known to the daemon. Precondition: the caller holds the file's mutex. Returns 0 or
// an errno.
int PoolRoute::introduce(FileUse& use, int fd, int flags, ino_t inode) {
    protocol::ClientQuestion question;
    question.ask = protocol::QuestionKind::open;
    question.flags = writes(flags) ? protocol::for_writing : 0;
    question.inode = inode;
    std::array<char, 64> name{};
    static_cast<void>(std::snprintf(name.data(), name.size(), "/proc/self/fd/%d", fd));
    const ssize_t bytes = ::readlink(name.data(), question.path.data(), question.path.size() - 1);
    question.path[static_cast<std::size_t>(std::max<ssize_t>(bytes, 0))] = '\0';
    const auto reply = link_->ask(question, fd);
    if (!reply) {
        return link_->life() == PoolLink::Life::ended ? ENOENT : EIO;
    }
    if (reply->error != 0) {
        return reply->error;
    }
    use.set_file({.slot = reply->slot, .generation = reply->generation});
    ++use.introductions;
    if (writes(flags)) {
        use.writes_known.store(true, relaxed);
    }
    if (!use.pooled.load(relaxed) && !use.aside) {
        // Counts all that was committed before, whether the daemon has taken it or not.
        const PoolLink::Reading reading{*link_};
        const std::int64_t deposited = link_->reader().deposited_size(use.file());
        struct stat status{};
        if (deposited < 0 || ::fstat(fd, &status) != 0) {
            return EIO;
        }
        use.size.store(std::max<std::int64_t>(deposited, status.st_size), relaxed);
        use.pooled.store(true, std::memory_order_release);
    }
    return 0;
}

int PoolRoute::opened(FileUse& use, const OpenHandle& handle, ino_t inode) {
    const std::scoped_lock lock{use.mutex};
    ++use.handles;
    if (slot_of(use) == nullptr || use.aside || link_->life() == PoolLink::Life::ended) {
        return 0;
    }
    const int error = link_->life() == PoolLink::Life::dead
                          ? EIO
                          : introduce(use, handle.fd.get(), handle.flags, inode);
    if (error == ENOENT || (error != 0 && slot_of(use) == nullptr)) {
        return 0;  // drained and forgotten meanwhile
    }
    use.handles -= error != 0 ? 1 : 0;
    return error;
}

void PoolRoute::closed(FileUse& use, OpenHandle& handle) {
    const std::scoped_lock lock{use.mutex};
    end_capture(use, handle);
    let_go(use, handle.fd.get());
}

void PoolRoute::forgotten(FileUse& use) {
    const std::scoped_lock lock{use.mutex};
    end_introductions(use);
}

void PoolRoute::end_introductions(FileUse& use) {
    for (; use.introductions > 0; --use.introductions) {
        protocol::ClientQuestion question;
        question.ask = protocol::QuestionKind::close;
        static_cast<void>(ask(use, question));
    }
}

// A file without a name is opened again by /proc/self/fd, if somebody has a descriptor with O_PATH:
// the daemon, which drops deposits that nobody can read, is told of the end when the kernel forgets
// the file.
void PoolRoute::let_go(FileUse& use, int fd) {
    if (--use.handles > 0) {
        return;
    }
    struct stat status{};
    if (use.introductions > 0 && (::fstat(fd, &status) != 0 || status.st_nlink > 0)) {
        end_introductions(use);
    }
    use.pooled.store(false, std::memory_order_release);
    use.writes_known.store(false, relaxed);
    use.unprivileged.store(false, relaxed);
    use.aside = false;
    use.small_syncs = 0;
    use.written_at_sync = 0;
    use.written.store(0, relaxed);
    use.guess = {};
    use.locks.clear();
}

bool PoolRoute::may_pool(const FileUse& use, const OpenHandle& handle) const noexcept {
    return link_ != nullptr && !use.aside && writes(handle.flags) &&
           (handle.flags & O_DSYNC) == 0 && link_->life() == PoolLink::Life::lives;
}

void PoolRoute::note_unlinked() noexcept {
    unlinked_ns_.store(time_ns_of(CLOCK_MONOTONIC), relaxed);
}

// Whether the daemon may still have a file open that a program has closed and unlinked, so that it
// takes room: for a moment after that.
bool PoolRoute::may_have_unlinked_file(std::int64_t since_ns) const noexcept {
    const std::int64_t now = time_ns_of(CLOCK_MONOTONIC);
    return link_ != nullptr && link_->life() == PoolLink::Life::lives &&
           now - unlinked_ns_.load(relaxed) < unlinked_max_ns && now - since_ns < room_wait_ns;
}

// Calls `attempt`, which returns -1 and errno, once more if it finds the file system full and room
// may have come meanwhile.
template <class Attempt>
ssize_t PoolRoute::with_room(const Attempt& attempt) const {
    const std::int64_t since = time_ns_of(CLOCK_MONOTONIC);
    ssize_t moved = attempt();
    while (moved < 0 && UnansweredRequests::is_full(errno)) {
        const int error = errno;
        const bool comes = room_comes_ && room_comes_();
        const bool is_last = !may_have_unlinked_file(since);
        errno = error;
        moved = comes ? attempt() : -1;
        if (moved >= 0 || is_last) {
            break;
        }
        const int kept = errno;
        std::this_thread::sleep_for(room_pause);
        errno = kept;
    }
    return moved;
}

std::int64_t PoolRoute::write_below(FileUse& use, OpenHandle& handle, const WriteOrder& all) {
    WriteOrder order = all;
    if (handle.tiered) {
        if (!use.unprivileged.exchange(true, relaxed)) {
            clear_privileges(handle.fd.get());  // a write to the replica does not
        }
        const tier::FastResult fast =
            tier_->write(*handle.tiered, {.offset = order.offset,
                                          .appends = order.appends,
                                          .synced = (handle.flags & O_DSYNC) != 0,
                                          .bytes = order.bytes});
        if (!fast.to_file) {
            return fast.error != 0 ? -fast.error : fast.bytes;
        }
        order.offset += fast.bytes;
        order.bytes = order.bytes.subspan(static_cast<std::size_t>(fast.bytes));
    }
    const auto before = static_cast<std::int64_t>(all.bytes.size() - order.bytes.size());
    iovec piece{const_cast<std::byte*>(order.bytes.data()), order.bytes.size()};
    const int flags = order.appends ? RWF_APPEND : 0;
    const ssize_t moved =
        with_room([&] { return ::pwritev2(handle.fd.get(), &piece, 1, order.offset, flags); });
    if (moved < 0) {
        return before > 0 ? before : -errno;
    }
    use.written.fetch_add(moved, relaxed);
    return before + moved;
}

std::int64_t PoolRoute::deposit(FileUse& use, OpenHandle& handle, const WriteOrder& order) {
    WriteOrder rest = order;
    if (order.appends) {
        rest.offset = append_size(use, handle.fd.get());
        if (rest.offset < 0) {
            return rest.offset;
        }
    }
    if (rest.offset > sure_max - static_cast<std::int64_t>(rest.bytes.size())) {
        const int error = step_aside(use, pool::ThroughReason::asked);
        return error != 0 ? -error : write_below(use, handle, rest);
    }
    const pool::FileId file = use.file();
    if (!use.unprivileged.exchange(true, relaxed)) {
        clear_privileges(handle.fd.get());
    }
    pool::WriteResult written = link_->log_writer().write(file, rest.offset, rest.bytes);
    auto taken = static_cast<std::int64_t>(written.taken);
    use.written.fetch_add(taken, relaxed);
    if (taken > 0) {
        handle.deposited.store(true, relaxed);
    }
    if (written.rest == pool::WriteResult::Rest::through) {
        written = link_->log_writer().settle(file);
    }
    if (written.rest == pool::WriteResult::Rest::lost && link_->life() == PoolLink::Life::ended) {
        written.rest = pool::WriteResult::Rest::through;
    }
    std::int64_t error = 0;
    if (written.rest == pool::WriteResult::Rest::through) {
        // All is below and stays there: the pool would not learn of changes of the size there. So
        // the file must not come back into the pool, for captured programs either.
        const std::scoped_lock lock{use.mutex};
        if (const int refused = leave(use, pool::ThroughReason::asked); refused != 0) {
            return taken > 0 ? taken : -refused;
        }
        const auto done = static_cast<std::size_t>(taken);
        const std::int64_t below = write_below(
            use, handle, {.offset = rest.offset + taken, .bytes = rest.bytes.subspan(done)});
        taken += std::max<std::int64_t>(below, 0);
        error = std::min<std::int64_t>(below, 0);
    } else if (written.rest == pool::WriteResult::Rest::lost) {
        return -EIO;  // also of what the dead daemon had taken: a short count would acknowledge it
    } else if (written.rest == pool::WriteResult::Rest::failed) {
        error = -written.error;
    }
    if (taken > 0) {
        use.size.store(std::max(use.size.load(relaxed), rest.offset + taken), relaxed);
    }
    return taken > 0 ? taken : error;
}

// Precondition: no captured program writes to the file.
std::int64_t PoolRoute::append_size(FileUse& use, int fd) {
    if (!use.size_known.exchange(true, relaxed)) {
        const PoolLink::Reading reading{*link_};
        const std::int64_t deposited = link_->reader().deposited_size(use.file());
        struct stat status{};
        if (deposited < 0 || ::fstat(fd, &status) != 0) {
            use.size_known.store(false, relaxed);
            return -EIO;
        }
        use.size.store(std::max<std::int64_t>(deposited, status.st_size), relaxed);
    }
    return use.size.load(relaxed);
}

// An append goes where the file ends, which deposits of captured programs change at any time.
std::int64_t PoolRoute::write(FileUse& use, OpenHandle& handle, const WriteOrder& order) {
    if ((handle.flags & O_DSYNC) != 0) {  // its bytes have to be on the storage
        if (const int error = step_aside(use, pool::ThroughReason::direct); error != 0) {
            return -error;
        }
    }
    if (!order.appends) {
        return write_in_order(use, handle, order);
    }
    const CaptureBan ban{use};
    const int error = make_way(use, pool::ThroughReason::append);
    return error != 0 ? -error : write_in_order(use, handle, order);
}

bool PoolRoute::begins_to_pool(FileUse& use, OpenHandle& handle, const WriteOrder& order) {
    const auto bytes = static_cast<std::int64_t>(order.bytes.size());
    if (use.written.load(relaxed) + bytes <= small_bytes || link_ == nullptr) {
        return use.pooled.load(relaxed);
    }
    const std::scoped_lock lock{use.mutex};
    struct stat status{};
    if (!use.pooled.load(relaxed) && may_pool(use, handle) &&
        ::fstat(handle.fd.get(), &status) == 0) {
        // A file that the daemon refuses is written below, and not asked about again.
        use.aside = introduce(use, handle.fd.get(), handle.flags, status.st_ino) != 0;
    }
    return use.pooled.load(relaxed);
}

std::int64_t PoolRoute::write_in_order(FileUse& use, OpenHandle& handle, const WriteOrder& order) {
    if (!use.pooled.load(std::memory_order_acquire)) {
        const std::shared_lock gate{use.below_gate};
        if (!begins_to_pool(use, handle, order)) {
            return write_below(use, handle, order);
        }
    }
    if (!use.writes_known.load(relaxed)) {
        const std::scoped_lock lock{use.mutex};
        // So far the daemon knows the file only by a read-only descriptor.
        struct stat status{};
        const int error = ::fstat(handle.fd.get(), &status) != 0
                              ? errno
                              : introduce(use, handle.fd.get(), handle.flags, status.st_ino);
        if (error != 0) {
            return -error;
        }
    }
    return use.pooled.load(relaxed) ? deposit(use, handle, order) : write_below(use, handle, order);
}

std::int64_t PoolRoute::read(FileUse& use, const OpenHandle& handle, std::int64_t offset,
                             std::span<std::byte> bytes) {
    if (!use.pooled.load(std::memory_order_acquire)) {
        const ssize_t got = with_backing(
            tier_, handle, [&](int fd) { return ::pread(fd, bytes.data(), bytes.size(), offset); });
        return got < 0 ? -errno : got;
    }
    FileBelow below{handle.backing()};
    const pool::FileId file = use.file();
    const pool::FileSlot& slot = link_->directory().files[file.slot];
    switch (link_->life()) {
        case PoolLink::Life::ended: return below.read(offset, bytes);
        case PoolLink::Life::dead: return -EIO;
        case PoolLink::Life::lives: break;
    }
    if (slot.state.load(std::memory_order_acquire) == pool::FileState::through) {
        return below.read(offset, bytes);
    }
    std::unique_lock lock{use.mutex, std::try_to_lock};
    const PoolLink::Reading reading{*link_};
    return link_->reader().read(file, below, lock.owns_lock() ? &use.guess : nullptr, offset,
                                bytes);
}

int PoolRoute::truncate(FileUse& use, int fd, std::int64_t bytes) {
    const std::scoped_lock lock{use.mutex};
    const bool known = slot_of(use) != nullptr;
    if (known && link_->life() == PoolLink::Life::dead) {
        return EIO;
    }
    if (!known || use.aside || link_->life() == PoolLink::Life::ended) {
        return ::ftruncate(fd, bytes) == 0 ? 0 : errno;
    }
    struct stat status{};
    if (::fstat(fd, &status) != 0) {
        return errno;
    }
    const bool was_pooled = use.pooled.load(relaxed);
    int error = use.writes_known.load(relaxed) ? 0 : introduce(use, fd, O_WRONLY, status.st_ino);
    if (error != 0) {
        return error;
    }
    protocol::ClientQuestion question;
    question.ask = protocol::QuestionKind::truncate;
    question.number = bytes;
    error = ask(use, question);
    if (error == ESTALE) {  // written through
        error = ::ftruncate(fd, bytes) == 0 ? 0 : errno;
    }
    if (error == 0) {
        use.size.store(bytes, relaxed);
    }
    if (!was_pooled && use.handles == 0) {
        ++use.handles;
        let_go(use, fd);
    }
    return error;
}

int PoolRoute::drain(FileUse& use, std::uint32_t flags) {
    const std::scoped_lock lock{use.mutex};
    if (slot_of(use) == nullptr) {
        return 0;
    }
    protocol::ClientQuestion question;
    question.ask = protocol::QuestionKind::sync;
    question.flags = flags;
    const int error = ask(use, question);
    return error == ENOENT ? 0 : error;
}

int PoolRoute::drain(FileUse& use) { return drain(use, 0); }

int PoolRoute::before_change(FileUse& use) {
    use.unprivileged.store(false, relaxed);
    return drain(use, protocol::before_change);
}

std::int64_t PoolRoute::written_by_all(const FileUse& use) const noexcept {
    const pool::FileSlot* const slot =
        use.captured_writers.load(relaxed) == 0 ? nullptr : slot_of(use);
    return use.written.load(relaxed) + (slot == nullptr ? 0 : slot->taken.load(relaxed));
}

int PoolRoute::sync(FileUse& use, int fd, bool data_only) {
    bool often = false;
    {
        const std::scoped_lock lock{use.mutex};
        const std::int64_t written = written_by_all(use);
        use.small_syncs = written - use.written_at_sync < small_bytes ? use.small_syncs + 1 : 0;
        use.written_at_sync = written;
        often = use.small_syncs >= small_syncs_max;
        if (slot_of(use) != nullptr) {
            protocol::ClientQuestion question;
            question.ask = protocol::QuestionKind::sync;
            question.flags = protocol::to_storage;
            const int error = ask(use, question);
            if (error != 0 && error != ENOENT) {
                return error;
            }
        }
    }
    if (often) {
        if (const int error = step_aside(use, pool::ThroughReason::asked); error != 0) {
            return error;
        }
    }
    const int done = data_only ? ::fdatasync(fd) : ::fsync(fd);
    return done == 0 ? 0 : errno;
}

int PoolRoute::step_aside(FileUse& use, pool::ThroughReason reason) {
    const std::scoped_lock lock{use.mutex};
    use.aside = true;
    if (!use.pooled.load(relaxed) || slot_of(use) == nullptr) {
        return 0;
    }
    return link_->life() == PoolLink::Life::dead ? EIO : leave(use, reason);
}

// Precondition: the caller holds the file's mutex.
int PoolRoute::leave(FileUse& use, pool::ThroughReason reason) {
    use.aside = true;
    protocol::ClientQuestion question;
    question.ask = protocol::QuestionKind::leave;
    question.number = static_cast<std::int64_t>(reason);
    const int error = ask(use, question);
    if (error == 0) {
        use.pooled.store(false, std::memory_order_release);
    }
    return error;
}

bool PoolRoute::is_aside(FileUse& use) {
    const std::scoped_lock lock{use.mutex};
    return use.aside;
}

int PoolRoute::limit_window(FileUse& use, std::uint64_t bytes) {
    constexpr std::uint64_t most = std::numeric_limits<std::int64_t>::max();
    const std::scoped_lock lock{use.mutex};
    if (!use.pooled.load(relaxed) || !use.writes_known.load(relaxed)) {
        return 0;  // there is no window to be limited
    }
    protocol::ClientQuestion question;
    question.ask = protocol::QuestionKind::adjust;
    question.number = static_cast<std::int64_t>(std::min(bytes, most));
    return ask(use, question);
}

int PoolRoute::arrives(FileUse& use) {
    const std::scoped_lock lock{use.mutex};
    const pool::FileSlot* const slot = slot_of(use);
    if (slot == nullptr || !use.pooled.load(relaxed)) {
        return 0;
    }
    if (link_->life() == PoolLink::Life::dead) {
        return EIO;
    }
    if (slot->room.load(relaxed) == pool::RoomLeft::ample) {
        return slot->error.load(relaxed);
    }
    protocol::ClientQuestion question;
    question.ask = protocol::QuestionKind::sync;
    question.flags = protocol::for_room;
    const int error = ask(use, question);
    return error == ENOENT ? 0 : error;
}

}  // namespace forebay::mount
