// The list of pool paths (setting pool_paths), and whether a path lies below one of them, by
// comparing text only.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace forebay::capture {

class PoolPaths {
public:
    static constexpr std::size_t folders_max = 16;
    static constexpr std::size_t text_max = 4096;

    constexpr PoolPaths() noexcept = default;
    PoolPaths(const PoolPaths&) = delete;
    PoolPaths& operator=(const PoolPaths&) = delete;
    ~PoolPaths() = default;

    // Parses absolute directories with symbolic links resolved, separated by commas. Returns the
    // number of directories left out because they are not absolute or do not fit.
    std::size_t set(std::string_view folders) noexcept;
    [[nodiscard]] bool none() const noexcept { return count_ == 0; }
    // Whether an absolute path is one of the directories or lies below one, by its characters. The
    // caller has resolved ".." and symbolic links.
    [[nodiscard]] bool hold(std::string_view path) const noexcept;
    [[nodiscard]] std::string_view folder(std::size_t number) const noexcept;
    [[nodiscard]] std::size_t count() const noexcept { return count_; }

private:
    struct Range {
        std::uint16_t begin = 0;
        std::uint16_t length = 0;
    };
    std::array<char, text_max> text_{};
    std::array<Range, folders_max> folders_{};
    std::size_t count_ = 0;
};

}  // namespace forebay::capture
