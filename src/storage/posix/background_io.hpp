// The port BackgroundIo on a pool of threads, so that a file system that hangs blocks only the
// tasks that use it. If the system allows no thread, begin() runs the task itself.
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
    static constexpr std::size_t threads_max = 64;  // further tasks wait
    // Tasks of begin_later() are collected for this time, or until there are this many: waking a
    // thread for each would take longer than the task itself.
    static constexpr std::chrono::microseconds later{1000};
    static constexpr std::size_t later_max = 64;
    // One thread runs them in sequence. If no task has started for this time, the thread is taken
    // to hang.
    static constexpr std::chrono::milliseconds hangs{10};

    BackgroundThreads() = default;
    BackgroundThreads(const BackgroundThreads&) = delete;
    BackgroundThreads& operator=(const BackgroundThreads&) = delete;
    // Waits for tasks that have started; drops the others.
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

    // Used by the thread that calls the public functions only.
    std::vector<std::thread> threads_;
    std::vector<BackgroundTask> later_;
    std::chrono::steady_clock::time_point later_until_;  // when the tasks in later_ start
    std::uint64_t begun_before_ = 0;  // begun_ at the last check for hanging threads
    std::chrono::steady_clock::time_point looked_;

    std::mutex mutex_;
    std::condition_variable news_;
    std::deque<BackgroundTask> waiting_;  // this and all below are guarded by mutex_
    std::deque<BackgroundTask> patient_;  // tasks of begin_later(); they run after all in waiting_
    std::vector<Ended> ended_;
    std::size_t idle_ = 0;     // threads without a task
    std::uint64_t begun_ = 0;  // tasks that have started
    bool ending_ = false;
};

}  // namespace forebay::adapters
