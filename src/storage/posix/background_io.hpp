// BackgroundIo on threads, one each: a file system that hangs keeps nobody but those who asked it.
// Where the system allows no thread at all, they are done by whoever begins them.
#pragma once

#include "foundation/ports/background_io.hpp"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace forebay::adapters {

class BackgroundThreads final : public ports::BackgroundIo {
public:
    static constexpr std::size_t threads_max = 64;  // more background I/O wait for their turn
    // Background I/O that is begun for later waits so long, or for so many: waking a thread for
    // each, while the caller has something else to do, takes longer than the I/O itself.
    static constexpr std::chrono::microseconds later{1000};
    static constexpr std::size_t later_max = 64;
    // One thread does these one after the other. If none has begun for so long, it hangs.
    static constexpr std::chrono::milliseconds hangs{10};

    BackgroundThreads() = default;
    BackgroundThreads(const BackgroundThreads&) = delete;
    BackgroundThreads& operator=(const BackgroundThreads&) = delete;
    // Waits for those that have begun; the others are dropped.
    ~BackgroundThreads() override;

    void begin(std::uint64_t ticket, std::function<std::int64_t()> call) override;
    void begin_later(std::uint64_t ticket, std::function<std::int64_t()> call) override;
    void hurry() override;
    [[nodiscard]] std::vector<Ended> ended() override;

private:
    struct BackgroundTask {
        std::uint64_t ticket = 0;
        std::function<std::int64_t()> call;
    };
    void do_here(BackgroundTask& background_task);
    [[nodiscard]] bool somebody_is_free();
    [[nodiscard]] bool add_thread();
    void help_those_who_wait();
    void work();

    // Only whoever begins background I/O touches these.
    std::vector<std::thread> threads_;
    std::vector<BackgroundTask> later_;
    std::chrono::steady_clock::time_point later_until_;  // of the first of them
    std::uint64_t begun_before_ = 0;                     // when it was looked at, and when that was
    std::chrono::steady_clock::time_point looked_;

    std::mutex mutex_;
    std::condition_variable news_;
    std::deque<BackgroundTask> waiting_;  // with all below: under the mutex
    std::deque<BackgroundTask> patient_;  // what was begun later; behind all others
    std::vector<Ended> ended_;
    std::size_t idle_ = 0;     // threads
    std::uint64_t begun_ = 0;  // background I/O
    bool ending_ = false;
};

}  // namespace forebay::adapters
