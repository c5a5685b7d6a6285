// The session with the kernel, and the loop of the serving threads.
#include "pool/mount/serving/mount_server.hpp"

#include "foundation/base/yielding.hpp"
#include "foundation/kernel/local_file_systems.hpp"
#include "foundation/kernel/newer_linux.hpp"
#include "pool/mount/serving/fuse_device.hpp"
#include "pool/mount/serving/mounted_path.hpp"
#include "pool/mount/serving/operations.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace forebay::mount {

namespace {

// Serving threads: some may wait for the pool, the file system or a sync, while one reads requests.
constexpr std::uint32_t threads_max = 8;
// With those that wait for bytes that another node has.
constexpr std::size_t threads_with_waits_max = 64;
// Background requests (page reads of mappings, closes) in flight; libfuse's default of 12 is soon
// used up.
constexpr unsigned background_max = 64;
constexpr unsigned background_congested = 48;
constexpr unsigned write_bytes_max = 1U << 20U;
constexpr double valid_seconds = 1.0;
// How long a thread polls for the next request before it sleeps: waking up takes longer.
constexpr auto looks_for = std::chrono::microseconds{50};
constexpr int sleep_ms = 1000;

// How long a server waits for one that ends.
constexpr auto lock_every = std::chrono::milliseconds{20};
constexpr int lock_tries_max = 75;

Error already_mounted(const std::string& path) {
    return {ErrorCode::unsupported, EBUSY,
            fmt::format("cannot mount over {} (there is a mount of Forebay already). End it, or "
                        "use it.",
                        path)};
}
Error still_served(const std::string& path) {
    return {ErrorCode::unsupported, EBUSY,
            fmt::format("cannot mount over {} (another forebay-mount serves it: for files that "
                        "programs have open, or in another namespace). Wait until these programs "
                        "have ended.",
                        path)};
}
Error dead_mount(const std::string& path) {
    return {ErrorCode::unsupported, EBUSY,
            fmt::format("cannot mount over {} (a mount that nobody serves is there, and is not "
                        "yours). Have its user, or root, unmount it: umount -l {}",
                        path, path)};
}

// Whether a request may wait for a device or for another request.
// With a tier, whoever answers READ and WRITE knows whether there is a replica.
bool takes_long(const fuse_buf& request, bool below_is_local, bool has_tier) noexcept {
    switch (static_cast<const fuse_in_header*>(request.mem)->opcode) {
        case FUSE_FSYNC:
        case FUSE_FSYNCDIR:
        case FUSE_FALLOCATE:
        case kernel::fuse_copy_file_range: return true;
        case FUSE_FORGET:
        case FUSE_BATCH_FORGET: return false;
        case FUSE_READ:
        case FUSE_WRITE: return !below_is_local && !has_tier;
        default: return !below_is_local;
    }
}

fuse_lowlevel_ops operations() {
    fuse_lowlevel_ops table{};
    table.init = [](void* server, fuse_conn_info* connection) {
        static_cast<MountServer*>(server)->init(*connection);
    };
    add_name_operations(table);
    add_attribute_operations(table);
    add_directory_operations(table);
    add_handle_operations(table);
    add_data_operations(table);
    add_lock_operations(table);
    return table;
}

// libfuse calls both with the server as the last argument.
ssize_t write_by(int fd, iovec* pieces, int count, void* io) {
    return static_cast<MountServer*>(io)->io().write(fd, pieces, count);
}
ssize_t read_by(int fd, void* to, std::size_t bytes, void* io) {
    return static_cast<MountServer*>(io)->io().read(fd, to, bytes);
}

}  // namespace

DescriptorName::DescriptorName(int fd) noexcept {
    static_cast<void>(std::snprintf(text_.data(), text_.size(), "/proc/self/fd/%d", fd));
}

