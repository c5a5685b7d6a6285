// Which paths are below a pool path, and which file systems have any.
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

    // Absolute folders, already resolved, with commas between, as the setting pool_paths has them.
    // Returns how many it left out, since they do not fit or are not absolute.
    std::size_t set(std::string_view folders) noexcept;
    [[nodiscard]] bool none() const noexcept { return count_ == 0; }
    // An absolute path below one of the folders, or one of them, by its letters. ".." and links in
    // it are the caller's affair.
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
