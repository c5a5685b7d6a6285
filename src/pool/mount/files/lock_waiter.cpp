// The thread for blocking locks. It polls because the kernel reports a released lock only to
// threads that sleep for it.
#include "pool/mount/files/lock_waiter.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <iterator>
#include <utility>

namespace forebay::mount {

namespace {

constexpr auto pause_min = std::chrono::microseconds{200};
constexpr auto pause_max = std::chrono::microseconds{5000};

}  // namespace

LockWaiter::~LockWaiter() {
    {
        const std::scoped_lock lock{mutex_};
        ends_ = true;
    }
    news_.notify_one();
    if (thread_.joinable()) {
        thread_.join();
    }
    for (const WaitingLock& one : waiting_) {
        fuse_reply_err(one.request, EINTR);
    }
}

void LockWaiter::wait(fuse_req_t request, std::function<int()> attempt) {
    {
        const std::scoped_lock lock{mutex_};
        waiting_.push_back({request, std::move(attempt)});
        if (!thread_.joinable()) {
            thread_ = std::thread{[this] { run(); }};
        }
    }
    news_.notify_one();
}

void LockWaiter::run() {
    auto pause = pause_min;
    std::unique_lock lock{mutex_};
    while (!ends_) {
        if (waiting_.empty()) {
            news_.wait(lock, [this] { return ends_ || !waiting_.empty(); });
            pause = pause_min;
        } else {
            news_.wait_for(lock, pause);
            pause = std::min(2 * pause, pause_max);
        }
        std::vector<WaitingLock> all;
        all.swap(waiting_);
        std::erase_if(all, [](const WaitingLock& one) {
            const int error = fuse_req_interrupted(one.request) != 0 ? EINTR : one.attempt();
            if (error != EAGAIN) {
                fuse_reply_err(one.request, error);
            }
            return error != EAGAIN;
        });
        waiting_.insert(waiting_.end(), std::make_move_iterator(all.begin()),
                        std::make_move_iterator(all.end()));
    }
}

}  // namespace forebay::mount
