// Names of replicas as text.
#include "tier/catalogue/replica_list.hpp"

#include <charconv>
#include <fmt/format.h>

namespace forebay::tier {

std::string text_of(const ReplicaName& name) {
    return fmt::format("{:x}-{:x}", name.file_system, name.inode);
}

std::optional<ReplicaName> parse_replica_name(std::string_view text) {
    constexpr int hexadecimal = 16;
    ReplicaName name;
    const char* const begin = text.data();
    const char* const end = begin + text.size();
    const auto first = std::from_chars(begin, end, name.file_system, hexadecimal);
    if (first.ec != std::errc{} || first.ptr == end || *first.ptr != '-') {
        return std::nullopt;
    }
    const auto second = std::from_chars(first.ptr + 1, end, name.inode, hexadecimal);
    // Only the text that text_of() makes: no leading zeros, no capitals.
    const bool whole = second.ec == std::errc{} && second.ptr == end && text_of(name) == text;
    return whole ? std::optional{name} : std::nullopt;
}

}  // namespace forebay::tier