Result<std::unique_ptr<MountServer>> MountServer::make(const MountOptions& options) {
    std::unique_ptr<MountServer> server{new MountServer{options}};
    server->by_root_ = ::geteuid() == 0;
    if (!options.socket.empty()) {
        auto link = PoolLink::connect(options.socket, [lead = &server->lead_] { lead->pass_on(); });
        if (!link) {
            return failure(std::move(link.error()));
        }
        server->link_ = std::move(*link);
        if (server->link_->directory().header.nodes.load(std::memory_order_relaxed) > 1) {
            return failure({ErrorCode::unsupported, 0,
                            "cannot mount over the pool of several nodes (the mount does not ask "
                            "them yet). Use `--set pool_mount=never`."});
        }
    }
    server->route_.emplace(server->link_.get());
    server->route_->use_room([made = server.get()] { return made->waits_for_others(); });
    if (auto opened = server->open_below(); !opened) {
        return failure(std::move(opened.error()));
    }
    return server;
}

Result<void> MountServer::start_tier() {
    if (options_.fast.empty()) {
        return {};
    }
    if (link_) {
        return failure({ErrorCode::unsupported, 0,
                        "cannot mount with a pool and a fast place (draining into replicas is not "
                        "built yet). Use one of them."});
    }
    auto policy = tier::parse_policy(options_.tier_policy);
    if (!policy) {
        return failure(std::move(policy.error()));
    }
    auto started =
        tier::LiveTier::start({.fast = options_.fast,
                               .global = options_.directory,
                               .policy = std::move(*policy),
                               .room_bytes = options_.tier_room,
                               .high_part = options_.tier_high,
                               .low_part = options_.tier_low,
                               .end_ns = std::chrono::nanoseconds{options_.tier_end}.count(),
                               .peer_wait_ns = std::chrono::nanoseconds{options_.tier_wait}.count(),
                               .before_waiting = [this] { lead_.pass_on(); },
                               .waits_for_peer = [this](int change) { note_long_wait(change); }});
    if (!started) {
        return failure(std::move(started.error()));
    }
    tier_ = std::move(*started);
    route_->use_tier(*tier_);
    below_is_local_ = false;  // a request may wait for a replica
    return {};
}

// The watcher of a server that has died unmounts within a second, when the pool has drained. Only
// if there is no watcher any more, its mount is removed here.
Result<void> MountServer::open_below() {
    const std::string& path = options_.directory;
    for (int tries = 0;; ++tries) {
        const bool is_last = tries == lock_tries_max;
        const std::string over = name_over(path);
        if (!over.empty() && !is_dead(over)) {
            return failure(already_mounted(path));
        }
        if (over.empty()) {
            auto locked = lock_below();
            if (!locked || *locked) {
                return locked ? Result<void>{} : failure(std::move(locked.error()));
            }
            if (is_last) {
                return failure(still_served(path));
            }
        } else if (is_last && !unmount_lazily(path)) {
            return failure(dead_mount(path));
        }
        std::this_thread::sleep_for(lock_every);
    }
}

Result<bool> MountServer::lock_below() {
    const std::string& path = options_.directory;
    OwnFd root{::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)};
    struct stat found{};
    if (!root.valid() || ::fstat(root.get(), &found) != 0) {
        return failure(system_error(errno, "mount over " + path));
    }
    auto lock = DirectoryLock::take(found);
    if (!lock) {
        return failure(std::move(lock.error()));
    }
    // Another server may have mounted, and died, since the path was looked at.
    if (!*lock || !name_over(path).empty()) {
        return false;
    }
    struct statfs system{};
    below_is_local_ = ::fstatfs(root.get(), &system) == 0 && kernel::is_local(system);
    inodes_.emplace(std::move(root), found);
    trimmer_.emplace(*inodes_);
    lock_ = std::move(*lock);
    return true;
}

MountServer::~MountServer() {
    if (session_ != nullptr) {
        fuse_session_destroy(session_);
    }
}

