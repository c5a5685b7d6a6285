// Mapped memory with one owner. Pages are zero at first and take memory only once touched.
#pragma once

#include "foundation/base/result.hpp"

#include <cstddef>
#include <span>

namespace forebay::adapters {

class MemoryMapping {
public:
    MemoryMapping() noexcept = default;
    MemoryMapping(MemoryMapping&& other) noexcept;
    MemoryMapping& operator=(MemoryMapping&& other) noexcept;
    MemoryMapping(const MemoryMapping&) = delete;
    MemoryMapping& operator=(const MemoryMapping&) = delete;
    ~MemoryMapping();

    // Memory of this process and the children it forks.
    [[nodiscard]] static Result<MemoryMapping> anonymous(std::size_t bytes);
    // The first `bytes` of an open file, shared with all who map it. The descriptor may be closed
    // afterwards.
    [[nodiscard]] static Result<MemoryMapping> of_file(int fd, std::size_t bytes);

    [[nodiscard]] std::span<std::byte> bytes() const noexcept { return bytes_; }
    // Pages that lie at or above byte `from` go back to the system, for all who share them, and
    // read as zeros again.
    void give_back(std::size_t from) noexcept;

private:
    explicit MemoryMapping(std::span<std::byte> bytes) noexcept : bytes_{bytes} {}
    static Result<MemoryMapping> map(int fd, int flags, std::size_t bytes);

    std::span<std::byte> bytes_;
};

}  // namespace forebay::adapters
