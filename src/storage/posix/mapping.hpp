// A memory mapping with one owner. Pages are zero at first, and take memory only when touched.
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

    // Private memory, which forked children inherit.
    [[nodiscard]] static Result<MemoryMapping> anonymous(std::size_t bytes);
    // The first `bytes` of an open file, mapped shared. The descriptor may be closed afterwards.
    [[nodiscard]] static Result<MemoryMapping> of_file(int fd, std::size_t bytes);

    [[nodiscard]] std::span<std::byte> bytes() const noexcept { return bytes_; }
    // Frees the pages at or above byte `from`, for all processes that share them; they read as
    // zeros again.
    void give_back(std::size_t from) noexcept;

private:
    explicit MemoryMapping(std::span<std::byte> bytes) noexcept : bytes_{bytes} {}
    static Result<MemoryMapping> map(int fd, int flags, std::size_t bytes);

    std::span<std::byte> bytes_;
};

}  // namespace forebay::adapters
