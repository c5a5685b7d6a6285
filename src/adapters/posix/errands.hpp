// Errands on threads, one each: a file system that hangs keeps nobody but those who asked it.
#pragma once

#include "ports/errands.hpp"

#include <cstdint>
#include <functional>
#include <list>
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
        std::thread thread;
        Ended answer;
        bool over = false;  // under the mutex
    };
    void start_waiting();

    std::list<Errand> errands_;  // in order; those without a thread wait
    std::mutex mutex_;
};

}  // namespace forebay::adapters
