// The name of a file is asked of the kernel (/proc/self/fd), which knows it after a rename, too.
#include "pool/mount/tree/inode_trimmer.hpp"

#include "pool/mount/serving/fuse_device.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fcntl.h>
#include <sys/stat.h>

namespace forebay::mount {

namespace {

// So many names are asked for while no inode can be added.
constexpr std::size_t files_at_once = 128;
// A request that was sent back is forgotten if it has not come by then: its thread has ended.
constexpr auto return_wait = std::chrono::seconds{10};
constexpr auto attempt_pause = std::chrono::milliseconds{1};
// A pass that helps nothing (all files are in use) is not repeated at once.
constexpr auto pass_pause = std::chrono::milliseconds{10};

}  // namespace

InodeTrimmer::~InodeTrimmer() {
    if (thread_.joinable()) {
        {
            const std::scoped_lock lock{mutex_};
            ends_ = true;
        }
        news_.notify_one();
        thread_.join();
    }
}

void InodeTrimmer::start(fuse_session* session, std::size_t descriptors_max,
                         bool waits_for_folders) {
    session_ = session;
    by_number_ = prune_inodes(fuse_session_fd(session_), {});
    if (!by_number_ && !waits_for_folders) {
        return;
    }
    high_ = descriptors_max / 2;
    thread_ = std::thread{[this] { run(); }};
}

void InodeTrimmer::wake() {
    {
        const std::scoped_lock lock{mutex_};
        wanted_ = true;
    }
    news_.notify_one();
}

bool InodeTrimmer::comes_again(const NameRequest& request) {
    wake();
    const std::scoped_lock lock{mutex_};
    const auto now = Clock::now();
    if (!thread_.joinable() || now < useless_until_) {
        return false;
    }
    std::erase_if(sent_back_, [now](const SentBack& one) { return now - one.at > return_wait; });
    const bool is_second = std::ranges::any_of(
        sent_back_, [&](const SentBack& one) { return one.request.caller == request.caller; });
    if (!is_second) {
        sent_back_.push_back({request, now});
    }
    sent_count_.store(sent_back_.size(), std::memory_order_relaxed);
    return !is_second;
}

void InodeTrimmer::has_come(const NameRequest& request) {
    if (sent_count_.load(std::memory_order_relaxed) == 0) {
        return;
    }
    const std::scoped_lock lock{mutex_};
    std::erase_if(sent_back_, [&](const SentBack& one) { return one.request == request; });
    sent_count_.store(sent_back_.size(), std::memory_order_relaxed);
}

bool InodeTrimmer::waits(Clock::time_point until) {
    std::unique_lock lock{mutex_};
    if (!thread_.joinable() || Clock::now() >= until || Clock::now() < useless_until_) {
        return false;
    }
    wanted_ = true;
    news_.notify_one();
    trimmed_.wait_for(lock, attempt_pause);
    return true;
}

void InodeTrimmer::run() {
    std::unique_lock lock{mutex_};
    for (;;) {
        news_.wait(lock, [this] { return wanted_ || ends_; });
        if (ends_) {
            return;
        }
        wanted_ = false;
        lock.unlock();
        const bool useless = trim() == 0 && is_short();
        if (useless && !told_) {
            told_ = true;
            std::fputs(
                "forebay-mount: has few descriptors left (each file that is open takes one, and "
                "each folder that the kernel remembers). Raise `ulimit -n`.\n",
                stderr);
        }
        lock.lock();
        ++passes_;
        if (useless) {
            useless_until_ = std::chrono::steady_clock::now() + room_wait;
        }
        trimmed_.notify_all();
        news_.wait_for(lock, useless ? pass_pause : attempt_pause, [this] { return ends_; });
    }
}

std::size_t InodeTrimmer::trim() {
    const std::size_t low = high_ / 2;
    std::size_t asked = 0;
    // Once around the table at most: the kernel's answers come later.
    for (std::size_t seen = 0; seen < high_ && inodes_.size() > low; seen += files_at_once) {
        asked += forget_some();
    }
    return asked;
}

std::size_t InodeTrimmer::forget_some() {
    if (by_number_) {
        const std::vector<fuse_ino_t> numbers = inodes_.unused_files(files_at_once);
        return prune_inodes(fuse_session_fd(session_), numbers) ? numbers.size() : 0;
    }
    const std::vector<std::string> paths = inodes_.paths_of_unused_files(files_at_once);
    for (const std::string& path : paths) {
        forget(path);
    }
    return paths.size();
}

void InodeTrimmer::forget(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash);
    const std::string name = path.substr(slash == std::string::npos ? 0 : slash + 1);
    // Opens nothing: there may be no descriptor left.
    const int root = inodes_.at(FUSE_ROOT_ID).path.get();
    struct stat found{};
    if (::fstatat(root, folder.c_str(), &found, AT_SYMLINK_NOFOLLOW) != 0 ||
        !S_ISDIR(found.st_mode)) {
        return;
    }
    const fuse_ino_t number = inodes_.number_of(key_of(root, folder.c_str(), found));
    if (number != 0) {
        fuse_lowlevel_notify_inval_entry(session_, number, name.data(), name.size());
    }
}

}  // namespace forebay::mount
