// The thread's loop, and the queue of calls and results.
#include "storage/posix/side_thread.hpp"

#include "foundation/base/contracts.hpp"
#include "foundation/kernel/calls.hpp"
#include "storage/posix/signals_blocked.hpp"

#include <cerrno>
#include <cstdint>
#include <utility>

namespace forebay::adapters {

SideThread::SideThread(int bell) : bell_{bell} {
    const SignalsBlocked blocked;
    thread_ = std::thread{[this] { work(); }};
}

SideThread::~SideThread() {
    {
        const std::scoped_lock lock{mutex_};
        ending_ = true;
    }
    news_.notify_all();
    thread_.join();
}

void SideThread::begin(std::function<int()> call) {
    {
        const std::scoped_lock lock{mutex_};
        calls_.push_back(std::move(call));
    }
    news_.notify_all();
}

void SideThread::work() {
    std::unique_lock lock{mutex_};
    while (true) {
        news_.wait(lock, [this] { return ending_ || !calls_.empty(); });
        if (calls_.empty()) {
            return;
        }
        const std::function<int()> call = std::move(calls_.front());
        calls_.pop_front();
        under_way_ = true;
        lock.unlock();
        const int answer = call();
        lock.lock();
        under_way_ = false;
        answers_.push_back(answer);
        if (answer != 0) {
            answers_.insert(answers_.end(), calls_.size(), ECANCELED);
            calls_.clear();
        }
        const std::uint64_t once = 1;
        static_cast<void>(kernel::write(bell_, &once, sizeof once));
        news_.notify_all();
    }
}

std::optional<int> SideThread::take() {
    if (answers_.empty()) {
        return std::nullopt;
    }
    const int answer = answers_.front();
    answers_.pop_front();
    return answer;
}

std::optional<int> SideThread::ended() {
    const std::scoped_lock lock{mutex_};
    return take();
}

int SideThread::wait() {
    std::unique_lock lock{mutex_};
    expects(under_way_ || !calls_.empty() || !answers_.empty(), "a call was begun");
    news_.wait(lock, [this] { return !answers_.empty(); });
    return *take();
}

}  // namespace forebay::adapters
