// A second process that unmounts when the serving process or the pool's daemon dies, so that the
// path is the plain directory again. It has no file of the mount open. It also ends a server that
// does not run (it was stopped): programs that wait for it then get errors.
#pragma once

#include "foundation/base/own_fd.hpp"
#include "foundation/base/result.hpp"
#include "pool/mount/serving/directory_lock.hpp"
#include "pool/protocol/directory.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <sys/types.h>

namespace forebay::mount {

struct WatchOrder {
    std::string path;
    pid_t daemon = 0;                       // the daemon's process number; 0: there is no pool
    const pool::Directory* pool = nullptr;  // the daemon's, mapped; null: there is no pool
    DirectoryLock* lock = nullptr;          // held by server and watcher
    std::chrono::seconds stopped_max{};     // how long the server may not run
};

// Memory that server and watcher share.
struct WatchedState {
    std::atomic<std::uint64_t> beats = 0;       // counted by the server every half second
    std::atomic<std::uint32_t> connection = 0;  // number of the kernel's FUSE connection; 0: none
    std::atomic<bool> unmounts = false;         // the server asks the watcher to unmount
};

class MountWatcher {
public:
    static constexpr std::chrono::milliseconds beat_every{500};

    // Forks the watcher. To be called before anything is mounted and before there are threads.
    [[nodiscard]] static Result<MountWatcher> beside(const WatchOrder& order);
    // To be called once it is mounted: `number` is that of the kernel's FUSE connection.
    void mounted(std::uint32_t number) noexcept { state_->connection.store(number); }
    // To be called after each `beat_every`: the server runs.
    void beat() noexcept { state_->beats.fetch_add(1); }
    // Makes the watcher unmount now. It goes on to watch the server.
    void unmount();

private:
    struct Unmap {
        void operator()(WatchedState* state) const noexcept;
    };
    using SharedState = std::unique_ptr<WatchedState, Unmap>;

    MountWatcher(OwnFd line, SharedState state) noexcept
        : line_{std::move(line)}, state_{std::move(state)} {}
    OwnFd line_;  // write end of a pipe; its end-of-file wakes the watcher
    SharedState state_;
};

}  // namespace forebay::mount
