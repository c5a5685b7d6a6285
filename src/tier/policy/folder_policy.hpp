// A folder's policy for its files in fast storage: which of them get a replica, when that is moved
// to the parallel file system, and how long it stays. Written by users as words, and kept on the
// folder in an extended attribute, so that it outlives the job.
#pragma once

#include "foundation/base/result.hpp"

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace forebay::tier {

// The extended attribute of a folder that has its policy as text.
inline constexpr const char* policy_attribute = "user.forebay.policy";
// Patterns that a policy may have, and bytes of its text.
inline constexpr std::size_t patterns_max = 32;
inline constexpr std::size_t policy_bytes_max = 4096;

// When a file that was written in fast storage is moved to the parallel file system. Every file is
// moved when the job ends, but those of `manual`.
enum class MoveTrigger {
    at_close,    // once no program has it open for writing
    at_idle,     // once nobody has written to it for `idle_ns`
    at_size,     // once `size_bytes` of it wait
    at_job_end,  // when the job ends, or fast storage fills up
    manual,      // only when a user asks for it, or fast storage fills up
};

struct FolderPolicy {
    bool write = false;    // what is written goes to fast storage first
    bool preload = false;  // what is read is copied to fast storage
    MoveTrigger trigger = MoveTrigger::at_close;
    std::int64_t idle_ns = 0;     // for at_idle
    std::int64_t size_bytes = 0;  // for at_size
    std::int64_t live_ns = 0;  // a replica that nobody has used for so long is evicted; 0: no limit
    std::int64_t largest_bytes = std::numeric_limits<std::int64_t>::max();  // of a file
    bool pinned = false;                                                    // never evicted
    // Shell patterns (* and ?) of file names. A file is taken if it matches one of `only` (or that
    // is empty), and none of `except`.
    std::vector<std::string> only{};
    std::vector<std::string> except{};

    bool operator==(const FolderPolicy&) const = default;
};

// Parses the words "write", "preload" and "off", "move=close", "move=idle:60s", "move=size:1GiB",
// "move=job", "move=manual", "live=7d", "largest=4GiB", "only=*.nc", "except=*.tmp" and "pin",
// divided by blanks. ErrorCode::argument: a word is none of these, is malformed, is there twice,
// contradicts another one, or the text says neither "write" nor "preload" nor "off".
[[nodiscard]] Result<FolderPolicy> parse_policy(std::string_view text);

// The text that parse_policy() makes this policy of.
[[nodiscard]] std::string text_of(const FolderPolicy& policy);

// Whether a policy takes files of this name (without its folder) at all.
[[nodiscard]] bool takes_name(const FolderPolicy& policy, std::string_view name) noexcept;

// Whether `name` matches a shell pattern of "*" (any characters), "?" (one), and others as they
// are.
[[nodiscard]] bool matches(std::string_view pattern, std::string_view name) noexcept;

// A span of time as users write it: a number and s, min, h or d; in nanoseconds, above 0.
[[nodiscard]] Result<std::int64_t> parse_span(std::string_view text);

}  // namespace forebay::tier
