// A thread that makes blocking calls in sequence, while its owner goes on.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

namespace forebay::adapters {

class SideThread {
public:
    // `bell` is an eventfd that outlives this object; it becomes readable when a call has ended.
    explicit SideThread(int bell);
    SideThread(const SideThread&) = delete;
    SideThread& operator=(const SideThread&) = delete;
    // Waits for all calls that were begun.
    ~SideThread();

    // Queues a call that returns 0 or an errno. After a call that fails, the queued ones are not
    // made, and return ECANCELED.
    void begin(std::function<int()> call);
    // The result of the oldest call that has ended, each once; nullopt if none has.
    [[nodiscard]] std::optional<int> ended();
    // As ended(), but blocks until one has. Contract: a call was begun.
    [[nodiscard]] int wait();

private:
    void work();
    [[nodiscard]] std::optional<int> take();

    int bell_;
    std::mutex mutex_;
    std::condition_variable news_;
    std::deque<std::function<int()>> calls_;  // this and all below are guarded by mutex_
    std::deque<int> answers_;
    bool under_way_ = false;
    bool ending_ = false;
    std::thread thread_;
};

}  // namespace forebay::adapters
