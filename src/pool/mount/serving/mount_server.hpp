// The mount over a directory: what the kernel asks of it is done below, by descriptors that were
// taken before it was mounted, and its bytes go through the pool where there is one.
#pragma once

#include "foundation/base/own_fd.hpp"
#include "foundation/base/result.hpp"
#include "foundation/base/yielding.hpp"
#include "pool/mount/files/lock_waiter.hpp"
#include "pool/mount/files/pool_route.hpp"
#include "pool/mount/link/pool_link.hpp"
#include "pool/mount/serving/caller_identity.hpp"
#include "pool/mount/serving/custom_io.hpp"
#include "pool/mount/serving/fuse.hpp"
#include "pool/mount/serving/request_lead.hpp"
#include "pool/mount/tree/inodes.hpp"

#include <array>
#include <memory>
#include <optional>
#include <string>

namespace forebay::mount {

struct MountOptions {
    std::string directory;
    std::string socket;  // the daemon's; empty: there is no pool, and all is passed through
    bool allow_other = false;
};

// "/proc/self/fd/N": the file of a descriptor that is O_PATH, by name.
class DescriptorName {
public:
    explicit DescriptorName(int fd) noexcept;
    [[nodiscard]] const char* text() const noexcept { return text_.data(); }

private:
    std::array<char, 32> text_{};
};

class MountServer {
public:
    // The directory is opened; nothing is mounted yet.
    [[nodiscard]] static Result<std::unique_ptr<MountServer>> make(const MountOptions& options);
    MountServer(const MountServer&) = delete;
    MountServer& operator=(const MountServer&) = delete;
    ~MountServer();

    [[nodiscard]] Result<void> mount();
    // Serves until it is unmounted and nobody has a file of it open any more.
    void serve();
    // 0: there is no pool.
    [[nodiscard]] pid_t daemon() const noexcept { return link_ ? link_->process() : 0; }

    // For the handlers of requests.
    [[nodiscard]] InodeTable& inodes() noexcept { return *inodes_; }
    [[nodiscard]] PoolRoute& route() noexcept { return *route_; }
    [[nodiscard]] RequestLead& lead() noexcept { return lead_; }
    [[nodiscard]] LockWaiter& lock_waiter() noexcept { return lock_waiter_; }
    [[nodiscard]] CustomIo& io() noexcept { return io_; }
    [[nodiscard]] bool by_root() const noexcept { return by_root_; }
    [[nodiscard]] double attributes_valid(const MountedInode& inode) const noexcept;
    void init(fuse_conn_info& connection);

private:
    explicit MountServer(const MountOptions& options) : options_{options} {}
    [[nodiscard]] Result<void> open_below();
    [[nodiscard]] Result<void> agree();
    void serve_in_thread();
    // False: the mount is gone.
    [[nodiscard]] bool receive(fuse_buf& request);

    MountOptions options_;
    bool by_root_ = false;
    bool below_is_local_ = false;
    RequestLead lead_;
    std::unique_ptr<PoolLink> link_;
    std::optional<PoolRoute> route_;
    std::optional<InodeTable> inodes_;
    LockWaiter lock_waiter_;
    CustomIo io_;
    CoreYielding yielding_;  // of the thread that leads
    fuse_session* session_ = nullptr;
};

}  // namespace forebay::mount
