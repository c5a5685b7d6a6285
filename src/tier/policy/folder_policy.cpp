// The grammar of policies: each word sets one field, and canonical text is made of the fields.
#include "tier/policy/folder_policy.hpp"

#include "foundation/base/byte_size.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <fmt/format.h>
#include <set>
#include <utility>

namespace forebay::tier {

namespace {

constexpr std::int64_t second_ns = 1'000'000'000;

struct SpanUnit {
    std::string_view name;
    std::int64_t seconds = 1;
};
// The largest first: the text of a span takes the first that it is a multiple of.
constexpr std::array<SpanUnit, 4> span_units{SpanUnit{"d", 86'400}, SpanUnit{"h", 3'600},
                                             SpanUnit{"min", 60}, SpanUnit{"s", 1}};

Error refusal(std::string_view what, std::string_view why) {
    return {ErrorCode::argument, 0,
            fmt::format("cannot use \"{}\" of a folder's policy ({}). Write \"off\", or \"write\" "
                        "and \"preload\", with move=close, move=idle:60s, move=size:1GiB, "
                        "move=job or move=manual, live=7d, largest=4GiB, only=*.nc, except=*.tmp "
                        "and pin.",
                        what, why)};
}

// The value of a word `key`=VALUE.
std::string_view value_of(std::string_view word) noexcept {
    const std::size_t equals = word.find('=');
    return equals == std::string_view::npos ? std::string_view{} : word.substr(equals + 1);
}

Result<std::int64_t> bytes_of(std::string_view word, std::string_view value) {
    const Result<std::int64_t> bytes = parse_size(value);
    if (!bytes || *bytes <= 0) {
        return failure(refusal(word, "it needs a size above 0"));
    }
    return *bytes;
}

Result<void> take_trigger(std::string_view word, FolderPolicy& policy) {
    const std::string_view value = value_of(word);
    if (value == "close") {
        policy.trigger = MoveTrigger::at_close;
    } else if (value == "job") {
        policy.trigger = MoveTrigger::at_job_end;
    } else if (value == "manual") {
        policy.trigger = MoveTrigger::manual;
    } else if (value.starts_with("idle:")) {
        policy.trigger = MoveTrigger::at_idle;
        const auto span = parse_span(value.substr(value.find(':') + 1));
        if (!span) {
            return failure(refusal(word, "it needs a time as 60s, 10min, 2h or 7d"));
        }
        policy.idle_ns = *span;
    } else if (value.starts_with("size:")) {
        policy.trigger = MoveTrigger::at_size;
        const auto bytes = bytes_of(word, value.substr(value.find(':') + 1));
        if (!bytes) {
            return failure(bytes.error());
        }
        policy.size_bytes = *bytes;
    } else {
        return failure(refusal(word, "there is no such trigger"));
    }
    return {};
}

Result<void> take_pattern(std::string_view word, FolderPolicy& policy) {
    const std::string_view value = value_of(word);
    if (value.empty() || value.find('/') != std::string_view::npos) {
        return failure(refusal(word, "a pattern is of names, without a folder"));
    }
    if (policy.only.size() + policy.except.size() >= patterns_max) {
        return failure(refusal(word, fmt::format("there are more than {} patterns", patterns_max)));
    }
    (word.starts_with("only=") ? policy.only : policy.except).emplace_back(value);
    return {};
}

Result<void> take_limit(std::string_view word, FolderPolicy& policy) {
    const std::string_view value = value_of(word);
    if (word.starts_with("live=")) {
        const auto span = parse_span(value);
        if (!span) {
            return failure(refusal(word, "it needs a time as 60s, 10min, 2h or 7d"));
        }
        policy.live_ns = *span;
        return {};
    }
    const auto bytes = bytes_of(word, value);
    if (!bytes) {
        return failure(bytes.error());
    }
    policy.largest_bytes = *bytes;
    return {};
}

Result<void> take_word(std::string_view word, FolderPolicy& policy) {
    if (word == "write") {
        policy.write = true;
    } else if (word == "preload") {
        policy.preload = true;
    } else if (word == "pin") {
        policy.pinned = true;
    } else if (word.starts_with("move=")) {
        return take_trigger(word, policy);
    } else if (word.starts_with("only=") || word.starts_with("except=")) {
        return take_pattern(word, policy);
    } else if (word.starts_with("live=") || word.starts_with("largest=")) {
        return take_limit(word, policy);
    } else if (word != "off") {
        return failure(refusal(word, "it is none of the words"));
    }
    return {};
}

// Patterns may be there more than once.
std::string_view key_of(std::string_view word) noexcept {
    const bool pattern = word.starts_with("only=") || word.starts_with("except=");
    return pattern ? word : word.substr(0, word.find('='));
}

std::string span_text(std::int64_t span_ns) {
    const std::int64_t seconds = span_ns / second_ns;
    const auto* unit = std::ranges::find_if(
        span_units, [seconds](const SpanUnit& one) { return seconds % one.seconds == 0; });
    return fmt::format("{}{}", seconds / unit->seconds, unit->name);
}

}  // namespace

Result<FolderPolicy> parse_policy(std::string_view text) {
    FolderPolicy policy;
    std::set<std::string_view> keys;
    if (text.size() > policy_bytes_max) {
        return failure(refusal(text.substr(0, 40), "it is too long"));
    }
    while (true) {
        text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
        if (text.empty()) {
            break;
        }
        const std::string_view word = text.substr(0, text.find(' '));
        text.remove_prefix(word.size());
        if (!keys.insert(key_of(word)).second) {
            return failure(refusal(word, "it is there twice"));
        }
        if (auto taken = take_word(word, policy); !taken) {
            return failure(std::move(taken.error()));
        }
    }
    if (keys.contains("off") && keys.size() > 1) {
        return failure(refusal("off", "nothing else holds for files that are left alone"));
    }
    if (!policy.write && !policy.preload && !keys.contains("off")) {
        return failure(refusal(text, "it says neither write nor preload nor off"));
    }
    if (!policy.write && keys.contains("move")) {
        return failure(refusal("move", "only what is written is moved"));
    }
    if (text_of(policy).size() > policy_bytes_max) {
        return failure(refusal("the policy", "it is too long"));
    }
    return policy;
}

std::string text_of(const FolderPolicy& policy) {
    if (!policy.write && !policy.preload) {
        return "off";
    }
    std::string text = policy.write && policy.preload ? "write preload"
                       : policy.write                 ? "write"
                                                      : "preload";
    if (policy.write) {
        switch (policy.trigger) {
            case MoveTrigger::at_close: break;
            case MoveTrigger::at_idle: text += " move=idle:" + span_text(policy.idle_ns); break;
            case MoveTrigger::at_size:
                text += fmt::format(" move=size:{}", policy.size_bytes);
                break;
            case MoveTrigger::at_job_end: text += " move=job"; break;
            case MoveTrigger::manual: text += " move=manual"; break;
        }
    }
    if (policy.live_ns != 0) {
        text += " live=" + span_text(policy.live_ns);
    }
    if (policy.largest_bytes != FolderPolicy{}.largest_bytes) {
        text += fmt::format(" largest={}", policy.largest_bytes);
    }
    for (const std::string& pattern : policy.only) {
        text += " only=" + pattern;
    }
    for (const std::string& pattern : policy.except) {
        text += " except=" + pattern;
    }
    return policy.pinned ? text + " pin" : text;
}

bool takes_name(const FolderPolicy& policy, std::string_view name) noexcept {
    const auto fits = [name](const std::string& pattern) { return matches(pattern, name); };
    return (policy.only.empty() || std::ranges::any_of(policy.only, fits)) &&
           std::ranges::none_of(policy.except, fits);
}

// Goes back to the last "*" where the rest does not fit: linear for one star, and never more than
// the product of the lengths.
bool matches(std::string_view pattern, std::string_view name) noexcept {
    std::size_t at = 0;
    std::size_t star = std::string_view::npos;
    std::size_t taken = 0;  // characters that the last star stands for, from its place in the name
    for (std::size_t i = 0; i < name.size();) {
        if (at < pattern.size() && pattern[at] == '*') {
            star = at++;
            taken = i;
        } else if (at < pattern.size() && (pattern[at] == '?' || pattern[at] == name[i])) {
            ++at;
            ++i;
        } else if (star != std::string_view::npos) {
            at = star + 1;
            i = ++taken;
        } else {
            return false;
        }
    }
    return pattern.find_first_not_of('*', at) == std::string_view::npos;
}

Result<std::int64_t> parse_span(std::string_view text) {
    std::int64_t count = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
    const std::string_view unit{end, static_cast<std::size_t>(text.data() + text.size() - end)};
    const auto* found = std::ranges::find(span_units, unit, &SpanUnit::name);
    constexpr std::int64_t years = std::int64_t{36'500} * 86'400;  // a hundred of them
    if (error != std::errc{} || found == span_units.end() || count <= 0 ||
        count > years / found->seconds) {
        return failure({ErrorCode::argument, 0,
                        fmt::format("cannot use \"{}\" as a time (it is none). Write a number "
                                    "and s, min, h or d.",
                                    text)});
    }
    return count * found->seconds * second_ns;
}

}  // namespace forebay::tier
