// A file that a client has opened, opened once more by the daemon for itself: it can go on writing
// when the client has ended.
#pragma once

#include "foundation/base/own_fd.hpp"
#include "foundation/base/result.hpp"
#include "foundation/base/yielding.hpp"
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
    std::string path;  // for messages
    pool::AccessMode access = pool::AccessMode::read;
    // Acknowledged writes are to outlive the node: so must the name of a file that was just made.
    bool durable_name = false;
    // Descriptors are scarce: the file becomes known, and nothing of it is opened.
    bool only_known = false;
};

// The access that a client asks for with its descriptor, as far as the descriptor allows it.
[[nodiscard]] pool::AccessMode access_of(const OwnFd& received, bool writes);

// The same inode as the received descriptor's, whatever the path says by now. Fails where it is no
// plain file (EINVAL), where the client asks for writing and its descriptor may not (EBADF), and
// where the daemon cannot write to it although the client can.
[[nodiscard]] Result<pool::DaemonFile> open_again(const OwnFd& received, const OpenWish& wish,
                                                  adapters::StoragePreference preference);

// The same, done by another thread where a file system may hang at this, too.
class FileOpening {
public:
    FileOpening(OwnFd received, OpenWish wish, adapters::StoragePreference preference) noexcept
        : received_{std::move(received)}, wish_{std::move(wish)}, preference_{preference} {}

    // Which mount of this node the received descriptor belongs to; 0: not known. Not while another
    // thread runs this.
    [[nodiscard]] std::uint64_t mount() const noexcept;
    // The opening may take long wherever the file is.
    [[nodiscard]] bool takes_long() const noexcept { return wish_.durable_name; }
    // Once. Closes what was received.
    void run();
    // It has been run. The caller does not sleep for a file that comes at once: waking takes longer
    // than opening.
    [[nodiscard]] bool over_within(std::chrono::nanoseconds time, CoreYielding& yielding);
    [[nodiscard]] pool::AccessMode access() const noexcept { return wish_.access; }
    // Once, when it is over.
    [[nodiscard]] Result<pool::DaemonFile> take();

private:
    OwnFd received_;
    OpenWish wish_;
    adapters::StoragePreference preference_;
    std::mutex mutex_;
    std::condition_variable news_;
    std::atomic<bool> over_ = false;
    std::optional<Result<pool::DaemonFile>> file_;  // that thread's until it is over
    std::uint64_t mount_ = 0;                       // the same; of what was received
};

}  // namespace forebay::daemon
