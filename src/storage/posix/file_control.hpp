// An open file by its descriptor: its length, times, names and the room around it.
#pragma once

#include "foundation/base/own_fd.hpp"
#include "foundation/ports/file_control.hpp"

#include <sys/vfs.h>
#include <utility>

namespace forebay::adapters {

// Free space as the file system counts it for all its users together: a quota may end earlier.
// Negative: it counts nothing.
[[nodiscard]] std::int64_t room_of(const struct statfs& found) noexcept;

class PosixFileControl final : public ports::FileControl {
public:
    explicit PosixFileControl(OwnFd fd) noexcept;
    // Somebody else's descriptor, which outlives it.
    explicit PosixFileControl(int fd) noexcept;

    [[nodiscard]] int truncate(Length bytes) override;
    [[nodiscard]] int sync() override;
    // Its time of reading stays as it is. EPERM where the file is somebody else's.
    [[nodiscard]] int set_modified(std::int64_t time_ns) override;
    // Cannot tell for a file that never had a name (O_TMPFILE), or whose file system does not count
    // names.
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
