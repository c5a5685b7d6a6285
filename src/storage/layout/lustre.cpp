// Decodes and encodes Lustre's layouts. Offsets of the fields, in bytes from the start of a value:
//
//   plain, version 1 and 3                      composite
//   0   magic                                   0   magic
//   4   pattern                                 4   bytes of all
//   8   object and sequence (16)                14  number of entries (2)
//   24  stripe bytes                            32  entries, 48 bytes each:
//   28  stripe count (2)                              0   mirror (upper half) and number
//   30  first target, or generation (2)               4   flags
//   32  version 3: name of the pool (16)              8   begin (8), end (8)
//   32 or 48  targets, 24 bytes each:                 24  where its plain value lies
//         20  index                                   28  bytes of that value
#include "storage/layout/lustre.hpp"

#include "storage/layout/refusal.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <limits>

namespace forebay::layout {

namespace {

using Bytes = std::span<const std::byte>;

constexpr std::uint32_t magic_v1 = 0x0BD10BD0;
constexpr std::uint32_t magic_v3 = 0x0BD30BD0;
constexpr std::uint32_t magic_specific = 0x0BD50BD0;  // version 3 with targets that the user chose
constexpr std::uint32_t magic_composite = 0x0BD60BD0;
constexpr std::uint32_t magic_foreign = 0x0BD70BD0;
constexpr std::uint32_t magic_self_extending = 0x0BD80BD0;  // composite, with extensions

constexpr std::size_t pattern_at = 4;
constexpr std::size_t stripe_bytes_at = 24;
constexpr std::size_t stripe_count_at = 28;
constexpr std::size_t first_at = 30;
constexpr std::size_t pool_at = 32;
constexpr std::size_t pool_bytes = 16;
constexpr std::size_t header_v1 = 32;
constexpr std::size_t header_v3 = header_v1 + pool_bytes;
constexpr std::size_t ost_bytes = 24;
constexpr std::size_t ost_index_at = 20;

constexpr std::size_t all_bytes_at = 4;
constexpr std::size_t entry_count_at = 14;
constexpr std::size_t entries_at = 32;
constexpr std::size_t entry_bytes = 48;
constexpr std::size_t flags_at = 4;
constexpr std::size_t begin_at = 8;
constexpr std::size_t end_at = 16;
constexpr std::size_t value_at = 24;
constexpr std::size_t value_bytes_at = 28;

constexpr std::uint32_t pattern_default = 0xFFFFFFFF;
constexpr std::uint32_t pattern_striped = 0x001;
constexpr std::uint32_t pattern_metadata = 0x100;
constexpr std::uint32_t pattern_overstriped = 0x200;
constexpr std::uint32_t pattern_foreign = 0x400;
constexpr std::uint32_t pattern_compressed = 0x800;
constexpr std::uint32_t pattern_kinds = 0x0000FFFF;
constexpr std::uint32_t pattern_released = 0x80000000;

constexpr std::uint32_t flag_stale = 0x001;
constexpr std::uint32_t flag_preferred = 0x004;  // for writes
constexpr std::uint32_t flag_initialised = 0x010;
constexpr std::uint32_t flag_extension = 0x040;
constexpr std::uint32_t flag_parity = 0x080;
constexpr std::uint32_t mirror_mask = 0x7FFF;

constexpr std::uint16_t every_target = 0xFFFF;
constexpr std::uint16_t any_target = 0xFFFF;
constexpr std::int32_t lustre_stripes_max = 2000;
constexpr std::int64_t lustre_stripe_unit = 64 << 10;
constexpr std::uint64_t eof_on_the_wire = std::numeric_limits<std::uint64_t>::max();

// Contract: the value has these bytes.
template <class Number>
Number number_at(Bytes value, std::size_t at) noexcept {
    std::uint64_t number = 0;
    for (std::size_t i = 0; i < sizeof(Number); ++i) {
        number |= std::to_integer<std::uint64_t>(value[at + i]) << (8 * i);
    }
    return static_cast<Number>(number);
}

template <class Number>
void put(std::vector<std::byte>& value, std::size_t at, Number number) noexcept {
    for (std::size_t i = 0; i < sizeof(Number); ++i) {
        value[at + i] = static_cast<std::byte>(static_cast<std::uint64_t>(number) >> (8 * i));
    }
}

constexpr LayoutRefusal lustre_refusal{"Lustre", "lustre.lov", "lfs getstripe"};

Result<DataPlacement> placement_of(std::uint32_t pattern) {
    constexpr std::uint32_t striped = pattern_striped | pattern_overstriped | pattern_compressed;
    if (pattern == pattern_default) {
        return DataPlacement::striped;
    }
    const std::uint32_t kinds = pattern & pattern_kinds;
    if ((kinds & pattern_foreign) != 0) {
        return DataPlacement::foreign;
    }
    if ((kinds & ~(striped | pattern_metadata)) != 0) {
        return lustre_refusal.unreadable(fmt::format("has the unknown pattern {:#x}", pattern));
    }
    if ((pattern & pattern_released) != 0) {
        return DataPlacement::released;
    }
    return (kinds & pattern_metadata) != 0 ? DataPlacement::metadata : DataPlacement::striped;
}

std::string pool_of(Bytes value) {
    std::string pool;
    for (const std::byte byte : value.subspan(pool_at, pool_bytes)) {
        if (byte == std::byte{0}) {
            break;
        }
        pool += static_cast<char>(byte);
    }
    return pool;
}

// The targets (OSTs) of the stripes. A directory's default, and a component whose targets are not
// chosen yet, have a header only.
Result<std::vector<std::int32_t>> osts_of(Bytes value, std::size_t header, std::size_t count) {
    std::vector<std::int32_t> osts;
    if (value.size() == header) {
        return osts;
    }
    if (value.size() < header + count * ost_bytes) {
        return lustre_refusal.unreadable(
            fmt::format("ends after {} bytes, within its {} targets", value.size(), count));
    }
    for (std::size_t i = 0; i < count; ++i) {
        const auto index = number_at<std::uint32_t>(value, header + i * ost_bytes + ost_index_at);
        osts.push_back(static_cast<std::int32_t>(index));
    }
    return osts;
}

Result<Component> parse_plain(Bytes value) {
    const auto magic = number_at<std::uint32_t>(value, 0);
    const bool has_pool = magic == magic_v3 || magic == magic_specific;
    if (magic != magic_v1 && !has_pool) {
        return lustre_refusal.unreadable(fmt::format("is of the unknown version {:#010x}", magic));
    }
    const std::size_t header = has_pool ? header_v3 : header_v1;
    if (value.size() < header) {
        return lustre_refusal.unreadable(
            fmt::format("ends after {} of {} bytes", value.size(), header));
    }
    const auto placement = placement_of(number_at<std::uint32_t>(value, pattern_at));
    if (!placement) {
        return failure(placement.error());
    }
    const auto count = number_at<std::uint16_t>(value, stripe_count_at);
    Component component;
    component.placement = *placement;
    component.stripe_bytes = number_at<std::uint32_t>(value, stripe_bytes_at);
    component.stripe_count = count == every_target ? all_targets : std::int32_t{count};
    if (has_pool) {
        component.pool = pool_of(value);
    }
    if (*placement == DataPlacement::striped && count != every_target) {
        auto osts = osts_of(value, header, count);
        if (!osts) {
            return failure(osts.error());
        }
        component.osts = std::move(*osts);
        if (!component.osts.empty() && component.stripe_bytes == 0) {
            return lustre_refusal.unreadable("has stripes of 0 bytes");
        }
    }
    return component;
}

Component foreign() {
    Component component;
    component.placement = DataPlacement::foreign;
    return component;
}

// Contract: the value has at least four bytes.
Result<Component> parse_value(Bytes value) {
    return number_at<std::uint32_t>(value, 0) == magic_foreign ? foreign() : parse_plain(value);
}

std::int64_t position(std::uint64_t number) noexcept {
    return static_cast<std::int64_t>(
        std::min(number, static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())));
}

ComponentRole role_of(std::uint32_t flags) noexcept {
    if ((flags & flag_extension) != 0) {
        return ComponentRole::extension;
    }
    return (flags & flag_parity) != 0 ? ComponentRole::parity : ComponentRole::data;
}

Result<Component> parse_entry(Bytes all, std::size_t number) {
    const Bytes entry = all.subspan(entries_at + number * entry_bytes, entry_bytes);
    const std::size_t at = number_at<std::uint32_t>(entry, value_at);
    const std::size_t bytes = number_at<std::uint32_t>(entry, value_bytes_at);
    if (at > all.size() || bytes > all.size() - at || bytes < sizeof(std::uint32_t)) {
        return lustre_refusal.unreadable(fmt::format("has its component {} at bytes {} to {} of {}",
                                                     number, at, at + bytes, all.size()));
    }
    const auto begin = number_at<std::uint64_t>(entry, begin_at);
    const auto end = number_at<std::uint64_t>(entry, end_at);
    if (begin > end || begin == eof_on_the_wire) {
        return lustre_refusal.unreadable(
            fmt::format("has a component {} from {} to {}", number, begin, end));
    }
    auto component = parse_value(all.subspan(at, bytes));
    if (!component) {
        return component;
    }
    const auto flags = number_at<std::uint32_t>(entry, flags_at);
    component->begin = position(begin);
    component->end = position(end);
    component->role = role_of(flags);
    component->initialised = (flags & flag_initialised) != 0;
    component->stale = (flags & flag_stale) != 0;
    component->preferred = (flags & flag_preferred) != 0;
    component->mirror =
        static_cast<std::int32_t>((number_at<std::uint32_t>(entry, 0) >> 16) & mirror_mask);
    return component;
}

Result<FileLayout> parse_composite(Bytes value) {
    if (value.size() < entries_at) {
        return lustre_refusal.unreadable(
            fmt::format("ends after {} of {} bytes", value.size(), entries_at));
    }
    const std::size_t all = number_at<std::uint32_t>(value, all_bytes_at);
    const std::size_t entries = number_at<std::uint16_t>(value, entry_count_at);
    if (all > value.size()) {
        return lustre_refusal.unreadable(
            fmt::format("ends after {} of {} bytes", value.size(), all));
    }
    if (entries == 0 || all < entries_at + entries * entry_bytes) {
        return lustre_refusal.unreadable(
            fmt::format("has {} components in {} bytes", entries, all));
    }
    FileLayout layout{LayoutSource::lustre, {}};
    layout.components.reserve(entries);
    for (std::size_t i = 0; i < entries; ++i) {
        auto component = parse_entry(value.first(all), i);
        if (!component) {
            return failure(component.error());
        }
        layout.components.push_back(std::move(*component));
    }
    return layout;
}

Result<void> check(const WantedLayout& wanted) {
    if (wanted.stripe_bytes < 0 || wanted.stripe_bytes % lustre_stripe_unit != 0 ||
        wanted.stripe_bytes > std::numeric_limits<std::uint32_t>::max()) {
        return lustre_refusal.impossible(fmt::format("stripes of {} bytes", wanted.stripe_bytes),
                                         "Ask for a multiple of 64 KiB below 4 GiB.");
    }
    if (wanted.stripe_count < all_targets || wanted.stripe_count > lustre_stripes_max) {
        return lustre_refusal.impossible(fmt::format("{} stripes", wanted.stripe_count),
                                         "Ask for 1 to 2000, or -1 for all targets.");
    }
    if (wanted.first_ost >= any_target) {
        return lustre_refusal.impossible(fmt::format("first target {}", wanted.first_ost),
                                         "Ask for an index that `lfs osts` lists.");
    }
    if (wanted.pool.size() >= pool_bytes) {
        return lustre_refusal.impossible(fmt::format("pool \"{}\"", wanted.pool),
                                         "Names of pools have at most 15 characters.");
    }
    return {};
}

}  // namespace

