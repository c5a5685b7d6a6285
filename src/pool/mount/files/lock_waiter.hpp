// Blocking locks (F_SETLKW, flock): one thread polls for all requests that wait, so that no serving
// thread sleeps on a lock that another request would release.
#pragma once

#include "pool/mount/serving/fuse.hpp"

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace forebay::mount {

class LockWaiter {
public:
    LockWaiter() noexcept = default;
    LockWaiter(const LockWaiter&) = delete;
    LockWaiter& operator=(const LockWaiter&) = delete;
    ~LockWaiter();

    // Answers `request` once `attempt` returns something else than EAGAIN: 0 or an errno. An
    // interrupted caller gets EINTR.
    void wait(fuse_req_t request, std::function<int()> attempt);

private:
    struct WaitingLock {
        fuse_req_t request;
        std::function<int()> attempt;
    };
    void run();

    std::mutex mutex_;
    std::condition_variable news_;
    std::vector<WaitingLock> waiting_;
    bool ends_ = false;
    std::thread thread_;
};

}  // namespace forebay::mount