// The tier is started here, after the watcher: this has neither its lock nor its thread.
Result<void> MountServer::mount() {
    const std::string& directory = options_.directory;
    if (auto started = start_tier(); !started) {
        return started;
    }
    const bool privileged = by_root_ || options_.in_namespace;
    Result<OwnFd> device = mount_fuse({.directory = directory,
                                       .name = mount_name(::getpid()),
                                       .allow_other = privileged || options_.allow_other,
                                       .has_privileges = privileged});
    if (!device) {
        return failure(std::move(device.error()));
    }
    std::string program = "forebay-mount";
    std::array<char*, 2> words{program.data(), nullptr};
    fuse_args arguments = FUSE_ARGS_INIT(1, words.data());
    const fuse_lowlevel_ops table = operations();
    session_ = fuse_session_new(&arguments, &table, sizeof table, this);
    fuse_opt_free_args(&arguments);
    // With such a name libfuse mounts nothing. It uses the descriptor, and closes it in the end.
    const std::string served =
        fmt::format("/dev/fd/{}", ::fcntl(device->get(), F_DUPFD_CLOEXEC, 0));
    if (session_ == nullptr || fuse_session_mount(session_, served.c_str()) != 0) {
        unmount_lazily(directory);
        return failure({ErrorCode::unsupported, 0,
                        "cannot serve a mount (libfuse takes no descriptor of it). Use libfuse "
                        "3.14 or newer."});
    }
    fuse_custom_io io{};
    io.writev = &write_by;
    io.read = &read_by;
    if (fuse_session_custom_io(session_, &io, fuse_session_fd(session_)) != 0) {
        return failure({ErrorCode::unsupported, 0,
                        "cannot speak to FUSE (libfuse refused it). "
                        "Use libfuse 3.14 or newer."});
    }
    // A server of another user has another lock.
    const std::vector<MountEntry> all = mounts_over(directory);
    if (all.size() > 1 && !all[all.size() - 2].name.empty()) {
        unmount_lazily(directory);
        return failure(already_mounted(directory));
    }
    connection_ = all.empty() ? 0 : all.back().connection;
    const int fd = fuse_session_fd(session_);
    ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
    return agree();
}

// Processes the INIT request, which tells what the kernel supports.
Result<void> MountServer::agree() {
    fuse_buf request{};
    std::optional<UnansweredRequests::Busy> busy;
    while (io_.offered == 0 && receive(request, busy)) {
        fuse_session_process_buf(session_, &request);
    }
    std::free(request.mem);  // NOLINT(cppcoreguidelines-no-malloc): libfuse allocated it
    if (io_.maps_direct_files()) {
        return {};
    }
    unmount_lazily(options_.directory);
    return failure({ErrorCode::unsupported, 0,
                    "cannot mount (this kernel does not let programs map files of such a mount). "
                    "Use Linux 6.6 or newer, or `--set pool_mount=never`."});
}

void MountServer::init(fuse_conn_info& connection) {
    constexpr unsigned wanted =
        FUSE_CAP_POSIX_LOCKS | FUSE_CAP_FLOCK_LOCKS | FUSE_CAP_ATOMIC_O_TRUNC | FUSE_CAP_DONT_MASK |
        FUSE_CAP_POSIX_ACL | FUSE_CAP_READDIRPLUS | FUSE_CAP_READDIRPLUS_AUTO |
        FUSE_CAP_ASYNC_READ | FUSE_CAP_ASYNC_DIO | FUSE_CAP_PARALLEL_DIROPS | FUSE_CAP_IOCTL_DIR;
    connection.want = connection.capable & wanted;
    connection.max_write = write_bytes_max;
    connection.max_background = background_max;
    connection.congestion_threshold = background_congested;
}

double MountServer::names_valid() const noexcept {
    return options_.tier_shared ? 0.0 : valid_seconds;
}

