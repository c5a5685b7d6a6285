// Text format: one entry per line, "file_system targets stripe_bytes write|read k bytes_per_second
// found_s".
#include "storage/policy/known_limits.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <optional>

namespace forebay::plan {

namespace {

constexpr std::string_view schema = "forebay.limits/1";
constexpr std::size_t words_of_an_entry = 7;
using Words = std::array<std::string_view, words_of_an_entry>;

std::optional<Words> words_of(std::string_view line) {
    Words words;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::size_t end = std::min(line.find(' '), line.size());
        const bool last = i + 1 == words.size();
        if (end == 0 || (end == line.size()) != last) {
            return std::nullopt;
        }
        words[i] = line.substr(0, end);
        line.remove_prefix(std::min(end + 1, line.size()));
    }
    return words;
}

template <class Number>
bool read(std::string_view word, Number& number) {
    const auto [end, code] = std::from_chars(word.data(), word.data() + word.size(), number);
    return code == std::errc{} && end == word.data() + word.size();
}

std::optional<KnownLimit> parse_line(std::string_view line) {
    const auto words = words_of(line);
    KnownLimit entry;
    std::int64_t rate = 0;
    const bool understood = words && read((*words)[1], entry.key.layout.targets) &&
                            read((*words)[2], entry.key.layout.stripe_bytes) &&
                            ((*words)[3] == "write" || (*words)[3] == "read") &&
                            read((*words)[4], entry.found.limit) && read((*words)[5], rate) &&
                            read((*words)[6], entry.found_s) && entry.found.limit >= 1 &&
                            entry.found.limit <= Throttle::limit_max && rate > 0;
    if (!understood) {
        return std::nullopt;
    }
    entry.key.file_system = (*words)[0];
    entry.key.direction = (*words)[3] == "write" ? IoDirection::write : IoDirection::read;
    entry.found.rate = static_cast<double>(rate);
    return entry;
}

bool differ(const FoundLimit& a, const FoundLimit& b) noexcept {
    return a.limit != b.limit || a.rate > b.rate * Throttle::change ||
           b.rate > a.rate * Throttle::change;
}

}  // namespace

KnownLimits KnownLimits::parse(std::string_view text) {
    KnownLimits known;
    if (!text.starts_with(schema)) {
        return known;
    }
    while (!text.empty() && known.entries_.size() < entries_max) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        if (auto entry = parse_line(text.substr(0, end))) {
            known.entries_.push_back(std::move(*entry));
        }
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return known;
}

std::string KnownLimits::text() const {
    std::string text{schema};
    text += '\n';
    for (const KnownLimit& one : entries_) {
        text += fmt::format("{} {} {} {} {} {} {}\n", one.key.file_system, one.key.layout.targets,
                            one.key.layout.stripe_bytes,
                            one.key.direction == IoDirection::write ? "write" : "read",
                            one.found.limit, std::llround(one.found.rate), one.found_s);
    }
    return text;
}

// An entry with a time in the future comes from a wrong clock and is ignored.
FoundLimit KnownLimits::find(const LimitKey& key, std::int64_t now_s, const AgeLimits& ages) const {
    const auto entry = std::ranges::find(entries_, key, &KnownLimit::key);
    if (entry == entries_.end() || entry->found_s > now_s || now_s - entry->found_s > ages.kept) {
        return {};
    }
    const bool trusted = now_s - entry->found_s <= ages.trusted;
    return {entry->found.limit, trusted ? entry->found.rate : 0};
}

bool KnownLimits::note(const KnownLimit& limit, const AgeLimits& ages) {
    const auto before = std::ranges::find(entries_, limit.key, &KnownLimit::key);
    const bool known = before != entries_.end() && before->found_s <= limit.found_s;
    if (known && !differ(before->found, limit.found) &&
        limit.found_s - before->found_s <= ages.trusted / 2) {
        return false;
    }
    std::erase_if(entries_, [&](const KnownLimit& one) {
        return one.key == limit.key || limit.found_s - one.found_s > ages.kept;
    });
    if (entries_.size() >= entries_max) {
        entries_.erase(entries_.begin());
    }
    entries_.push_back(limit);
    return true;
}

}  // namespace forebay::plan
