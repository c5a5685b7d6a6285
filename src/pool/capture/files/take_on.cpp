// Makes descriptors captured: finds out whether a file is one of the pool, and makes it known to
// the daemon.
#include "pool/capture/files/files.hpp"

#include "foundation/base/atomics.hpp"
#include "foundation/kernel/calls.hpp"
#include "pool/capture/descriptors/tables.hpp"
#include "pool/capture/files/introduction.hpp"
#include "pool/capture/files/lost_files.hpp"
#include "pool/capture/files/mounted.hpp"
#include "pool/capture/files/other_names.hpp"
#include "pool/capture/files/path_descriptors.hpp"
#include "pool/capture/files/path_filter.hpp"
#include "pool/capture/processes/process.hpp"

#include <fcntl.h>
#include <string_view>

namespace forebay::capture {

namespace {

bool may_write(int flags) noexcept { return (flags & O_ACCMODE) != O_RDONLY; }

pool::ThroughReason reason_of(int fd, const DescriptorOrigin& opening) noexcept {
    if (opening.through != pool::ThroughReason::none) {
        return opening.through;
    }
    if (is_standard(fd)) {
        return pool::ThroughReason::stream;
    }
    if (state.asynchronous.load(relaxed)) {
        return pool::ThroughReason::async;
    }
    if ((opening.flags & O_APPEND) != 0) {
        return pool::ThroughReason::append;
    }
    if ((opening.flags & (O_DIRECT | O_DSYNC)) != 0) {
        return pool::ThroughReason::direct;
    }
    // The access mode 3 is for ioctl alone; a file of O_TMPFILE is mostly gone before it would be
    // drained.
    if ((opening.flags & O_TMPFILE) == O_TMPFILE ||
        (opening.flags & O_ACCMODE) == (O_WRONLY | O_RDWR)) {
        return pool::ThroughReason::asked;
    }
    // Deposits do not enforce RLIMIT_FSIZE.
    const bool limited =
        may_write(opening.flags) && kernel::limit_of(RLIMIT_FSIZE) != RLIM_INFINITY;
    return limited ? pool::ThroughReason::asked : pool::ThroughReason::none;
}

bool regular_and_pooled(int fd, PathBuffer& buffer, std::string_view& path) noexcept {
    struct stat found{};
    if (kernel::fstat(fd, &found) != 0 || !S_ISREG(found.st_mode)) {
        return false;
    }
    if (is_pooled(fd, found.st_dev, buffer, path)) {
        return true;
    }
    if (!is_known_by_inode(found)) {
        return false;
    }
    path = path_of(fd, buffer);
    return true;
}

// Empties the file (O_TRUNC). Returns 0 or an errno. Ranks that opened it beside the pool do so
// directly, because nobody has deposits of it yet.
int make_empty(CapturedFile place) noexcept {
    if (!place.file.beside.load(relaxed)) {
        return truncate(place, 0);
    }
    return kernel::ftruncate(place.fd, 0) == 0 ? 0 : errno;
}

// Lets a description go, if there is one.
void drop(FileDescription* description) noexcept {
    if (description != nullptr) {
        let_go(*description);
    }
}

// Drops the description of a file that was closed by a call that is not captured.
void let_go_stale(int fd) noexcept {
    if (static_cast<unsigned>(fd) >= descriptors_max || !descriptors.captured(fd)) {
        return;
    }
    const InsideCall inside;
    drop(descriptors.take(fd));
}

// For a file that is not captured after all: applies O_TRUNC. The file may have been emptied
// before, but what was drained since would be in it again. A file that lacks deposits of a dead
// daemon cannot be opened, unless it is written anew.
CaptureResult not_taken(int fd, const DescriptorOrigin& opening) noexcept {
    constexpr int makes = O_CREAT | O_EXCL;
    const bool anew = opening.empties || (opening.flags & makes) == makes;
    if (const int error = error_of_opening(fd, anew); error != 0) {
        errno = error;
        return CaptureResult::failed;
    }
    const bool failed = opening.empties && kernel::ftruncate(fd, 0) != 0;
    return failed ? CaptureResult::failed : CaptureResult::no;
}

pool::ThroughReason untracked_reason() noexcept {
    return state.many_tables.load(relaxed) ? pool::ThroughReason::tables
                                           : pool::ThroughReason::asked;
}

// For a process without the daemon's memory (is_unmapped): it would neither see deposits of the
// file nor avoid overwriting them, so the daemon keeps the file out of the pool.
CaptureResult keep_out(int fd, const DescriptorOrigin& opening, std::string_view path) noexcept {
    FileDescription spare{};
    const CapturedFile place{spare, fd};
    place.file.flags.store(opening.flags, relaxed);
    switch (introduce(place, path, pool::ThroughReason::unmapped)) {
        case IntroductionResult::refused: errno = EREMOTEIO; return CaptureResult::failed;
        case IntroductionResult::undrained: errno = EIO; return CaptureResult::failed;
        case IntroductionResult::yes:
        case IntroductionResult::no: break;
    }
    return not_taken(fd, opening);
}

}  // namespace

bool tracks(int fd) noexcept {
    return fd < descriptors_max && !state.many_tables.load(std::memory_order_acquire);
}

namespace {

void put(int fd, FileDescription* made) noexcept {
    descriptors.put(fd, made);
    if (!tracks(fd)) {  // another thread has just stopped tracking all others
        static_cast<void>(stop_tracking(fd));
    }
}

// The daemon learns of a descriptor with O_DIRECT when it is used.
CaptureResult put_unused(int fd, const DescriptorOrigin& opening, FileDescription* made) noexcept {
    if (const CaptureResult taken = not_taken(fd, opening); taken == CaptureResult::failed) {
        drop(made);
        return taken;
    }
    made->offset.store(in_kernel, relaxed);
    made->passes.store(true, relaxed);
    made->unused_direct.store(true, std::memory_order_release);
    put(fd, made);
    return CaptureResult::yes;
}

// take_on() of a regular file that is in a folder of the pool, by `path`.
CaptureResult take_on_pooled(int fd, const DescriptorOrigin& opening,
                             std::string_view path) noexcept {
    in_one_process([]() noexcept { return connection.reach(); });  // it may take a minute
    const BlockedSignals until_stored;  // a child that is forked meanwhile would have half of it
    const InsideCall inside;
    if (!connection.reach() && !connection.retry_mapping()) {
        return connection.is_unmapped() ? keep_out(fd, opening, path) : not_taken(fd, opening);
    }
    const bool tracked = tracks(fd);
    FileDescription* const made = tracked ? descriptors.make() : nullptr;
    FileDescription spare{};  // used if no description is free; never closed
    const CapturedFile place{made != nullptr ? *made : spare, fd};
    place.file.flags.store(opening.flags, relaxed);
    const pool::ThroughReason through =
        made == nullptr ? untracked_reason() : reason_of(fd, opening);
    if (made != nullptr && through == pool::ThroughReason::direct && !opening.empties &&
        (opening.flags & O_DSYNC) == 0) {
        return put_unused(fd, opening, made);
    }
    const FileGrouping together = grouping();
    const bool beside =
        through == pool::ThroughReason::none && together.group != 0 && !together.part;
    place.file.beside.store(beside, relaxed);
    place.file.passes.store(beside || through != pool::ThroughReason::none, relaxed);
    if (beside || through != pool::ThroughReason::none || !opening.fresh) {
        place.file.offset.store(in_kernel, relaxed);
    }
    const IntroductionResult introduced = introduce(place, path, through);
    if (introduced != IntroductionResult::yes) {
        drop(made);
        errno = introduced == IntroductionResult::refused ? EREMOTEIO : errno;
        return introduced == IntroductionResult::refused ? CaptureResult::failed
                                                         : not_taken(fd, opening);
    }
    const int error = opening.empties ? make_empty(place) : 0;
    if (error != 0) {
        drop(made);
        errno = error;
        return CaptureResult::failed;
    }
    if (made != nullptr) {
        put(fd, made);
    }
    return CaptureResult::yes;
}

}  // namespace

CaptureResult take_on(int fd, const DescriptorOrigin& opening) noexcept {
    let_go_stale(fd);
    PathBuffer buffer;
    std::string_view path;
    // A file of O_TMPFILE may get a name by linkat(), but not with O_EXCL.
    const bool never_named =
        (opening.flags & O_TMPFILE) == O_TMPFILE && (opening.flags & O_EXCL) != 0;
    if ((opening.flags & O_PATH) != 0) {
        note_opened_path(fd);
        return CaptureResult::no;
    }
    if (never_named) {
        return CaptureResult::no;
    }
    const bool on_mount = is_on_known_mount(fd);
    if (!on_mount && !regular_and_pooled(fd, buffer, path)) {
        return CaptureResult::no;
    }
    if (on_mount || is_on_mount(fd)) {
        return take_on_mounted(fd, opening);
    }
    return take_on_pooled(fd, opening, path);
}

}  // namespace forebay::capture
