// Locks that somebody waits for. A thread of its own tries them again and again, so that none of
// those that answer requests waits for a request that would free the lock.
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

    // `attempt` returns 0 or an errno; EAGAIN: the lock is not free yet. The request is answered
    // once it is, or the caller is interrupted.
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
