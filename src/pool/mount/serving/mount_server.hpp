// The FUSE server of a mount over a directory. Requests are carried out on the directory below, by
// descriptors that were opened before it was mounted over; bytes of files go through the pool if
// there is one.
#pragma once

#include "foundation/base/own_fd.hpp"
#include "foundation/base/result.hpp"
#include "foundation/base/yielding.hpp"
#include "pool/mount/files/lock_waiter.hpp"
#include "pool/mount/files/pool_route.hpp"
#include "pool/mount/link/pool_link.hpp"
#include "pool/mount/serving/caller_identity.hpp"
#include "pool/mount/serving/custom_io.hpp"
#include "pool/mount/serving/directory_lock.hpp"
#include "pool/mount/serving/fuse.hpp"
#include "pool/mount/serving/request_lead.hpp"
#include "pool/mount/serving/unanswered_requests.hpp"
#include "pool/mount/tree/inode_trimmer.hpp"
#include "pool/mount/tree/inodes.hpp"
#include "tier/live/live_tier.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace forebay::mount {

struct MountOptions {
    std::string directory;
    std::string socket;  // path of the daemon's socket; empty: no pool, all is passed through
    bool allow_other = false;
    // This process is in a private namespace, and has the right to mount there.
    bool in_namespace = false;
    bool captured = false;               // programs may be captured, too
    std::string fast;                    // the folder of replicas; empty: no tier
    std::string tier_policy = "write";   // of folders that have none of their own
    std::chrono::seconds tier_wait{60};  // for bytes that are in fast storage of another node
    std::chrono::seconds tier_end{0};    // of the batch job, since the epoch; 0: it has none
    std::int64_t tier_room = 0;          // bytes of fast storage; 0: all of its file system
    std::int64_t tier_high = 90;         // percent of that, above which replicas make way …
    std::int64_t tier_low = 70;          // … until no more is used
    bool tier_shared = false;            // other nodes change files, too: nothing is remembered
};

// "/proc/self/fd/N": a path to the file of an O_PATH descriptor, for calls that need a path.
class DescriptorName {
public:
    explicit DescriptorName(int fd) noexcept;
    [[nodiscard]] const char* text() const noexcept { return text_.data(); }

private:
    std::array<char, 32> text_{};
};

// Whether the kernel ignores the attributes of an answer that is older than their eviction: to
// GETATTR and LOOKUP. It does not for CREATE, LINK and SETATTR.
enum class AnswerOrder { ordered, unordered };

class MountServer {
public:
    // Connects to the daemon and opens the directory; nothing is mounted yet.
    [[nodiscard]] static Result<std::unique_ptr<MountServer>> make(const MountOptions& options);
    MountServer(const MountServer&) = delete;
    MountServer& operator=(const MountServer&) = delete;
    ~MountServer();

    // Mounts and negotiates with the kernel (INIT).
    [[nodiscard]] Result<void> mount();
    // Serves requests until the directory is unmounted and no program has a file of it open any
    // more.
    void serve();
    // The daemon's process number; 0: there is no pool.
    [[nodiscard]] pid_t daemon() const noexcept { return link_ ? link_->process() : 0; }

    // The daemon's directory; null: there is no pool.
    [[nodiscard]] const pool::Directory* pool() const noexcept {
        return link_ ? &link_->directory() : nullptr;
    }
    // Null: there is none.
    [[nodiscard]] tier::LiveTier* tier() noexcept { return tier_.get(); }
    // To be held while anything is mounted.
    [[nodiscard]] DirectoryLock& lock() noexcept { return *lock_; }
    // The number of the kernel's FUSE connection, once it is mounted; 0: not known.
    [[nodiscard]] std::uint32_t connection() const noexcept { return connection_; }

    // The following are for handlers of requests.
    [[nodiscard]] InodeTable& inodes() noexcept { return *inodes_; }
    // The kernel has so many lookups less of the inode; without any it is destroyed.
    void forget(MountedInode& inode, std::uint64_t lookups);
    [[nodiscard]] InodeTrimmer& trimmer() noexcept { return *trimmer_; }
    [[nodiscard]] PoolRoute& route() noexcept { return *route_; }
    [[nodiscard]] RequestLead& lead() noexcept { return lead_; }
    // `attempt` returns 0 or an errno. If it finds no room on the file system, it is called once
    // more when everything that programs have closed and unlinked is gone. Passes the lead on then.
    template <class Attempt>
    [[nodiscard]] int with_room_below(const Attempt& attempt) {
        const int error = attempt();
        return UnansweredRequests::is_full(error) && waits_for_others() ? attempt() : error;
    }
    [[nodiscard]] LockWaiter& lock_waiter() noexcept { return lock_waiter_; }
    [[nodiscard]] CustomIo& io() noexcept { return io_; }
    // Whether the server has root's privileges, and so acts as its callers.
    [[nodiscard]] bool by_root() const noexcept { return by_root_; }
    // Whether programs may be captured, too (--captured).
    [[nodiscard]] bool captures() const noexcept { return options_.captured && link_ != nullptr; }
    // Seconds for which the kernel may cache names.
    [[nodiscard]] double names_valid() const noexcept;
    // Seconds for which it may cache attributes: none while captured programs use the file. Asked
    // before the attributes are: a writer may write, and close the file, behind that.
    [[nodiscard]] double attributes_valid(const MountedInode& inode,
                                          AnswerOrder order) const noexcept;
    // Makes the kernel forget the attributes that it has cached. Not to be called under a lock that
    // a request needs. Returns 0 or an errno.
    [[nodiscard]] int evict_attributes(fuse_ino_t number) noexcept;
    void init(fuse_conn_info& connection);

private:
    explicit MountServer(const MountOptions& options) : options_{options} {}
    // Opens the directory, once it is known that no other server serves it.
    [[nodiscard]] Result<void> open_below();
    [[nodiscard]] Result<void> start_tier();
    // Opens and locks it. False: another server has the lock.
    [[nodiscard]] Result<bool> lock_below();
    // Processes INIT; fails if the kernel lacks FUSE_DIRECT_IO_ALLOW_MMAP (Linux 6.6).
    [[nodiscard]] Result<void> agree();
    void serve_in_thread();
    // A serving thread begins (1) or ends (-1) to wait for what another node has, maybe for
    // minutes: a thread more serves meanwhile.
    void note_long_wait(int change);
    // Waits until other threads have answered all other requests. False: they have not.
    [[nodiscard]] bool waits_for_others() noexcept;
    // Reads the next request, if this thread leads, which is busy from then on. False: the mount is
    // gone.
    [[nodiscard]] bool receive(fuse_buf& request, std::optional<UnansweredRequests::Busy>& busy);

    MountOptions options_;
    bool by_root_ = false;
    bool below_is_local_ = false;  // it answers without waiting for a server or a replica
    RequestLead lead_;
    UnansweredRequests unanswered_;
    std::unique_ptr<PoolLink> link_;
    std::optional<PoolRoute> route_;
    std::optional<DirectoryLock> lock_;
    std::unique_ptr<tier::LiveTier> tier_;
    std::uint32_t connection_ = 0;
    std::optional<InodeTable> inodes_;
    std::optional<InodeTrimmer> trimmer_;
    LockWaiter lock_waiter_;
    CustomIo io_;
    CoreYielding yielding_;  // used by the thread that leads
    fuse_session* session_ = nullptr;
    std::mutex threads_mutex_;  // protects the next three
    std::vector<std::thread> threads_;
    std::ptrdiff_t long_waits_ = 0;
    bool has_served_ = false;
};

}  // namespace forebay::mount
