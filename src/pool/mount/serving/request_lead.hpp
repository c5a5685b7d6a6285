// Which thread reads the next request. One does, and answers what is done at once itself: it then
// finds the next request without having slept. Before it may have to wait, it passes the lead on,
// so that nobody else's request waits with it.
#pragma once

#include <atomic>
#include <pthread.h>
#include <semaphore>

namespace forebay::mount {

class RequestLead {
public:
    void take() noexcept {
        free_.acquire();
        leader_.store(::pthread_self(), std::memory_order_relaxed);
    }
    [[nodiscard]] bool leads() const noexcept {
        return leader_.load(std::memory_order_relaxed) == ::pthread_self();
    }
    // Once more, and from a thread that does not lead, it has no effect.
    void pass_on() noexcept {
        if (leads()) {
            leader_.store(pthread_t{}, std::memory_order_relaxed);
            free_.release();
        }
    }

private:
    std::binary_semaphore free_{1};
    std::atomic<pthread_t> leader_{};
};

}  // namespace forebay::mount
