// Implements files.hpp by questions to the daemon and its directory. A function that returns an
// errno keeps `errno` itself as it was, or leaves that to its caller.
#include "pool/capture/files/files.hpp"

#include "foundation/base/atomics.hpp"
#include "foundation/kernel/calls.hpp"
#include "pool/capture/connection/user_message.hpp"
#include "pool/capture/descriptors/tables.hpp"
#include "pool/capture/files/introduction.hpp"
#include "pool/capture/files/known_files.hpp"
#include "pool/capture/files/lost_files.hpp"
#include "pool/capture/files/mounted.hpp"
#include "pool/capture/files/path_filter.hpp"
#include "pool/capture/processes/process.hpp"
#include "pool/client/known_file.hpp"

#include <algorithm>
#include <fcntl.h>
#include <sched.h>
#include <string_view>

namespace forebay::capture {

namespace {

protocol::ClientQuestion about(const FileDescription& file, protocol::QuestionKind ask) noexcept {
    protocol::ClientQuestion question;
    question.ask = ask;
    question.slot = file.file().slot;
    question.generation = file.file().generation;
    return question;
}

// For ask(): the daemon has drained everything before it ended, so nothing is left to do.
constexpr auto nothing_is_left = []() noexcept { return 0; };

// Asks the daemon. Returns 0 or an errno. If the daemon has ended in good order, `ended` does the
// same by a system call.
template <class Ended>
int ask(const protocol::ClientQuestion& question, const Ended& ended) noexcept {
    const auto reply = connection.ask(question);
    if (reply) {
        return reply->error;
    }
    if (connection.life() != DaemonConnection::Life::ended) {
        return EIO;
    }
    return ended() == 0 ? 0 : errno;
}

int ask(const protocol::ClientQuestion& question) noexcept {
    return ask(question, nothing_is_left);
}

// Null if the daemon has forgotten the file.
const pool::FileSlot* slot_of(const FileDescription& file) noexcept {
    const pool::FileId id = file.file();
    const pool::FileSlot& slot = connection.directory().files[id.slot];
    return slot.generation.load(std::memory_order_acquire) == id.generation ? &slot : nullptr;
}

// Whether a file that left the pool has been in it again, and may have deposits: it had left
// because a program asked for that, or while an uncaptured program ran.
bool came_back(CapturedFile place) noexcept {
    const pool::FileSlot* const slot = slot_of(place.file);
    return slot != nullptr &&
           slot->state.load(std::memory_order_acquire) != pool::FileState::through;
}

// Passes the file's calls on to libc from now on: the daemon has ended in good order.
void give_up(CapturedFile place) noexcept {
    put_offset_into_kernel(place);
    place.file.passes.store(true, std::memory_order_release);
}

// For an inherited file in a process without the daemon's memory: the file leaves the pool. False:
// the daemon does not answer, or cannot drain it.
bool stays_out(CapturedFile place) noexcept {
    PathBuffer buffer;
    if (place.file.connection.load(relaxed) != connection.generation() &&
        introduce(place, path_of(place.fd, buffer), pool::ThroughReason::unmapped) !=
            IntroductionResult::yes) {
        return false;
    }
    put_offset_into_kernel(place);
    place.file.passes.store(true, std::memory_order_release);
    return true;
}

// The file leaves the pool for a descriptor with O_DIRECT, which nobody has used before.
FileRoute begin_direct_use(CapturedFile place) noexcept {
    PathBuffer buffer;
    const bool left = connection.reach()
                          ? introduce(place, path_of(place.fd, buffer),
                                      pool::ThroughReason::direct) == IntroductionResult::yes
                          : connection.is_unmapped() && stays_out(place);
    if (left) {
        place.file.unused_direct.store(false, std::memory_order_release);
        return FileRoute::passed;
    }
    return error_of_opening(place.fd, false) == 0 ? FileRoute::passed : FileRoute::lost;
}

bool pending(const pool::FileSlot& slot) noexcept {
    return slot.taken.load(relaxed) > slot.drained.load(relaxed) ||
           slot.extents.load(relaxed) > 0 || slot.modified_ns.load(relaxed) != 0;
}

// Runs `act` if `fd` is captured. Returns 0 or an errno, and keeps `errno`.
template <class Act>
int if_captured(int fd, Act act) noexcept {
    if (!descriptors.captured(fd)) {
        return 0;
    }
    const int before = errno;
    const int error = in_one_process([&]() noexcept {
        const HeldDescription held{fd};
        if (!held) {
            return 0;
        }
        const CapturedFile place{*held, fd};
        const FileRoute here = route(place);
        refresh_size(place);
        return here == FileRoute::lost ? EIO : act(place, here);
    });
    errno = before;
    return error;
}

// A reference count was wrong, so it is unknown which descriptors mean the file: it is written
// through from now on. Its offset stays in the description, since the kernel's is not up to date.
void leave_miscounted(FileDescription& file) noexcept {
    const int before = errno;
    protocol::ClientQuestion question = about(file, protocol::QuestionKind::leave);
    question.number = static_cast<std::int64_t>(pool::ThroughReason::tables);
    const bool left = connection.reached() && ask(question) == 0;
    report_problem(left ? "a file is written through from now on" : "a file is not closed there",
                   "Forebay has lost count of its descriptors, which is a defect of Forebay",
                   "Please report it; FOREBAY_ENABLED=false runs the program without Forebay.");
    errno = before;
}

}  // namespace

int let_go(FileDescription& held) noexcept {
    const bool known = held.connection.load(relaxed) == connection.generation();
    const protocol::ClientQuestion question = about(held, protocol::QuestionKind::close);
    const DescriptorTable::Dropped dropped = DescriptorTable::drop(held);
    if (dropped == DescriptorTable::Dropped::miscounted) [[unlikely]] {
        leave_miscounted(held);
    }
    if (dropped != DescriptorTable::Dropped::free || !known || !connection.reached() ||
        connection.life() != DaemonConnection::Life::lives) {
        return 0;
    }
    const int before = errno;
    const int error = ask(question);
    errno = before;
    return error;
}

HeldDescription::HeldDescription(int fd) noexcept {
    for (;;) {
        const DescriptorTable::Try tried = descriptors.try_hold(fd);
        if (tried.held == nullptr || tried.right) {
            held_ = tried.held;
            return;
        }
        let_go(*tried.held);
    }
}

namespace {

// Whether the kernel makes the calls on a file that has left the pool although this process did not
// have it leave. So it is where other processes have the description: one may have set O_APPEND,
// by which a write moves the offset to the file's end.
bool is_left_to_kernel(CapturedFile place) noexcept {
    if (!place.file.shared.load(relaxed) || place.file.offset.load(relaxed) != in_kernel) {
        return false;
    }
    const pool::FileSlot* const slot = slot_of(place.file);
    return slot != nullptr && slot->error.load(relaxed) == 0 &&
           slot->state.load(std::memory_order_acquire) == pool::FileState::through;
}

}  // namespace

FileRoute route(CapturedFile place) noexcept {
    if (is_mounted(place)) {
        return FileRoute::passed;
    }
    const bool passes = place.file.passes.load(std::memory_order_acquire);
    if (passes && !capturing()) {
        return FileRoute::passed;  // the process is cut off from the daemon (cut_off.cpp)
    }
    if (passes && place.file.unused_direct.load(std::memory_order_acquire)) [[unlikely]] {
        return begin_direct_use(place);
    }
    const bool introduced =
        place.file.connection.load(std::memory_order_acquire) == connection.generation() &&
        connection.reached();
    if (passes && introduced) {
        if (place.file.beside.load(relaxed) || !came_back(place)) {
            return FileRoute::passed;
        }
        place.file.passes.store(false, std::memory_order_release);
    }
    if (introduced) {
        switch (connection.life()) {
            case DaemonConnection::Life::lives:
                if (is_left_to_kernel(place)) {
                    place.file.passes.store(true, std::memory_order_release);
                    return FileRoute::passed;
                }
                return FileRoute::pooled;
            case DaemonConnection::Life::dead:
                connection.report_daemon_death();
                return FileRoute::lost;
            case DaemonConnection::Life::ended: give_up(place); return FileRoute::passed;
        }
    }
    PathBuffer buffer;
    const pool::ThroughReason through =
        passes ? pool::ThroughReason::inherited : pool::ThroughReason::none;
    if (connection.reach() &&
        introduce(place, path_of(place.fd, buffer), through) == IntroductionResult::yes) {
        return passes ? FileRoute::passed : FileRoute::pooled;
    }
    if (connection.is_unmapped() && stays_out(place)) {
        return FileRoute::passed;
    }
    if (!passes && connection.life() == DaemonConnection::Life::ended) {
        give_up(place);
        return FileRoute::passed;
    }
    return passes ? FileRoute::passed : FileRoute::lost;
}

namespace {

// One thread at a time moves offsets into the kernel: a second one could set an offset that is
// outdated by what the file was read or written since.
class OffsetTurn {
public:
    OffsetTurn() noexcept : signals_{kernel::hold_signals()} {
        while (state.moving_offset.exchange(true, std::memory_order_acquire)) {
            ::sched_yield();  // the holder may have been preempted
        }
    }
    OffsetTurn(const OffsetTurn&) = delete;
    OffsetTurn& operator=(const OffsetTurn&) = delete;
    ~OffsetTurn() {
        state.moving_offset.store(false, std::memory_order_release);
        kernel::give_signals(signals_);
    }

private:
    kernel::Signals signals_;
};

}  // namespace

void put_offset_into_kernel(CapturedFile place) noexcept {
    place.file.shared.store(true, relaxed);
    if (place.file.offset.load(std::memory_order_acquire) == in_kernel) {
        return;
    }
    const OffsetTurn turn;
    std::int64_t at = place.file.offset.load(std::memory_order_acquire);
    while (at != in_kernel) {
        kernel::lseek(place.fd, at, SEEK_SET);
        if (place.file.offset.compare_exchange_strong(at, in_kernel, std::memory_order_acq_rel)) {
            return;
        }
    }
}

namespace {

// Whether the daemon has to learn `reason` although the file has left before: a lasting reason
// replaces one that can be undone.
bool needs_to_be_told(CapturedFile place, pool::ThroughReason reason) noexcept {
    if (!connection.reached() || place.file.connection.load(relaxed) != connection.generation() ||
        connection.life() != DaemonConnection::Life::lives) {
        return false;
    }
    const pool::FileSlot* const slot = slot_of(place.file);
    const pool::ThroughReason now =
        slot != nullptr ? slot->reason.load(relaxed) : pool::ThroughReason::none;
    return now != reason && pool::can_be_undone(now);
}

}  // namespace

int leave(CapturedFile place, pool::ThroughReason reason) noexcept {
    if (is_mounted(place)) {
        leave_mounted(place, reason);
        return 0;
    }
    if (place.file.unused_direct.load(std::memory_order_acquire)) {
        return begin_direct_use(place) == FileRoute::lost ? EIO : 0;
    }
    if (place.file.passes.load(std::memory_order_acquire) && !needs_to_be_told(place, reason)) {
        return 0;
    }
    put_offset_into_kernel(place);
    protocol::ClientQuestion question = about(place.file, protocol::QuestionKind::leave);
    question.number = static_cast<std::int64_t>(reason);
    const int error = ask(question);
    if (error == 0) {
        place.file.passes.store(true, std::memory_order_release);
    }
    return error;
}

int settle(pool::FileId file) noexcept {
    protocol::ClientQuestion question;
    question.ask = protocol::QuestionKind::settle;
    question.slot = file.slot;
    question.generation = file.generation;
    return ask(question);
}

int adjust(CapturedFile place, const RequestedAdjustment& wanted) noexcept {
    protocol::ClientQuestion question = about(place.file, protocol::QuestionKind::adjust);
    question.number = wanted.window;
    question.flags = wanted.back ? protocol::comes_back : 0;
    return ask(question);
}

int leave_if_captured(int fd, pool::ThroughReason reason) noexcept {
    return if_captured(
        fd, [&](CapturedFile place, FileRoute) noexcept { return leave(place, reason); });
}

int drain(CapturedFile place) noexcept {
    return on_counted(place.file.file(), [&](const pool::FileSlot& slot) noexcept {
        return pending(slot) ? ask(about(place.file, protocol::QuestionKind::sync)) : 0;
    });
}

int arrives(pool::FileId file) noexcept {
    const pool::FileSlot& slot = connection.directory().files[file.slot];
    if (slot.generation.load(relaxed) != file.generation) {
        return 0;
    }
    if (slot.room.load(relaxed) == pool::RoomLeft::ample) {
        return slot.error.load(relaxed);
    }
    protocol::ClientQuestion question;
    question.ask = protocol::QuestionKind::sync;
    question.flags = protocol::for_room;
    question.slot = file.slot;
    question.generation = file.generation;
    const int error = ask(question);
    return error == ENOENT ? 0 : error;  // it is drained, and nobody has it open
}

int drain_if_captured(int fd) noexcept {
    return if_captured(fd, [](CapturedFile place, FileRoute here) noexcept {
        return here == FileRoute::pooled ? drain(place) : 0;
    });
}

// The file system's ctime after the pool's own writes is replaced by `changed_ns` (FileSlot), but
// only until the program itself changes the inode. Comparing times cannot tell that, since file
// times advance in ticks: so the daemon settles it before the change.
int drain_to_change(CapturedFile place) noexcept {
    return on_counted(place.file.file(), [&](const pool::FileSlot& slot) noexcept {
        if (!pending(slot) && slot.stamped_ns.load(relaxed) == 0) {
            return 0;
        }
        protocol::ClientQuestion question = about(place.file, protocol::QuestionKind::sync);
        question.flags = protocol::before_change;
        return ask(question);
    });
}

int drain_to_change_if_captured(int fd) noexcept {
    return if_captured(fd, [](CapturedFile place, FileRoute here) noexcept {
        return here == FileRoute::pooled ? drain_to_change(place) : 0;
    });
}

namespace {

// The file is written through for good: nobody has deposits of it, and the daemon may have closed
// it.
bool is_through(const FileDescription& file) noexcept {
    const pool::FileSlot* const slot = slot_of(file);
    return slot != nullptr &&
           slot->state.load(std::memory_order_acquire) == pool::FileState::through &&
           !pool::can_be_undone(slot->reason.load(relaxed));
}

}  // namespace

int sync(CapturedFile place) noexcept {
    protocol::ClientQuestion question = about(place.file, protocol::QuestionKind::sync);
    question.flags = protocol::to_storage;
    const int error = ask(question, [place]() noexcept { return kernel::fsync(place.fd); });
    if (error != 0 || !is_through(place.file)) {
        return error;
    }
    return kernel::fsync(place.fd) == 0 ? 0 : errno;
}

int truncate(CapturedFile place, std::int64_t bytes) noexcept {
    const auto itself = [place, bytes]() noexcept { return kernel::ftruncate(place.fd, bytes); };
    int error = ESTALE;
    if (!is_through(place.file)) {
        protocol::ClientQuestion question = about(place.file, protocol::QuestionKind::truncate);
        question.number = bytes;
        error = ask(question, itself);
    }
    if (error != ESTALE) {
        return error;
    }
    return itself() == 0 ? 0 : errno;
}

int error_of(CapturedFile place) noexcept {
    if (!connection.reached() || place.file.connection.load(relaxed) != connection.generation()) {
        return 0;
    }
    const pool::FileSlot& slot = connection.directory().files[place.file.file().slot];
    return slot.generation.load(relaxed) == place.file.file().generation ? slot.error.load(relaxed)
                                                                         : 0;
}

std::int64_t size_of(CapturedFile place) noexcept {
    const DaemonConnection::Reading reading{connection};
    const std::int64_t deposited = connection.reader().deposited_size(place.file.file());
    struct stat found{};
    if (deposited < 0) {
        return deposited;
    }
    return kernel::fstat(place.fd, &found) == 0 ? std::max<std::int64_t>(deposited, found.st_size)
                                                : -errno;
}

std::optional<pool::FileId> known(dev_t device, ino_t inode) noexcept {
    return pool::known_file(connection.directory(), device, inode);
}

}  // namespace forebay::capture