Result<FileLayout> parse_lustre(std::span<const std::byte> value) {
    if (value.size() < sizeof(std::uint32_t)) {
        return lustre_refusal.unreadable(fmt::format("has {} bytes", value.size()));
    }
    const auto magic = number_at<std::uint32_t>(value, 0);
    if (magic == magic_composite || magic == magic_self_extending) {
        return parse_composite(value);
    }
    auto component = parse_value(value);
    if (!component) {
        return failure(component.error());
    }
    return FileLayout{LayoutSource::lustre, {std::move(*component)}};
}

Result<std::vector<std::byte>> encode_lustre(const WantedLayout& wanted) {
    if (const auto checked = check(wanted); !checked) {
        return failure(checked.error());
    }
    std::vector<std::byte> value(wanted.pool.empty() ? header_v1 : header_v3);
    put(value, 0, wanted.pool.empty() ? magic_v1 : magic_v3);
    put(value, pattern_at, pattern_striped);
    put(value, stripe_bytes_at, static_cast<std::uint32_t>(wanted.stripe_bytes));
    put(value, stripe_count_at, static_cast<std::uint16_t>(wanted.stripe_count));
    put(value, first_at,
        wanted.first_ost < 0 ? any_target : static_cast<std::uint16_t>(wanted.first_ost));
    std::ranges::transform(wanted.pool, value.begin() + pool_at,
                           [](char c) { return static_cast<std::byte>(c); });
    return value;
}

}  // namespace forebay::layout
