// Compares stamps, and applies git's rule for racily clean files.
#include "tier/catalogue/version_stamp.hpp"

#include <algorithm>

namespace forebay::tier {

namespace {

constexpr std::int64_t second_ns = 1'000'000'000;
// File times advance by the timer's tick, 10 ms at most; doubled. Where both times are whole
// seconds the file system keeps no more than seconds (FAT: two).
constexpr std::int64_t tick_ns = 20'000'000;
constexpr std::int64_t coarse_tick_ns = 2 * second_ns;

bool differ(std::uint64_t a, std::uint64_t b) noexcept { return a != 0 && b != 0 && a != b; }

}  // namespace

bool is_racy(const VersionStamp& stamp) noexcept {
    const bool coarse = stamp.modified_ns % second_ns == 0 && stamp.changed_ns % second_ns == 0;
    // A later change would set both times, so that one of them being old is enough.
    const std::int64_t older = std::min(stamp.modified_ns, stamp.changed_ns);
    return older > stamp.taken_ns - (coarse ? coarse_tick_ns : tick_ns);
}

StampVerdict compare_stamps(const VersionStamp& known, const VersionStamp& found) noexcept {
    if (known.inode != found.inode || differ(known.file_system, found.file_system)) {
        return StampVerdict::other_file;
    }
    if (known.bytes != found.bytes || known.modified_ns != found.modified_ns) {
        return StampVerdict::contents;
    }
    if (known.changed_ns != found.changed_ns || differ(known.change_cookie, found.change_cookie) ||
        known.layout_generation != found.layout_generation) {
        return StampVerdict::attributes;
    }
    return is_racy(known) ? StampVerdict::racy : StampVerdict::same;
}

}  // namespace forebay::tier
