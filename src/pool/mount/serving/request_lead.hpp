// Leader/followers: one serving thread, the leader, reads the next request and carries it out
// itself if that takes no time, so that it finds the following request without having slept. Before
// it may have to wait, it passes the lead to another thread, so that no other request waits with
// it.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <pthread.h>

namespace forebay::mount {

class RequestLead {
public:
    // Waits until no thread leads; then this thread leads.
    void take() {
        std::unique_lock lock{mutex_};
        free_.wait(lock, [this] { return !taken_; });
        taken_ = true;
        leader_.store(::pthread_self(), std::memory_order_relaxed);
    }
    [[nodiscard]] bool leads() const noexcept {
        return leader_.load(std::memory_order_relaxed) == ::pthread_self();
    }
    // Does nothing in a thread that does not lead.
    void pass_on() noexcept {
        if (leads()) {
            leader_.store(pthread_t{}, std::memory_order_relaxed);
            {
                const std::scoped_lock lock{mutex_};
                taken_ = false;
            }
            free_.notify_one();
        }
    }

private:
    // Not std::binary_semaphore: with GCC 12 a release wakes all waiting threads, although only one
    // can go on.
    std::mutex mutex_;
    std::condition_variable free_;
    bool taken_ = false;
    std::atomic<pthread_t> leader_{};
};

}  // namespace forebay::mount
