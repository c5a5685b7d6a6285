// Page-aligned memory, as O_DIRECT needs it; allocated and touched once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace forebay::measure {

class AlignedBytes {
public:
    static constexpr std::size_t alignment = 4096;

    AlignedBytes() = default;
    explicit AlignedBytes(std::size_t size) : memory_(size + alignment), size_(size) {
        const auto address = reinterpret_cast<std::uintptr_t>(memory_.data());
        skipped_ = (alignment - address % alignment) % alignment;
    }
    AlignedBytes(AlignedBytes&&) noexcept = default;
    AlignedBytes& operator=(AlignedBytes&&) noexcept = default;
    AlignedBytes(const AlignedBytes&) = delete;
    AlignedBytes& operator=(const AlignedBytes&) = delete;
    ~AlignedBytes() = default;

    [[nodiscard]] std::byte* data() noexcept { return memory_.data() + skipped_; }
    [[nodiscard]] const std::byte* data() const noexcept { return memory_.data() + skipped_; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] std::span<std::byte> bytes() noexcept { return {data(), size_}; }
    [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return {data(), size_}; }

private:
    std::vector<std::byte> memory_;
    std::size_t size_ = 0;
    std::size_t skipped_ = 0;
};

}  // namespace forebay::measure