double MountServer::attributes_valid(const MountedInode& inode, AnswerOrder order) const noexcept {
    const bool may_be_captured = order == AnswerOrder::unordered && captures() && inode.is_regular;
    const bool is_captured = inode.use.captured_writers.load(std::memory_order_seq_cst) > 0;
    return may_be_captured || is_captured ? 0.0 : names_valid();
}

int MountServer::evict_attributes(fuse_ino_t number) noexcept {
    constexpr off_t attributes_only = -1;
    return -fuse_lowlevel_notify_inval_inode(session_, number, attributes_only, 0);
}

void MountServer::forget(MountedInode& inode, std::uint64_t lookups) {
    if (const auto gone = inodes_->forget(inode, lookups)) {
        route_->forgotten(gone->use);
    }
}

bool MountServer::waits_for_others() noexcept {
    lead_.pass_on();
    return unanswered_.wait(fuse_session_fd(session_), threads_max);
}

bool MountServer::receive(fuse_buf& request, std::optional<UnansweredRequests::Busy>& busy) {
    const int fd = fuse_session_fd(session_);
    auto until = std::chrono::steady_clock::now() + looks_for;
    while (fuse_session_exited(session_) == 0) {
        busy.emplace(unanswered_);
        const int got = fuse_session_receive_buf(session_, &request);
        if (got > 0) {
            return true;
        }
        busy.reset();
        if (got == 0 || (got != -EAGAIN && got != -EINTR)) {
            return false;
        }
        if (yielding_.pays() && std::chrono::steady_clock::now() < until) {
            yielding_.yield();
            continue;
        }
        pollfd news{.fd = fd, .events = POLLIN, .revents = 0};
        ::poll(&news, 1, sleep_ms);
        until = std::chrono::steady_clock::now();
    }
    return false;
}

void MountServer::serve_in_thread() {
    if (become_serving_thread() != 0) {
        std::fputs(
            "forebay-mount: a serving thread keeps its rights (it may not give them up). "
            "Set-id bits may stay on files that others write.\n",
            stderr);
    }
    fuse_buf request{};
    for (;;) {
        lead_.take();
        bool goes_on = true;
        while (lead_.leads() && goes_on) {
            std::optional<UnansweredRequests::Busy> busy;
            goes_on = receive(request, busy);
            if (goes_on) {
                if (takes_long(request, below_is_local_, tier_ != nullptr)) {
                    lead_.pass_on();
                }
                fuse_session_process_buf(session_, &request);
            }
        }
        if (!goes_on) {
            fuse_session_exit(session_);
            lead_.pass_on();
            break;
        }
    }
    std::free(request.mem);  // NOLINT(cppcoreguidelines-no-malloc): libfuse allocated it
}

void MountServer::serve() {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    // Killed while it waits for a folder, the server leaves a connection that has to be ended.
    const bool waits_for_folders = options_.in_namespace || can_end_connection(connection_);
    trimmer_->start(session_, limit.rlim_cur, waits_for_folders);
    {
        const std::scoped_lock lock{threads_mutex_};
        for (std::uint32_t i = 0; i < threads_max; ++i) {
            threads_.emplace_back([this] { serve_in_thread(); });
        }
    }
    for (std::size_t i = 0;; ++i) {
        std::thread one;
        {
            const std::scoped_lock lock{threads_mutex_};
            if (i == threads_.size()) {
                has_served_ = true;  // nobody adds one any more
                break;
            }
            one = std::move(threads_[i]);
        }
        one.join();
    }
}

void MountServer::note_long_wait(int change) {
    lead_.pass_on();
    const std::scoped_lock lock{threads_mutex_};
    long_waits_ += change;
    if (!has_served_ && long_waits_ + threads_max > std::ssize(threads_) &&
        threads_.size() < threads_with_waits_max) {
        threads_.emplace_back([this] { serve_in_thread(); });
    }
}

}  // namespace forebay::mount
