// Reading a file that has deposits: what the file system has, and what is newer laid over it.
#pragma once

#include "pool/client/daemon.hpp"
#include "pool/shared/search.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace forebay::pool {

// The file itself, below the pool.
class Backing {
public:
    Backing(const Backing&) = delete;
    Backing& operator=(const Backing&) = delete;

    // As pread: bytes read, or minus an errno.
    [[nodiscard]] virtual std::int64_t read(std::int64_t offset,
                                            std::span<std::byte> bytes) noexcept = 0;
    // False: these bytes of a program's memory cannot be written to. Asked before deposits are
    // copied there.
    [[nodiscard]] virtual bool may_fill(std::span<std::byte> bytes) noexcept {
        static_cast<void>(bytes);
        return true;
    }

protected:
    Backing() noexcept = default;
    ~Backing() = default;
};

class Reader {
public:
    Reader(const Directory& directory, Daemon& daemon) noexcept
        : directory_{directory}, daemon_{daemon} {}
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;
    ~Reader() = default;

    // Sees everything that any process of the node had written to the file before. Bytes read,
    // fewer at the file's end only, or minus an errno: the file's own, or EIO when the daemon is
    // dead.
    [[nodiscard]] std::int64_t read(FileId file, Backing& backing, std::int64_t offset,
                                    std::span<std::byte> bytes) noexcept;
    // One past the last byte that was deposited, 0 without deposits; minus EIO: the daemon is dead.
    [[nodiscard]] std::int64_t deposited_size(FileId file) noexcept;

private:
    [[nodiscard]] bool catch_up(const FileSlot& slot) noexcept;
    [[nodiscard]] bool catch_up_with(std::uint32_t client) noexcept;
    [[nodiscard]] std::int64_t look(const FileSlot& slot, Backing& backing, std::int64_t offset,
                                    std::span<std::byte> bytes) noexcept;
    [[nodiscard]] bool still_there(const FileSlot& slot, const Extent& range,
                                   std::span<const Deposit> before) const noexcept;
    [[nodiscard]] bool copy(const Deposit& deposit, std::byte* to) noexcept;

    const Directory& directory_;
    Daemon& daemon_;
};

}  // namespace forebay::pool
