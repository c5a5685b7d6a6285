// Errands on threads, one each: a file system that hangs keeps nobody but those who asked it. Where
// the system allows no thread at all, they are done by whoever begins them.
#pragma once

#include "ports/errands.hpp"

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace forebay::adapters {

class ErrandThreads final : public ports::Errands {
public:
    static constexpr std::size_t threads_max = 64;  // more errands wait for their turn

    ErrandThreads() = default;
    ErrandThreads(const ErrandThreads&) = delete;
    ErrandThreads& operator=(const ErrandThreads&) = delete;
    // Waits for those that have begun; the others are dropped.
    ~ErrandThreads() override;

    void begin(std::uint64_t ticket, std::function<std::int64_t()> call) override;
    [[nodiscard]] std::vector<Ended> ended() override;

private:
    struct Errand {
        std::uint64_t ticket = 0;
        std::function<std::int64_t()> call;
    };
    [[nodiscard]] bool somebody_is_free();
    [[nodiscard]] bool add_thread();
    void work();

    std::vector<std::thread> threads_;  // only whoever begins errands touches it
    std::mutex mutex_;
    std::condition_variable news_;
    std::deque<Errand> waiting_;  // with all below: under the mutex
    std::vector<Ended> ended_;
    std::size_t idle_ = 0;  // threads
    bool ending_ = false;
};

}  // namespace forebay::adapters
