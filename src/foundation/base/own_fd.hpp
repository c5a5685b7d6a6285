// A file descriptor with one owner, which closes it.
#pragma once

#include "foundation/base/result.hpp"

#include <string>
#include <utility>

namespace forebay {

class OwnFd {
public:
    OwnFd() noexcept = default;
    explicit OwnFd(int fd) noexcept : fd_(fd) {}
    OwnFd(OwnFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    OwnFd& operator=(OwnFd&& other) noexcept;
    OwnFd(const OwnFd&) = delete;
    OwnFd& operator=(const OwnFd&) = delete;
    ~OwnFd();

    [[nodiscard]] int get() const noexcept { return fd_; }
    [[nodiscard]] bool valid() const noexcept { return fd_ >= 0; }

    // Closes the descriptor and returns the kernel's error: NFS and Lustre report late write errors
    // here.
    Result<void> close(const std::string& path);

private:
    int fd_ = -1;
};

}  // namespace forebay
