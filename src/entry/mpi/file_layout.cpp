// See file_layout.hpp. Source: lov_user_md_v1 of Lustre's lustre_user.h (wire format).
#include "entry/mpi/file_layout.hpp"

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <sys/xattr.h>
#include <vector>

namespace forebay::entry {

namespace {

constexpr std::size_t attribute_bytes_max = 65536;
constexpr std::size_t attribute_bytes_usual = 1024;  // on most file systems there is none
constexpr std::uint32_t magic_v1 = 0x0BD10BD0;
constexpr std::uint32_t magic_v3 = 0x0BD30BD0;
constexpr std::size_t stripe_size_at = 24;  // after magic, pattern, object id and sequence
constexpr std::size_t stripe_count_at = 28;
constexpr std::size_t header_bytes = 32;

template <class Number>
Number number_at(std::span<const std::byte> value, std::size_t at) noexcept {
    Number number{};
    std::memcpy(&number, value.data() + at, sizeof number);
    return number;
}

}  // namespace

std::optional<plan::Layout> parse_lustre_lov(std::span<const std::byte> value) {
    if (value.size() < header_bytes) {
        return std::nullopt;
    }
    const auto magic = number_at<std::uint32_t>(value, 0);
    const auto stripe_bytes = number_at<std::uint32_t>(value, stripe_size_at);
    const auto stripes = number_at<std::uint16_t>(value, stripe_count_at);
    if ((magic != magic_v1 && magic != magic_v3) || stripe_bytes == 0 || stripes == 0 ||
        stripes == 0xFFFF) {
        return std::nullopt;
    }
    return plan::Layout{stripes, stripe_bytes};
}

plan::Layout layout_of_file(const std::string& path) {
    std::vector<std::byte> value(attribute_bytes_usual);
    ssize_t got = ::getxattr(path.c_str(), "lustre.lov", value.data(), value.size());
    if (got < 0 && errno == ERANGE) {
        value.resize(attribute_bytes_max);
        got = ::getxattr(path.c_str(), "lustre.lov", value.data(), value.size());
    }
    if (got <= 0) {
        return {};
    }
    const auto layout = parse_lustre_lov(std::span(value).first(static_cast<std::size_t>(got)));
    return layout.value_or(plan::Layout{});
}

}  // namespace forebay::entry
