// Keeps opens and renames apart: a file is looked for under its path, so no path may change between
// the moment at which it is asked for and the end of that. One rename is under way at a time, so
// that each finds the paths that the one before has left.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>

namespace forebay::tier {

class RenameOrder {
public:
    // While it exists, and if it is true, no path changes. It is false while a rename is under way
    // or waits: then let go of all locks, and wait_for_renames().
    class PathUse {
    public:
        explicit PathUse(RenameOrder& order) : order_{order.is_entered() ? &order : nullptr} {}
        PathUse(const PathUse&) = delete;
        PathUse& operator=(const PathUse&) = delete;
        ~PathUse() {
            if (order_ != nullptr) {
                order_->leave();
            }
        }
        explicit operator bool() const noexcept { return order_ != nullptr; }

    private:
        RenameOrder* order_;
    };

    // From before a name changes until everybody knows of it. Waits until no path is used, so that
    // the caller may not hold what an open waits for.
    class Rename {
    public:
        explicit Rename(RenameOrder& order) : order_{order} { order_.begin(); }
        Rename(const Rename&) = delete;
        Rename& operator=(const Rename&) = delete;
        ~Rename() { order_.end(); }

    private:
        RenameOrder& order_;
    };

    void wait_for_renames() {
        std::unique_lock lock{mutex_};
        changed_.wait(lock, [this] { return renames_ == 0; });
    }

private:
    bool is_entered() {
        const std::lock_guard lock{mutex_};
        uses_ += renames_ == 0 ? 1 : 0;
        return renames_ == 0;
    }
    void leave() {
        const std::lock_guard lock{mutex_};
        --uses_;
        changed_.notify_all();
    }
    void begin() {
        std::unique_lock lock{mutex_};
        ++renames_;
        changed_.wait(lock, [this] { return uses_ == 0 && !renaming_; });
        renaming_ = true;
    }
    void end() {
        const std::lock_guard lock{mutex_};
        --renames_;
        renaming_ = false;
        changed_.notify_all();
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    std::size_t uses_ = 0;
    std::size_t renames_ = 0;  // with those that wait
    bool renaming_ = false;
};

}  // namespace forebay::tier
