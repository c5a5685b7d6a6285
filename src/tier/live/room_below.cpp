// Room that was found, less what was moved since the file system was asked.
#include "tier/live/room_below.hpp"

#include "storage/posix/file_control.hpp"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <sys/vfs.h>
#include <thread>
#include <utility>

namespace forebay::tier {

namespace {

using Clock = std::chrono::steady_clock;

// In bytes; negative: the file system does not tell.
std::int64_t room_in(int folder) noexcept {
    struct statfs found{};
    return ::fstatfs(folder, &found) == 0 ? adapters::room_of(found) : -1;
}

}  // namespace

struct RoomBelow::Shared {
    explicit Shared(OwnFd of) : folder{std::move(of)} {}

    const OwnFd folder;
    std::mutex mutex;  // protects the rest
    std::condition_variable news;
    std::int64_t room = -1;
    std::int64_t moved_since = 0;               // the file system was asked
    std::optional<Clock::time_point> asked_at;  // for the answer in `room`
    bool was_waited_for = false;                // there is no answer yet: the file system may hang
    bool is_wanted = false;
    bool ends = false;

    [[nodiscard]] bool is_enough(std::int64_t bytes) const noexcept {
        return room < 0 || bytes <= room - moved_since - margin_bytes;
    }

    void run() {
        std::unique_lock lock{mutex};
        while (!ends) {
            news.wait(lock, [this] { return is_wanted || ends; });
            if (!std::exchange(is_wanted, false)) {
                continue;
            }
            const auto now = Clock::now();
            const std::int64_t moved_before = std::exchange(moved_since, 0);
            if (room >= 0) {  // as long as there is no other answer
                room = std::max<std::int64_t>(room - moved_before, 0);
            }
            lock.unlock();
            const std::int64_t found = room_in(folder.get());
            lock.lock();
            room = found;
            asked_at = now;
            news.notify_all();
        }
    }
};

RoomBelow::RoomBelow(OwnFd folder) : shared_{std::make_shared<Shared>(std::move(folder))} {
    std::thread{[shared = shared_] { shared->run(); }}.detach();
}

RoomBelow::~RoomBelow() {
    const std::lock_guard lock{shared_->mutex};
    shared_->ends = true;
    shared_->news.notify_all();
}

bool RoomBelow::holds(std::int64_t bytes) {
    std::unique_lock lock{shared_->mutex};
    const auto now = Clock::now();
    if (!shared_->asked_at || now - *shared_->asked_at >= valid || !shared_->is_enough(bytes)) {
        shared_->is_wanted = true;
        shared_->news.notify_all();
    }
    const bool is_first = !shared_->asked_at && !std::exchange(shared_->was_waited_for, true);
    if (is_first || !shared_->is_enough(bytes)) {
        static_cast<void>(shared_->news.wait_for(
            lock, patience, [&] { return shared_->asked_at && *shared_->asked_at >= now; }));
    }
    return shared_->is_enough(bytes);
}

void RoomBelow::note_moved(std::int64_t bytes) {
    const std::lock_guard lock{shared_->mutex};
    shared_->moved_since += bytes;
}

}  // namespace forebay::tier
