// A thread is made when all others are busy, and stays: opening a file is an errand, too.
#include "adapters/posix/errands.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <iterator>
#include <pthread.h>
#include <system_error>
#include <utility>

namespace forebay::adapters {

using std::chrono::steady_clock;

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
    std::array<Errand, 1> one{Errand{ticket, std::move(call)}};
    hand_out(one);
}

void ErrandThreads::begin_later(std::uint64_t ticket, std::function<std::int64_t()> call) {
    if (later_.empty()) {
        later_until_ = steady_clock::now() + later;
    }
    later_.push_back({ticket, std::move(call)});
    if (later_.size() >= later_max) {
        hurry();
    }
}

void ErrandThreads::hurry() {
    if (!later_.empty()) {
        hand_out(later_);
        later_.clear();
    }
}

// To one thread, which is made if none is free.
void ErrandThreads::hand_out(std::span<Errand> errands) {
    const bool done_here = !somebody_is_free() && !add_thread() && threads_.empty();
    if (done_here) {
        for (Errand& errand : errands) {
            const Ended answer{errand.ticket, errand.call()};
            const std::scoped_lock lock{mutex_};
            ended_.push_back(answer);
        }
        return;
    }
    looked_ = steady_clock::now();
    {
        const std::scoped_lock lock{mutex_};
        std::ranges::move(errands, std::back_inserter(waiting_));
    }
    news_.notify_one();
}

// Who waits while none is begun waits for threads that hang.
void ErrandThreads::help_those_who_wait() {
    const auto now = steady_clock::now();
    {
        const std::scoped_lock lock{mutex_};
        const bool goes_on = std::exchange(begun_before_, begun_) != begun_;
        if (waiting_.empty() || goes_on) {
            looked_ = now;
        }
    }
    if (now - looked_ >= hangs) {
        looked_ = now;
        static_cast<void>(add_thread());
    }
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
        ++begun_;
        lock.unlock();
        const Ended answer{errand.ticket, errand.call()};
        errand.call = nullptr;  // what it holds goes before the answer comes
        lock.lock();
        ended_.push_back(answer);
    }
}

std::vector<ports::Errands::Ended> ErrandThreads::ended() {
    if (!later_.empty() && steady_clock::now() >= later_until_) {
        hurry();
    }
    help_those_who_wait();
    const std::scoped_lock lock{mutex_};
    return std::exchange(ended_, {});
}

}  // namespace forebay::adapters
