// Changes that programs make to the bytes of a file that has a replica, and the way on when fast
// storage fails.
#include "tier/live/live_tier.hpp"

#include "foundation/base/error_number.hpp"
#include "foundation/base/report.hpp"
#include "storage/transfer/gate.hpp"
#include "tier/live/fast_errors.hpp"
#include "tier/posix/tiered_file.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>
#include <utility>

namespace forebay::tier {

namespace {

// A file that is written is listed anew after so many more bytes.
constexpr std::int64_t listed_every = std::int64_t{1} << 20;

// Bytes that were written, or minus an errno.
std::int64_t write_some(int fd, const FastWrite& order) {
    iovec piece{const_cast<std::byte*>(order.bytes.data()), order.bytes.size()};
    const int flags = (order.appends ? RWF_APPEND : 0) | (order.synced ? RWF_DSYNC : 0);
    while (true) {
        const ssize_t moved = ::pwritev2(fd, &piece, 1, order.offset, flags);
        if (moved >= 0 || errno != EINTR) {
            return moved < 0 ? -errno : moved;
        }
    }
}

}  // namespace

// The replica says that it is dirty, durably, before its bytes change. One that lacks what the file
// has got meanwhile, be it a time only, is dropped: what follows is done with the file.
int LiveTier::begin_change(LiveFile& file) {
    const bool was_newer = is_newer(file);
    look_again(file);
    if (!file.open) {
        return 0;
    }
    OpenedReplica& open = *file.open;
    const auto begun = begin_writing(parts(), file.name, *open.record, *open.replica, *open.file,
                                     calendar_.now_ns());
    file.written_ns = clock_.now_ns();
    if (!was_newer) {
        file.dirtied_ns = file.written_ns;
    }
    return begun ? 0 : errno_of(begun.error());
}

void LiveTier::announce_waiting() const {
    if (before_waiting_) {
        before_waiting_();
    }
}

LiveTier::FileLock LiveTier::lock_for_write(LiveFile& file) const {
    FileLock lock{file.mutex, std::try_to_lock};
    if (!lock.owns_lock()) {
        announce_waiting();
        lock.lock();
    }
    if (!file.open || !is_newer(file) || file.moving) {
        announce_waiting();  // the record is synced, or the file itself is written
    }
    return lock;
}

int LiveTier::promise_length(LiveFile& file, FileLock& lock, std::int64_t bytes) {
    if (bytes > file.listed_bytes && !fits_in_own_room(file, bytes - file.listed_bytes)) {
        return give_up(file, lock);
    }
    if (bytes <= file.listed_bytes || has_room_below(bytes - file.listed_bytes)) {
        return 0;
    }
    lock.unlock();  // others may wait for this file in turn
    move_others(file);
    lock.lock();
    return give_up(file, lock);
}

FastResult LiveTier::write(LiveFile& file, const FastWrite& order) {
    FileLock lock = lock_for_write(file);
    FastResult done;
    if (!file.open) {
        return {.to_file = true};
    }
    int error = begin_change(file);
    if (error == 0 && file.open) {
        error = promise_length(file, lock, order.offset + std::ssize(order.bytes));
    }
    done.to_file = !file.open;
    bool made_room = false;
    while (error == 0 && !done.to_file && done.bytes < std::ssize(order.bytes)) {
        FastWrite rest = order;
        rest.offset += done.bytes;
        rest.bytes = order.bytes.subspan(static_cast<std::size_t>(done.bytes));
        const std::int64_t moved = write_some(file.open->descriptor, rest);
        if (moved > 0) {
            done.bytes += moved;
            taken_bytes_.fetch_add(moved, std::memory_order_relaxed);
        } else if (is_lack_of_room(static_cast<int>(-moved)) && !made_room) {
            made_room = true;
            announce_waiting();
            error = give_room(file) ? 0 : static_cast<int>(-moved);
        } else {
            error = moved < 0 ? static_cast<int>(-moved) : EIO;
        }
    }
    if (file.open && order.offset + done.bytes >= file.listed_bytes + listed_every) {
        list_length(file);  // so that it is known how much waits
    }
    if (is_of_fast_place(error)) {
        const int failed = give_up(file, lock);
        done.to_file = failed == 0;
        error = failed == 0 ? 0 : failed;
    }
    done.error = done.bytes == 0 ? error : 0;
    return done;
}

FastResult LiveTier::result_of(LiveFile& file, FileLock& lock, int error) {
    if (!is_of_fast_place(error)) {
        return {.error = error, .to_file = error == 0 && !file.open};
    }
    const int failed = give_up(file, lock);
    return {.error = failed, .to_file = failed == 0};
}

FastResult LiveTier::prepare_change(LiveFile& file) {
    FileLock lock{file.mutex};
    if (!file.open) {
        return {.to_file = true};
    }
    return result_of(file, lock, begin_change(file));
}

FastResult LiveTier::truncate(LiveFile& file, std::int64_t bytes) {
    FileLock lock{file.mutex};
    if (!file.open) {
        return {.to_file = true};
    }
    int error = begin_change(file);
    if (error == 0 && file.open) {
        error = ::ftruncate(file.open->descriptor, bytes) == 0 ? 0 : errno;
        list_length(file);
    }
    return result_of(file, lock, error);
}

FastResult LiveTier::allocate(LiveFile& file, int mode, std::int64_t offset, std::int64_t bytes) {
    FileLock lock{file.mutex};
    if (!file.open) {
        return {.to_file = true};
    }
    int error = begin_change(file);
    if (error == 0 && file.open) {
        error = promise_length(file, lock, offset + bytes);
    }
    if (error == 0 && file.open) {
        error = ::fallocate(file.open->descriptor, mode, offset, bytes) == 0 ? 0 : errno;
        list_length(file);
    }
    return result_of(file, lock, error);
}

FastResult LiveTier::sync(LiveFile& file, bool data_only) {
    // Not under the file's lock: a sync takes long, and the descriptor stays open.
    const int fd = [&file] {
        const FileLock lock{file.mutex};
        return is_newer(file) ? file.descriptor() : -1;
    }();
    if (fd < 0) {
        return {.to_file = true};
    }
    const int done = data_only ? ::fdatasync(fd) : ::fsync(fd);
    return {.error = done == 0 ? 0 : error_for_program(errno)};
}

int LiveTier::after_failed_call(LiveFile& file, int fd, int error) {
    if (!is_of_fast_place(error)) {
        return error;
    }
    FileLock lock{file.mutex};
    file.moved.wait(lock, [&file] { return !file.moving || is_newer(file); });
    if (file.descriptor() != fd) {
        return 0;  // moved and evicted meanwhile
    }
    if (is_newer(file)) {
        note_unreadable(file, error);
        return EIO;
    }
    forebay::report("forebay-mount",
                    system_error(error, "read the replica of " + file.path).message +
                        " The file itself is read from now on.");
    evict_file(file);
    return 0;
}

void LiveTier::note_unreadable(LiveFile& file, int error) {
    if (!std::exchange(file.unreadable, true)) {
        forebay::report("forebay-mount",
                        system_error(error, "read the replica of " + file.path).message +
                            " Its newest bytes are nowhere else: bring the fast place back, or "
                            "write the file anew.");
    }
}

bool LiveTier::set_modified(int fd, const timespec& modified) {
    const std::shared_ptr<LiveFile> file = find(fd);
    if (!file) {
        return false;
    }
    FileLock lock{file->mutex};
    file->moved.wait(lock, [&file] { return !file->moving; });
    const bool was_open = file->open != nullptr;
    const auto listed = list_.find(file->name);
    if (!was_open &&
        (!listed || !*listed || (*listed)->state == ReplicaState::clean || !attach(*file))) {
        return false;
    }
    bool done = false;
    if (is_newer(*file)) {
        const std::array<timespec, 2> times{timespec{0, UTIME_OMIT}, modified};
        done = ::futimens(file->open->descriptor, times.data()) == 0;
    }
    if (!was_open) {
        note_closed(*file);
        file->descriptor_now.store(-1, std::memory_order_release);
        file->open.reset();
    }
    return done;
}

int LiveTier::before_mode(int fd, mode_t mode) {
    const bool stays_writable = (mode & S_IWUSR) != 0;
    const bool is_privileged = (mode & (S_ISUID | S_ISGID)) != 0;
    return stays_writable && !is_privileged ? 0 : before_privileges(fd);
}

int LiveTier::before_privileges(int fd) {
    const std::shared_ptr<LiveFile> file = find(fd);
    return file ? bring_home(*file) : 0;
}

int LiveTier::bring_home(LiveFile& file) {
    const int error = move_file(file);
    FileLock lock{file.mutex};
    return error == 0 && file.open && writers_of(file) > 0 ? move_and_evict(file, lock) : error;
}

int LiveTier::give_up(LiveFile& file, FileLock& lock) {
    const bool has_replica = file.open != nullptr;
    const int error = move_and_evict(file, lock);
    if (error == 0 && has_replica) {
        const std::lock_guard tier_lock{mutex_};
        ++counts_.given_up;
    }
    return error_for_program(error);
}

int LiveTier::move_and_evict(LiveFile& file, FileLock& lock) {
    announce_waiting();
    file.moved.wait(lock, [&file] { return !file.moving; });
    if (!file.open) {
        return 0;
    }
    constexpr int tries_max = 3;
    int error = 0;
    for (int tries = 0; is_newer(file) && error == 0; ++tries) {
        OpenedReplica& open = *file.open;
        CopyMemory memory{copy_request_bytes / 4};
        const auto end = run_move(file.must_be_rescued,
                                  {file.name, *open.replica, *open.file, *open.record}, memory);
        error = tries == tries_max ? EIO : settle(file, end);
    }
    if (error != 0) {
        return error;
    }
    if (file.open) {
        evict_file(file);
    }
    return 0;
}

// A file that somebody else has changed is not looked at again: after some time the change would be
// taken for one of this move's own.
Result<MoveEnd> LiveTier::run_move(bool must_be_rescued, const MoveTask::Files& files,
                                   CopyMemory& memory) {
    if (must_be_rescued) {
        return MoveEnd::changed_outside;
    }
    transfer::FixedGate gate{files.file.stripes().targets, 2};
    return MoveTask{parts(), files, gate, clock_, memory}.run();
}

int LiveTier::settle(LiveFile& file, const Result<MoveEnd>& end) {
    if (!end) {
        return note_failure(file, end.error());
    }
    // Bytes that went to a file that somebody else has removed, or replaced, are nowhere else.
    if (*end == MoveEnd::changed_outside || (*end == MoveEnd::moved && is_removed_outside(file))) {
        const auto kept = rescue_file(file);
        return kept ? EIO : note_failure(file, kept.error());
    }
    file.failures = 0;
    file.failure.clear();
    file.retry_ns = 0;
    list_.mark_changed(file.name);
    if (*end == MoveEnd::replaced) {
        evict_file(file);
    } else if (*end == MoveEnd::overtaken) {
        // It lacks only what was written since, and waits no longer than others.
        file.written_ns = file.dirtied_ns = clock_.now_ns();
    } else {
        const auto bytes = status_of(file);
        const std::lock_guard lock{mutex_};
        ++counts_.moved;
        counts_.moved_bytes += bytes ? bytes->bytes : 0;
        below_.note_moved(bytes ? bytes->bytes : 0);
    }
    return 0;
}

bool LiveTier::is_removed_outside(const LiveFile& file) {
    struct stat found{};
    if (file.removed || !file.open ||
        ::fstat(static_cast<PosixTieredFile&>(*file.open->file).fd(), &found) != 0 ||
        found.st_nlink > 0) {
        return false;
    }
    // A program that removes it by the mount has told nobody yet.
    const std::unique_lock names{names_, std::try_to_lock};
    return names.owns_lock();
}

int LiveTier::note_failure(LiveFile& file, const Error& why) {
    constexpr std::int64_t second = 1'000'000'000;
    constexpr std::uint32_t doublings_max = 6;
    if (file.failures++ == 0) {
        forebay::report("forebay-mount", why.message + " It is tried again.");
    }
    file.failure = why.message;
    file.retry_ns = clock_.now_ns() + (second << std::min(file.failures, doublings_max));
    list_.mark_changed(file.name);
    const std::lock_guard lock{mutex_};
    ++counts_.failed;
    return errno_of(why);
}

Result<void> LiveTier::rescue_file(LiveFile& file) {
    auto kept = rescue(parts(), {.name = file.name,
                                 .replica = *file.open->replica,
                                 .record = file.open->record->get(),
                                 .file = file.open->file.get(),
                                 .reason = RescueReason::changed_outside});
    file.must_be_rescued = !kept;
    if (!kept) {
        return failure(std::move(kept.error()));
    }
    forebay::report(
        "forebay-mount",
        fmt::format("{} was changed by somebody else: the bytes that were written to it are in "
                    "{}. Compare the two.",
                    file.path, *kept));
    ++file.rescues;
    detach(file);
    file.closed_status.reset();
    file.moved.notify_all();
    const std::lock_guard lock{mutex_};
    ++counts_.rescued;
    return {};
}

}  // namespace forebay::tier
