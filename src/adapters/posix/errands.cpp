// A thread is made when all others are busy, and stays: opening a file is an errand, too.
#include "adapters/posix/errands.hpp"

#include <csignal>
#include <pthread.h>
#include <system_error>
#include <utility>

namespace forebay::adapters {

ErrandThreads::~ErrandThreads() {
    {
        const std::scoped_lock lock{mutex_};
        ending_ = true;
        waiting_.clear();
    }
    news_.notify_all();
    for (std::thread& thread : threads_) {
        thread.join();
    }
}

void ErrandThreads::begin(std::uint64_t ticket, std::function<std::int64_t()> call) {
    if (!somebody_is_free() && !add_thread() && threads_.empty()) {
        const Ended answer{ticket, call()};
        const std::scoped_lock lock{mutex_};
        ended_.push_back(answer);
        return;
    }
    {
        const std::scoped_lock lock{mutex_};
        waiting_.push_back({ticket, std::move(call)});
    }
    news_.notify_one();
}

bool ErrandThreads::somebody_is_free() {
    const std::scoped_lock lock{mutex_};
    return idle_ > waiting_.size();
}

// False: there are enough, or the system allows no more.
bool ErrandThreads::add_thread() {
    if (threads_.size() == threads_max) {
        return false;
    }
    // Signals are for the thread that expects them.
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool added = true;
    try {
        threads_.emplace_back([this] { work(); });
    } catch (const std::system_error&) {
        added = false;
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return added;
}

void ErrandThreads::work() {
    std::unique_lock lock{mutex_};
    while (true) {
        ++idle_;
        news_.wait(lock, [this] { return ending_ || !waiting_.empty(); });
        --idle_;
        if (ending_) {
            return;
        }
        Errand errand = std::move(waiting_.front());
        waiting_.pop_front();
        lock.unlock();
        const Ended answer{errand.ticket, errand.call()};
        errand.call = nullptr;  // what it holds goes before the answer comes
        lock.lock();
        ended_.push_back(answer);
    }
}

std::vector<ports::Errands::Ended> ErrandThreads::ended() {
    const std::scoped_lock lock{mutex_};
    return std::exchange(ended_, {});
}

}  // namespace forebay::adapters
