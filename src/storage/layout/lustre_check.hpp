// For tests: builds values of lustre.lov field by field from the documented format (see
// lustre.cpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace forebay::layout::check {

class Image {
public:
    template <class Number>
    Image& add(Number number) {
        for (std::size_t i = 0; i < sizeof number; ++i) {
            bytes_.push_back(static_cast<std::byte>(static_cast<std::uint64_t>(number) >> (8 * i)));
        }
        return *this;
    }
    Image& u16(std::uint16_t number) { return add(number); }
    Image& u32(std::uint32_t number) { return add(number); }
    Image& u64(std::uint64_t number) { return add(number); }
    Image& zeros(std::size_t count) {
        bytes_.insert(bytes_.end(), count, std::byte{0});
        return *this;
    }
    Image& text(const std::string& text, std::size_t width) {
        for (const char c : text) {
            bytes_.push_back(static_cast<std::byte>(c));
        }
        return zeros(width - text.size());
    }
    Image& append(std::span<const std::byte> other) {
        bytes_.insert(bytes_.end(), other.begin(), other.end());
        return *this;
    }

    [[nodiscard]] const std::vector<std::byte>& bytes() const noexcept { return bytes_; }
    operator std::span<const std::byte>() const noexcept { return bytes_; }  // NOLINT

private:
    std::vector<std::byte> bytes_;
};

struct Plain {
    std::uint32_t magic = 0x0BD10BD0;
    std::uint32_t pattern = 1;
    std::uint32_t stripe_bytes = 1 << 20;
    std::uint16_t stripe_count = 1;
    std::string pool = {};
    std::vector<std::uint32_t> osts = {};
};

inline std::vector<std::byte> plain(const Plain& of) {
    Image image;
    image.u32(of.magic).u32(of.pattern).u64(0x1234).u64(0x5678);
    image.u32(of.stripe_bytes).u16(of.stripe_count).u16(0);
    if (of.magic != 0x0BD10BD0) {
        image.text(of.pool, 16);
    }
    for (const std::uint32_t index : of.osts) {
        image.u64(0x99).u64(0x77).u32(3).u32(index);
    }
    return image.bytes();
}

struct Entry {
    std::uint32_t id = 1;
    std::uint32_t flags = 0x10;  // initialised
    std::uint64_t begin = 0;
    std::uint64_t end = UINT64_MAX;
    std::vector<std::byte> value = {};
};

inline std::vector<std::byte> composite(const std::vector<Entry>& entries,
                                        std::uint32_t magic = 0x0BD60BD0) {
    std::uint32_t all = static_cast<std::uint32_t>(32 + 48 * entries.size());
    Image table;
    Image values;
    for (const Entry& one : entries) {
        const auto size = static_cast<std::uint32_t>(one.value.size());
        table.u32(one.id).u32(one.flags).u64(one.begin).u64(one.end).u32(all).u32(size);
        table.u32(0).u64(0).u32(0);
        values.append(one.value);
        all += size;
    }
    Image image;
    image.u32(magic).u32(all).u32(7).u16(0).u16(static_cast<std::uint16_t>(entries.size()));
    image.u16(0).zeros(14).append(table).append(values);
    return image.bytes();
}

}  // namespace forebay::layout::check
