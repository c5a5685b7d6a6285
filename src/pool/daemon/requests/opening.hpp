// Opens a client's file a second time, for the daemon itself, so that the daemon can write to it
// after the client has ended.
#pragma once

#include "foundation/base/own_fd.hpp"
#include "foundation/base/result.hpp"
#include "foundation/base/yielding.hpp"
#include "pool/cluster/handover/handover_client.hpp"
#include "pool/core/pool.hpp"
#include "storage/uring/open.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

namespace forebay::daemon {

struct OpenWish {
    std::string path;  // for messages only
    pool::AccessMode access = pool::AccessMode::read;
    // Make the file's name durable, too, if the file is new: with a journal, acknowledged writes
    // are to survive the node, and a replay must find the file.
    bool durable_name = false;
    // The daemon is short of descriptors: the file only becomes known to the pool, without being
    // opened.
    bool only_known = false;
    // Whether the file is handed over to the node that writes for this one, if it is opened for
    // writing: not, on file systems that show all nodes the same bytes at once, or on any.
    enum class HandsOver { no, where_safe, anywhere } hands_over = HandsOver::no;
};

// The access that a client asks for, as far as its descriptor allows it.
[[nodiscard]] pool::AccessMode access_of(const OwnFd& received, bool writes);

// Opens the inode of the received descriptor again, wherever its path leads by now. Fails for
// anything but a regular file (EINVAL), where the client asks for writing but its descriptor does
// not allow it (EBADF), and where the daemon may not write to the file although the client can
// (EACCES, EPERM).
[[nodiscard]] Result<pool::DaemonFile> open_again(const OwnFd& received, const OpenWish& wish,
                                                  adapters::StoragePreference preference);

// open_again() as a job for a background thread, because a file system may hang at it. Shared by
// that thread and the request.
class FileOpening {
public:
    FileOpening(OwnFd received, OpenWish wish, adapters::StoragePreference preference) noexcept
        : received_{std::move(received)}, wish_{std::move(wish)}, preference_{preference} {}

    // The number of the mount that the received descriptor belongs to; 0: not known. Must not be
    // called while another thread executes run().
    [[nodiscard]] std::uint64_t mount() const noexcept;
    // An fsync follows, which may take long even on a local file system.
    [[nodiscard]] bool takes_long() const noexcept { return wish_.durable_name; }
    // Opens the file, and closes the received descriptor. Contract: called once.
    void run();
    // Waits for the end of run(), at most for `time`; true: it is over. Yields the core before it
    // sleeps, since waking up takes longer than most openings.
    [[nodiscard]] bool over_within(std::chrono::nanoseconds time, CoreYielding& yielding);
    [[nodiscard]] pool::AccessMode access() const noexcept { return wish_.access; }
    // The file, for the node that writes for this one; nullopt: it is not handed over. Contract:
    // run() is over.
    [[nodiscard]] const std::optional<cluster::FileForOthers>& for_others() const noexcept {
        return for_others_;
    }
    // The opened file, or why it could not be opened. Contract: called once, after run() is over.
    [[nodiscard]] Result<pool::DaemonFile> take();

private:
    OwnFd received_;
    OpenWish wish_;
    adapters::StoragePreference preference_;
    std::mutex mutex_;
    std::condition_variable news_;
    std::atomic<bool> over_ = false;
    // Written by run(), and read by others only once `over_` is set.
    std::optional<Result<pool::DaemonFile>> file_;
    std::uint64_t mount_ = 0;  // likewise; of the received descriptor, once that is closed
    std::optional<cluster::FileForOthers> for_others_;  // likewise
};

}  // namespace forebay::daemon
