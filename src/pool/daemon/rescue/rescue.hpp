// Bytes that could not be written to their file are kept in a file of another folder, from which
// `forebay pool rescue` writes them later (schema/rescue.md).
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

// Bytes of a file that lie together in memory.
struct RescueRun {
    std::int64_t offset = 0;
    std::span<const std::byte> bytes;
};

// Where the deposits lie. Deposits that lie nowhere are left out.
[[nodiscard]] std::vector<RescueRun> bytes_of(const pool::Directory& directory,
                                              const SharedLogMemory& memory,
                                              std::span<const pool::Deposit> deposits);

// As zlib's crc32: `before` is that of the bytes in front.
[[nodiscard]] std::uint32_t crc32(std::span<const std::byte> bytes,
                                  std::uint32_t before = 0) noexcept;

// Which file the bytes belong to, and why they are not there.
struct RescueOf {
    std::string path;
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    int error = 0;  // errno
};
[[nodiscard]] RescueOf rescue_of(const pool::FileSlot& file);

class RescueFolder {
public:
    // The first of the folders that takes a file gets a folder forebay-rescue-PROCESS-NUMBER. A
    // program that changes a file after `now_ns` (the calendar's) may have written anew what is
    // kept here.
    RescueFolder(std::vector<std::string> folders, std::int64_t now_ns)
        : candidates_{std::move(folders)}, now_ns_{now_ns} {}

    // Tells where the bytes are now, or why they are nowhere.
    [[nodiscard]] RescuedFile keep(const RescueOf& file, std::span<const RescueRun> runs);

private:
    [[nodiscard]] Result<void> make_folder_in(const std::string& candidate);

    std::vector<std::string> candidates_;
    std::int64_t now_ns_;
    std::string in_;    // the candidate that the folder is in; empty: it is not made yet
    std::string path_;  // the folder's
    OwnFd folder_;
    int files_ = 0;
};

}  // namespace forebay::daemon
