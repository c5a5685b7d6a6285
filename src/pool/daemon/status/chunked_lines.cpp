// Splits a line into parts. They are base64, so that no character and no escape sequence is split.
#include "pool/daemon/status/chunked_lines.hpp"

#include "foundation/base/contracts.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <sodium.h>

namespace forebay::daemon {

namespace {

// 800 characters in base64, so that a line stays below 1000.
constexpr std::size_t part_bytes = 600;

std::string encoded(std::string_view bytes) {
    expects(bytes.size() <= part_bytes, "the text has room for a part");
    constexpr int variant = sodium_base64_VARIANT_ORIGINAL;
    std::string text(sodium_base64_ENCODED_LEN(part_bytes, variant), '\0');
    ::sodium_bin2base64(text.data(), text.size(),
                        reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(),
                        variant);
    text.resize(text.find('\0'));
    return text;
}

}  // namespace

std::vector<std::string> in_parts(std::uint32_t node, std::string_view line) {
    const std::size_t count = std::max<std::size_t>((line.size() + part_bytes - 1) / part_bytes, 1);
    std::vector<std::string> parts;
    for (std::size_t part = 0; part < count; ++part) {
        parts.push_back(fmt::format(
            R"({{"schema":"forebay.pool.part/1","node":{},"part":{},"of":{},"base64":"{}"}})", node,
            part, count, encoded(line.substr(part * part_bytes, part_bytes))));
    }
    return parts;
}

}  // namespace forebay::daemon
