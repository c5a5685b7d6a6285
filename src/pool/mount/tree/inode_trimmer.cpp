// The name of a file is asked of the kernel (/proc/self/fd), which knows it after a rename, too.
#include "pool/mount/tree/inode_trimmer.hpp"

#include <chrono>
#include <cstdio>
#include <fcntl.h>
#include <sys/stat.h>

namespace forebay::mount {

namespace {

// So many names are asked for while no inode can be added.
constexpr std::size_t files_at_once = 128;
constexpr auto room_wait = std::chrono::seconds{1};
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

void InodeTrimmer::start(fuse_session* session, std::size_t descriptors_max) {
    session_ = session;
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

void InodeTrimmer::wait_for_room() {
    if (!thread_.joinable()) {
        return;
    }
    wake();
    std::unique_lock lock{mutex_};
    if (std::chrono::steady_clock::now() >= useless_until_) {
        trimmed_.wait_for(lock, room_wait, [this, seen = passes_] { return passes_ != seen; });
    }
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
        news_.wait_for(lock, pass_pause, [this] { return ends_; });
    }
}

std::size_t InodeTrimmer::trim() {
    const std::size_t low = high_ / 2;
    std::size_t asked = 0;
    // Once around the table at most: the kernel's answers come later.
    for (std::size_t seen = 0; seen < high_ && inodes_.size() > low; seen += files_at_once) {
        for (const std::string& path : inodes_.unused_files(files_at_once)) {
            forget(path);
            ++asked;
        }
    }
    return asked;
}

void InodeTrimmer::forget(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash);
    const std::string name = path.substr(slash == std::string::npos ? 0 : slash + 1);
    const OwnFd parent{::openat(inodes_.at(FUSE_ROOT_ID).path.get(), folder.c_str(),
                                O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};
    struct stat found{};
    if (!parent.valid() || ::fstat(parent.get(), &found) != 0) {
        return;
    }
    const fuse_ino_t number = inodes_.number_of(key_of(parent.get(), found));
    if (number != 0) {
        fuse_lowlevel_notify_inval_entry(session_, number, name.data(), name.size());
    }
}

}  // namespace forebay::mount
