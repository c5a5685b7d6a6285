// A lock file beside the socket tells whether a daemon is alive. The kernel releases the lock when
// its holder dies, for whatever reason; so a socket that a dead daemon has left can be removed
// safely.
#include "pool/daemon/listener/listener.hpp"

#include "foundation/base/contracts.hpp"
#include "foundation/kernel/calls.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

namespace forebay::daemon {

namespace {

// The backlog of listen().
constexpr int queue_max = 128;
constexpr mode_t user_only = 0700;
constexpr mode_t others = 0077;

tl::unexpected<Error> refuse(ErrorCode code, int system, std::string message) {
    return failure(Error{code, system, std::move(message)});
}

// Makes the directory of the socket, or checks that the existing one belongs to this user and that
// nobody else can enter it.
Result<void> make_folder(const std::string& folder) {
    if (kernel::mkdir(folder.c_str(), user_only) != 0 && errno != EEXIST) {
        return failure(system_error(errno, "make the folder " + folder));
    }
    struct stat found{};
    if (::lstat(folder.c_str(), &found) != 0) {
        return failure(system_error(errno, "look at the folder " + folder));
    }
    if (!S_ISDIR(found.st_mode) || found.st_uid != ::geteuid() || (found.st_mode & others) != 0) {
        return refuse(ErrorCode::access, EACCES,
                      fmt::format("cannot listen in {} (it is no folder that you alone can enter). "
                                  "Name one with mode 0700 of your own.",
                                  folder));
    }
    return {};
}

// Takes an flock, which is held as long as the returned descriptor is open.
Result<OwnFd> take_lock(const std::string& path) {
    constexpr mode_t user_reads_and_writes = 0600;
    OwnFd lock{kernel::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW,
                            user_reads_and_writes)};
    if (!lock.valid()) {
        return failure(system_error(errno, "open " + path));
    }
    if (::flock(lock.get(), LOCK_EX | LOCK_NB) == 0) {
        return lock;
    }
    if (errno != EWOULDBLOCK) {
        return failure(system_error(errno, "lock " + path));
    }
    const std::string process = kernel::contents(path, 64).value_or("");
    return refuse(ErrorCode::access, EADDRINUSE,
                  fmt::format("cannot start a daemon (one is there already: process {}). Use it, "
                              "or end it with `forebay pool stop`.",
                              process.empty() ? "unknown" : process));
}

Result<OwnFd> listen_at(const std::string& path) {
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    if (path.size() >= sizeof name.sun_path) {
        return refuse(ErrorCode::argument, ENAMETOOLONG,
                      fmt::format("cannot listen at {} (a socket's name has at most {} bytes). "
                                  "Choose a folder with a shorter name.",
                                  path, sizeof name.sun_path - 1));
    }
    std::memcpy(&name.sun_path, path.c_str(), path.size() + 1);
    OwnFd socket{::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
    if (!socket.valid()) {
        return failure(system_error(errno, "make a socket"));
    }
    kernel::unlink(path.c_str());  // left by a dead daemon, since the lock is ours
    if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name) != 0 ||
        ::listen(socket.get(), queue_max) != 0) {
        return failure(system_error(errno, "listen at " + path));
    }
    return socket;
}

constexpr const char* no_descriptors = "no descriptors are left";

bool is_out_of_descriptors(int error) noexcept { return error == EMFILE || error == ENFILE; }

// A descriptor in reserve, which next() closes when the process has no other left (EMFILE).
OwnFd spare_descriptor() { return OwnFd{kernel::open("/dev/null", O_RDONLY | O_CLOEXEC)}; }

}  // namespace

SocketListener::SocketListener(OwnFd lock, OwnFd socket, std::string path)
    : lock_{std::move(lock)},
      socket_{std::move(socket)},
      spare_{spare_descriptor()},
      path_{std::move(path)} {}

SocketListener::~SocketListener() {
    if (socket_.valid()) {
        kernel::unlink(path_.c_str());
        ::ftruncate(lock_.get(), 0);
    }
}

Result<SocketListener> SocketListener::open(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    if (!path.starts_with('/') || slash == 0) {
        return refuse(ErrorCode::argument, EINVAL,
                      fmt::format("cannot listen at {} (it is no absolute path in a folder of its "
                                  "own). Name /…/FOLDER/SOCKET.",
                                  path));
    }
    if (auto made = make_folder(path.substr(0, slash)); !made) {
        return failure(std::move(made.error()));
    }
    Result<OwnFd> lock = take_lock(path + ".lock");
    if (!lock) {
        return failure(std::move(lock.error()));
    }
    const std::string process = std::to_string(::getpid());
    if (kernel::ftruncate(lock->get(), 0) != 0 ||
        kernel::pwrite(lock->get(), process.data(), process.size(), 0) < 0) {
        return failure(system_error(errno, "write " + path + ".lock"));
    }
    Result<OwnFd> socket = listen_at(path);
    if (!socket) {
        return failure(std::move(socket.error()));
    }
    return SocketListener{std::move(*lock), std::move(*socket), path};
}

IncomingConnection SocketListener::next(Shortage on_shortage) {
    expects(socket_.valid(), "a listener that was moved from is not asked");
    if (!spare_.valid()) {
        spare_ = spare_descriptor();
    }
    OwnFd socket{::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)};
    if (!socket.valid() && is_out_of_descriptors(errno)) {
        return on_shortage == Shortage::reject
                   ? reject_next()
                   : IncomingConnection{
                         .refused = no_descriptors, .no_room = true, .stays_queued = true};
    }
    if (!socket.valid()) {
        return {};
    }
    ucred who{};
    socklen_t bytes = sizeof who;
    if (::getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &who, &bytes) != 0) {
        return {.refused = "the kernel does not say who it is"};
    }
    if (who.uid != ::geteuid()) {
        return {.refused = fmt::format("process {} is of user {}", who.pid, who.uid)};
    }
    return {.socket = std::move(socket), .process = who.pid};
}

// No descriptor is left for the next connection. With the reserve closed there is one, so the
// connection can be accepted and closed; otherwise it would stay in the queue and its client would
// wait. The connection is closed before the reserve is opened again, which needs its descriptor.
IncomingConnection SocketListener::reject_next() {
    spare_ = OwnFd{};
    bool stays_queued = false;
    {
        const OwnFd rejected{::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC)};
        stays_queued = !rejected.valid() && is_out_of_descriptors(errno);
    }
    spare_ = spare_descriptor();
    return {.refused = no_descriptors, .no_room = true, .stays_queued = stays_queued};
}

}  // namespace forebay::daemon
