// Has the kernel forget files of the mount that nobody has open, before the descriptors run out
// that the table of inodes holds for them. A thread of its own does it: before Linux 6.18 a file is
// forgotten by its name, and the kernel answers only when no request about the folder is in flight,
// so that no serving thread may ask it.
#pragma once

#include "pool/mount/serving/fuse.hpp"
#include "pool/mount/tree/inodes.hpp"

#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <sys/types.h>
#include <thread>
#include <vector>

namespace forebay::mount {

class InodeTrimmer {
public:
    explicit InodeTrimmer(InodeTable& inodes) noexcept : inodes_{inodes} {}
    InodeTrimmer(const InodeTrimmer&) = delete;
    InodeTrimmer& operator=(const InodeTrimmer&) = delete;
    ~InodeTrimmer();

    // Starts the thread. Inodes are trimmed once they take half of `descriptors_max`, until they
    // take a quarter. `waits_for_folders`: it may wait for a folder that is in use.
    void start(fuse_session* session, std::size_t descriptors_max, bool waits_for_folders);
    // Whether so many descriptors are taken that no inode should be added without need.
    [[nodiscard]] bool is_short() const noexcept { return inodes_.size() > high_; }
    // To be called after an inode was added.
    void added() {
        if (is_short()) {
            wake();
        }
    }
    // A request about a name, for which no descriptor was left.
    struct NameRequest {
        pid_t caller = 0;  // the thread
        fuse_ino_t parent = 0;
        std::string name;
        bool operator==(const NameRequest&) const = default;
    };
    // Whether the request is to be answered with ESTALE. The kernel forgets no file of a folder
    // while a request about the folder waits; at this error it lets go of the folder, and a path
    // is looked up once more. The second time there is no such answer.
    [[nodiscard]] bool comes_again(const NameRequest& request);
    // To be called when it has come again, and has found a descriptor.
    void has_come(const NameRequest& request);
    // Calls `attempt` again and again, while it returns EMFILE, for a second at most. Returns what
    // it returned last.
    template <class Attempt>
    [[nodiscard]] int with_room(const Attempt& attempt) {
        const auto until = std::chrono::steady_clock::now() + room_wait;
        wake();
        int error = attempt();
        while (error == EMFILE && waits(until)) {
            error = attempt();
        }
        return error;
    }

private:
    using Clock = std::chrono::steady_clock;
    static constexpr auto room_wait = std::chrono::seconds{1};

    // Waits for a pass, or a moment. False: it is `until`, or waiting helps nobody.
    [[nodiscard]] bool waits(Clock::time_point until);
    void wake();
    void run();
    // Asks the kernel to forget files. Returns how many.
    std::size_t trim();
    // The same for some files that nobody has open.
    std::size_t forget_some();
    // Has the kernel forget the name `path`, which is below the root, and so its file.
    void forget(const std::string& path);

    InodeTable& inodes_;
    fuse_session* session_ = nullptr;
    bool by_number_ = true;  // the kernel forgets files by number
    std::size_t high_ = SIZE_MAX;
    std::mutex mutex_;
    std::condition_variable news_;
    std::condition_variable trimmed_;
    std::uint64_t passes_ = 0;
    // Until then no pass is waited for, since the last one found all files in use.
    Clock::time_point useless_until_;
    struct SentBack {
        NameRequest request;
        Clock::time_point at;
    };
    std::vector<SentBack> sent_back_;          // one of a thread at most
    std::atomic<std::size_t> sent_count_ = 0;  // its size
    bool wanted_ = false;
    bool ends_ = false;
    bool told_ = false;
    std::thread thread_;
};

}  // namespace forebay::mount
