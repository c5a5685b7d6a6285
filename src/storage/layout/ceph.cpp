// Decodes and encodes CephFS's layout attributes.
#include "storage/layout/ceph.hpp"

#include "storage/layout/refusal.hpp"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <limits>
#include <optional>

namespace forebay::layout {

namespace {

constexpr std::int64_t ceph_stripe_unit = 64 << 10;
constexpr std::int64_t object_bytes_max = 128 << 20;  // osd_max_object_size
constexpr std::int64_t default_bytes = 4 << 20;
constexpr std::int32_t ceph_stripes_max = 65536;

constexpr LayoutRefusal ceph_refusal{"CephFS", "ceph.file.layout", "getfattr -n ceph.file.layout"};

// The value of `name` in a text of "name=value" words separated by blanks.
std::optional<std::string_view> field(std::string_view text, std::string_view name) {
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(' '), text.size());
        const std::string_view word = text.substr(0, end);
        if (word.size() > name.size() && word.starts_with(name) && word[name.size()] == '=') {
            return word.substr(name.size() + 1);
        }
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return std::nullopt;
}

template <class Number>
std::optional<Number> number(std::string_view text, std::string_view name) {
    const auto digits = field(text, name);
    if (!digits) {
        return std::nullopt;
    }
    Number value{};
    const auto [end, problem] = std::from_chars(digits->begin(), digits->end(), value);
    const bool whole = problem == std::errc{} && end == digits->end();
    return whole && value > 0 ? std::optional(value) : std::nullopt;
}

std::int64_t fitting_object(std::int64_t stripe, std::int64_t object) noexcept {
    return (object + stripe - 1) / stripe * stripe;
}

Component component_of(std::int64_t stripe, std::int32_t count, std::int64_t object) {
    Component component;
    component.stripe_bytes = stripe;
    component.stripe_count = count;
    component.object_bytes = object;
    return component;
}

}  // namespace

FileLayout ceph_default() {
    return {LayoutSource::ceph, {component_of(default_bytes, 1, default_bytes)}};
}

Result<FileLayout> parse_ceph(std::string_view text) {
    while (!text.empty() && text.back() == '\0') {
        text.remove_suffix(1);
    }
    const auto stripe = number<std::int64_t>(text, "stripe_unit");
    const auto count = number<std::int32_t>(text, "stripe_count");
    const auto object = number<std::int64_t>(text, "object_size");
    if (!stripe || !count || !object) {
        return ceph_refusal.unreadable("lacks stripe_unit, stripe_count or object_size");
    }
    if (*object % *stripe != 0 || *object > std::numeric_limits<std::uint32_t>::max()) {
        return ceph_refusal.unreadable(
            "has objects that are no multiple of its stripes, or too large");
    }
    Component component = component_of(*stripe, *count, *object);
    component.pool = field(text, "pool").value_or("");
    return FileLayout{LayoutSource::ceph, {std::move(component)}};
}

Result<std::string> encode_ceph(const WantedLayout& wanted, const FileLayout& now) {
    const Component before =
        now.components.empty() ? ceph_default().components.front() : now.components.front();
    const std::int64_t stripe =
        wanted.stripe_bytes == 0 ? before.stripe_bytes : wanted.stripe_bytes;
    const std::int32_t count = wanted.stripe_count == 0 ? before.stripe_count : wanted.stripe_count;
    if (stripe <= 0 || stripe % ceph_stripe_unit != 0 || stripe > object_bytes_max) {
        return ceph_refusal.impossible(fmt::format("stripes of {} bytes", stripe),
                                       "Ask for a multiple of 64 KiB up to 128 MiB.");
    }
    if (count < 1 || count > ceph_stripes_max) {
        return ceph_refusal.impossible(
            count == all_targets ? "stripes over all targets" : fmt::format("{} stripes", count),
            "Ask for 1 to 65536; CephFS does not know how many targets there are.");
    }
    if (wanted.first_ost >= 0) {
        return ceph_refusal.impossible("a first target",
                                       "CephFS chooses its targets itself; leave it out.");
    }
    const std::int64_t object = fitting_object(stripe, before.object_bytes);
    if (object > std::max(object_bytes_max, before.object_bytes)) {
        return ceph_refusal.impossible(
            fmt::format("stripes of {} bytes in objects of {}", stripe, object),
            "Ask for a power of two.");
    }
    std::string text =
        fmt::format("stripe_unit={} stripe_count={} object_size={}", stripe, count, object);
    if (!wanted.pool.empty()) {
        text += " pool=" + wanted.pool;
    }
    return text;
}

}  // namespace forebay::layout
