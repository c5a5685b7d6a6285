// Has the kernel forget files of the mount that nobody has open, before the descriptors run out
// that the table of inodes holds for them. A thread of its own does it: the kernel answers only
// when no request about the directory is in flight, so that no serving thread may ask it.
#pragma once

#include "pool/mount/serving/fuse.hpp"
#include "pool/mount/tree/inodes.hpp"

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

namespace forebay::mount {

class InodeTrimmer {
public:
    explicit InodeTrimmer(InodeTable& inodes) noexcept : inodes_{inodes} {}
    InodeTrimmer(const InodeTrimmer&) = delete;
    InodeTrimmer& operator=(const InodeTrimmer&) = delete;
    ~InodeTrimmer();

    // Starts the thread. Inodes are trimmed once they take half of `descriptors_max`, until they
    // take a quarter.
    void start(fuse_session* session, std::size_t descriptors_max);
    // Whether so many descriptors are taken that no inode should be added without need.
    [[nodiscard]] bool is_short() const noexcept { return inodes_.size() > high_; }
    // To be called after an inode was added.
    void added() {
        if (is_short()) {
            wake();
        }
    }
    // To be called when no descriptor was left: waits a while until the kernel was asked to forget
    // files. It does not forget those of a folder while a request about that folder waits, so that
    // this helps only where the request is about another one.
    void wait_for_room();

private:
    void wake();
    void run();
    // Asks the kernel to forget files. Returns how many.
    std::size_t trim();
    // Has the kernel forget the name `path`, which is below the root, and so its file.
    void forget(const std::string& path);

    InodeTable& inodes_;
    fuse_session* session_ = nullptr;
    std::size_t high_ = SIZE_MAX;
    std::mutex mutex_;
    std::condition_variable news_;
    std::condition_variable trimmed_;
    std::uint64_t passes_ = 0;
    // Until then no pass is waited for, since the last one found all files in use.
    std::chrono::steady_clock::time_point useless_until_;
    bool wanted_ = false;
    bool ends_ = false;
    bool told_ = false;
    std::thread thread_;
};

}  // namespace forebay::mount
