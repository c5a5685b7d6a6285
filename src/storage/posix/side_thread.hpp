// A thread that makes calls one after the other for somebody who goes on meanwhile.
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
    // `bell`: an eventfd that outlives it, and can be read when a call has ended.
    explicit SideThread(int bell);
    SideThread(const SideThread&) = delete;
    SideThread& operator=(const SideThread&) = delete;
    // Waits for the calls that were begun.
    ~SideThread();

    // Returns 0, or an errno. Behind one that fails, those that wait are not made: ECANCELED.
    void begin(std::function<int()> call);
    // The result of the earliest call that has ended, once; nullopt: none.
    [[nodiscard]] std::optional<int> ended();
    // As ended(), but waits for it. Contract: a call was begun.
    [[nodiscard]] int wait();

private:
    void work();
    [[nodiscard]] std::optional<int> take();

    int bell_;
    std::mutex mutex_;
    std::condition_variable news_;
    std::deque<std::function<int()>> calls_;  // with all below: under the mutex
    std::deque<int> answers_;
    bool under_way_ = false;
    bool ending_ = false;
    std::thread thread_;
};

}  // namespace forebay::adapters
