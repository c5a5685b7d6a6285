// Threads are created on demand, when all others are busy, and kept: opening a file is such a task,
// too.
#include "storage/posix/background_io.hpp"

#include "storage/posix/signals_blocked.hpp"

#include <algorithm>
#include <iterator>
#include <system_error>
#include <utility>

namespace forebay::adapters {

using std::chrono::steady_clock;

BackgroundThreads::~BackgroundThreads() {
    {
        const std::scoped_lock lock{mutex_};
        ending_ = true;
        waiting_.clear();
        patient_.clear();
    }
    news_.notify_all();
    for (std::thread& thread : threads_) {
        thread.join();
    }
}

void BackgroundThreads::begin(std::uint64_t ticket, std::function<std::int64_t()> call) {
    BackgroundTask background_task{ticket, std::move(call)};
    if (!somebody_is_free() && !add_thread() && threads_.empty()) {
        do_here(background_task);
        return;
    }
    {
        const std::scoped_lock lock{mutex_};
        if (waiting_.empty() && patient_.empty()) {
            looked_ = steady_clock::now();
        }
        waiting_.push_back(std::move(background_task));
    }
    news_.notify_one();
}

void BackgroundThreads::begin_later(std::uint64_t ticket, std::function<std::int64_t()> call) {
    if (later_.empty()) {
        later_until_ = steady_clock::now() + later;
    }
    later_.push_back({ticket, std::move(call)});
    if (later_.size() >= later_max) {
        hurry();
    }
}

void BackgroundThreads::hurry() {
    if (later_.empty()) {
        return;
    }
    if (!somebody_is_free() && !add_thread() && threads_.empty()) {
        std::ranges::for_each(later_, [this](BackgroundTask& one) { do_here(one); });
    } else {
        const std::scoped_lock lock{mutex_};
        std::ranges::move(later_, std::back_inserter(patient_));
    }
    later_.clear();
    looked_ = steady_clock::now();
    news_.notify_one();
}

// Runs the task in the calling thread, because no thread could be created.
void BackgroundThreads::do_here(BackgroundTask& background_task) {
    const Ended answer{background_task.ticket, background_task.call()};
    const std::scoped_lock lock{mutex_};
    ended_.push_back(answer);
}

// Adds a thread if tasks have waited for a while and none has started: then all threads hang in the
// file system.
void BackgroundThreads::help_those_who_wait() {
    const auto now = steady_clock::now();
    bool idle = false;
    {
        const std::scoped_lock lock{mutex_};
        const bool goes_on = std::exchange(begun_before_, begun_) != begun_;
        if (goes_on || (waiting_.empty() && patient_.empty())) {
            looked_ = now;
        }
        idle = idle_ > 0;
    }
    if (now - looked_ < hangs) {
        return;
    }
    looked_ = now;
    if (idle || !add_thread()) {
        news_.notify_one();
    }
}

bool BackgroundThreads::somebody_is_free() {
    const std::scoped_lock lock{mutex_};
    return idle_ > waiting_.size();
}

// False if there are threads_max threads, or the system refuses another one.
bool BackgroundThreads::add_thread() {
    if (threads_.size() == threads_max) {
        return false;
    }
    const SignalsBlocked blocked;
    try {
        threads_.emplace_back([this] { work(); });
    } catch (const std::system_error&) {
        return false;
    }
    return true;
}

void BackgroundThreads::work() {
    std::unique_lock lock{mutex_};
    while (true) {
        ++idle_;
        news_.wait(lock, [this] { return ending_ || !waiting_.empty() || !patient_.empty(); });
        --idle_;
        if (ending_) {
            return;
        }
        std::deque<BackgroundTask>& line = waiting_.empty() ? patient_ : waiting_;
        BackgroundTask background_task = std::move(line.front());
        line.pop_front();
        ++begun_;
        lock.unlock();
        const Ended answer{background_task.ticket, background_task.call()};
        // Frees what the task captured before its answer is visible.
        background_task.call = nullptr;
        lock.lock();
        ended_.push_back(answer);
    }
}

std::vector<ports::BackgroundIo::Ended> BackgroundThreads::ended() {
    if (!later_.empty() && steady_clock::now() >= later_until_) {
        hurry();
    }
    help_those_who_wait();
    const std::scoped_lock lock{mutex_};
    return std::exchange(ended_, {});
}

}  // namespace forebay::adapters
