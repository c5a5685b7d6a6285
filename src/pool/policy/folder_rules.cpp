// Parses the rules, and finds a file's rule by its longest prefix.
#include "pool/policy/folder_rules.hpp"

#include "foundation/base/byte_size.hpp"
#include "foundation/base/folder_path.hpp"
#include "foundation/base/text_parts.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace forebay::pool {

namespace {

constexpr std::int64_t window_least = std::int64_t{1} << 20;
constexpr std::string_view known = "past, window=SIZE (1 MiB at least), fsync=node, fsync=global";

Result<void> refuse(std::string_view text, std::string_view why) {
    return failure({ErrorCode::argument, 0,
                    fmt::format("cannot use \"{}\" of pool_folders ({}). Write a folder and what "
                                "holds for its files: {}.",
                                text, why, known)});
}

// Whether `word` is meant as a word of a rule, well-formed or not.
bool is_ours(std::string_view word) noexcept {
    return word == "past" || word.starts_with("window=") || word.starts_with("fsync=");
}

Result<void> take_word(std::string_view text, std::string_view word, FileRule& rule) {
    const std::string_view value = word.substr(std::min(word.find('=') + 1, word.size()));
    if (word == "past") {
        rule.past = true;
    } else if (word.starts_with("window=")) {
        const Result<std::int64_t> bytes = parse_size(value);
        if (!bytes || *bytes < window_least || rule.window_bytes) {
            return refuse(text, fmt::format("\"{}\" makes no sense", word));
        }
        rule.window_bytes = *bytes;
    } else if ((value != "node" && value != "global") || rule.sync_to_journal) {
        return refuse(text, fmt::format("\"{}\" makes no sense", word));
    } else {
        rule.sync_to_journal = value == "node";
    }
    return {};
}

std::string absolute(std::string_view path, std::string_view here) {
    std::string whole =
        path.starts_with('/') ? std::string{path} : fmt::format("{}/{}", here, path);
    while (whole.size() > 1 && whole.ends_with('/')) {
        whole.pop_back();
    }
    return whole;
}

Result<FolderRule> folder_rule(std::string_view text, std::string_view here) {
    FolderRule found;
    std::string_view left = trimmed(text, " ");
    bool any = false;
    while (true) {
        const std::size_t blank = left.rfind(' ');
        if (blank == std::string_view::npos || !is_ours(left.substr(blank + 1))) {
            break;
        }
        if (auto taken = take_word(text, left.substr(blank + 1), found.rule); !taken) {
            return failure(std::move(taken.error()));
        }
        left = trimmed(left.substr(0, blank), " ");
        any = true;
    }
    if (!any || is_ours(left)) {
        return failure(
            refuse(text, any ? "it names no folder" : "it says nothing of its files").error());
    }
    if (found.rule.past && (found.rule.window_bytes || found.rule.sync_to_journal)) {
        return failure(refuse(text, "nothing else holds for files that go past the pool").error());
    }
    found.path = absolute(left, here);
    return found;
}

}  // namespace

Result<std::vector<FolderRule>> folder_rules(const std::vector<std::string>& texts,
                                             std::string_view here) {
    std::vector<FolderRule> rules;
    for (const std::string& text : texts) {
        Result<FolderRule> one = folder_rule(text, here);
        if (!one) {
            return failure(std::move(one.error()));
        }
        if (std::ranges::find(rules, one->path, &FolderRule::path) != rules.end()) {
            return failure(refuse(text, "this folder was named before").error());
        }
        rules.push_back(std::move(*one));
    }
    return rules;
}

FileRule rule_of(const std::vector<FolderRule>& rules, std::string_view file) {
    const FolderRule* best = nullptr;
    for (const FolderRule& rule : rules) {
        const bool better = best == nullptr || rule.path.size() > best->path.size();
        best = better && FolderPath{rule.path}.holds(file) ? &rule : best;
    }
    return best == nullptr ? FileRule{} : best->rule;
}

}  // namespace forebay::pool
