// Keeps bytes that could not be written to their file in a file elsewhere, from which `forebay pool
// rescue` can write them later (schema/rescue.md).
#pragma once

#include "foundation/base/own_fd.hpp"
#include "foundation/base/result.hpp"
#include "pool/daemon/memory/memory.hpp"
#include "pool/daemon/status/status.hpp"
#include "pool/protocol/directory.hpp"
#include "pool/protocol/search.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace forebay::daemon {

// A contiguous range of a file, whose bytes are contiguous in memory, too.
struct RescueRun {
    std::int64_t offset = 0;
    std::span<const std::byte> bytes;
};

// The bytes of deposits in their logs. Deposits whose log does not exist any more are left out.
[[nodiscard]] std::vector<RescueRun> bytes_of(const pool::Directory& directory,
                                              const SharedLogMemory& memory,
                                              std::span<const pool::Deposit> deposits);

// As zlib's crc32: `before` is the checksum of the bytes that precede these.
[[nodiscard]] std::uint32_t crc32(std::span<const std::byte> bytes,
                                  std::uint32_t before = 0) noexcept;

// Which file the bytes belong to, and why they are not in it.
struct RescueTarget {
    std::string path;
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    int error = 0;  // errno
};
[[nodiscard]] RescueTarget rescue_of(const pool::FileSlot& file);

class RescueFolder {
public:
    // Makes the directory forebay-rescue-PROCESS-NUMBER in the first of `folders` in which a file
    // can be written. `now_ns` (CLOCK_REALTIME) is recorded: a file that was modified later may
    // have newer bytes than those kept here.
    RescueFolder(std::vector<std::string> folders, std::int64_t now_ns)
        : candidates_{std::move(folders)}, now_ns_{now_ns} {}

    // Writes a rescue file. The result says where it is, or why no folder took it.
    [[nodiscard]] RescuedFile keep(const RescueTarget& file, std::span<const RescueRun> runs);

private:
    [[nodiscard]] Result<void> make_folder_in(const std::string& candidate);

    std::vector<std::string> candidates_;
    std::int64_t now_ns_;
    std::string in_;    // the candidate in which the directory was made; empty: not made yet
    std::string path_;  // path of the directory
    OwnFd folder_;
    int files_ = 0;
};

}  // namespace forebay::daemon
