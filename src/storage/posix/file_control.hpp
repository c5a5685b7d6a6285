// The port FileControl over a file descriptor: length, times, links and free space.
#pragma once

#include "foundation/base/own_fd.hpp"
#include "foundation/ports/file_control.hpp"

#include <sys/stat.h>
#include <sys/vfs.h>
#include <utility>

namespace forebay::adapters {

// Free bytes for unprivileged users (f_bavail), shared by all of them; a quota may end earlier.
// Negative: the file system does not count.
[[nodiscard]] std::int64_t room_of(const struct statfs& found) noexcept;

// The length of a file and the times of its last changes.
[[nodiscard]] ports::ChangeStamp stamp_of(const struct stat& found) noexcept;

class PosixFileControl final : public ports::FileControl {
public:
    explicit PosixFileControl(OwnFd fd) noexcept;
    // Uses a descriptor that it does not own, and that outlives it.
    explicit PosixFileControl(int fd) noexcept;

    [[nodiscard]] int truncate(Length bytes) override;
    [[nodiscard]] int sync() override;
    // Keeps the access time. EPERM if the file belongs to another user.
    [[nodiscard]] int set_modified(std::int64_t time_ns) override;
    // Always true for a file that had no link when this object was made (O_TMPFILE, or a file
    // system that does not count links).
    [[nodiscard]] bool has_name() override;
    [[nodiscard]] std::optional<ports::ChangeStamp> stamp() override;
    [[nodiscard]] std::int64_t room() override;

private:
    [[nodiscard]] bool named() const noexcept;

    OwnFd own_;
    int fd_;
    bool counts_names_;
};

}  // namespace forebay::adapters
