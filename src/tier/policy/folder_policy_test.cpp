// Tests the grammar of policies, patterns and spans.
#include "tier/policy/folder_policy.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <string>
#include <vector>

namespace forebay::tier {
namespace {

TEST(FolderPolicy, WordsSetItsFields) {
    const auto policy = parse_policy(
        "write  preload move=idle:2min live=7d largest=4GiB only=*.nc only=rst_? except=*.tmp pin");
    ASSERT_TRUE(policy) << policy.error().message;
    EXPECT_TRUE(policy->write && policy->preload && policy->pinned);
    EXPECT_EQ(policy->trigger, MoveTrigger::at_idle);
    EXPECT_EQ(policy->idle_ns, 120'000'000'000);
    EXPECT_EQ(policy->live_ns, std::int64_t{7} * 86'400 * 1'000'000'000);
    EXPECT_EQ(policy->largest_bytes, std::int64_t{4} << 30);
    EXPECT_EQ(policy->only, (std::vector<std::string>{"*.nc", "rst_?"}));
    EXPECT_EQ(policy->except, (std::vector<std::string>{"*.tmp"}));
}

TEST(FolderPolicy, SaysWhatIsWrongWithAWord) {
    struct Row {
        std::string text;
        std::string why;
    };
    const std::array rows{
        Row{"", "neither write nor preload nor off"},
        Row{"pin", "neither write nor preload nor off"},
        Row{"off write", "left alone"},
        Row{"write write", "there twice"},
        Row{"write move=close move=job", "there twice"},
        Row{"write move=soon", "no such trigger"},
        Row{"write move=idle:3", "needs a time"},
        Row{"write move=size:many", "needs a size"},
        Row{"preload move=close", "only what is written is moved"},
        Row{"write live=0s", "needs a time"},
        Row{"write largest=0", "needs a size"},
        Row{"write only=a/b", "without a folder"},
        Row{"write only=", "without a folder"},
        Row{"write often", "none of the words"},
        Row{"write " + std::string(policy_bytes_max, 'x'), "too long"},
    };
    for (const Row& row : rows) {
        const auto policy = parse_policy(row.text);
        ASSERT_FALSE(policy) << row.text;
        EXPECT_EQ(policy.error().code, ErrorCode::argument);
        EXPECT_NE(policy.error().message.find(row.why), std::string::npos)
            << row.text << ": " << policy.error().message;
    }
}

TEST(FolderPolicy, HasAsManyPatternsAsAreBounded) {
    std::string text = "write";
    for (std::size_t i = 0; i < patterns_max; ++i) {
        text += " except=" + std::to_string(i);
    }
    EXPECT_TRUE(parse_policy(text));
    EXPECT_FALSE(parse_policy(text + " only=x"));
}

RC_GTEST_PROP(FolderPolicyText, IsParsedToTheSamePolicy, ()) {
    FolderPolicy policy;
    const int kind = *rc::gen::inRange(0, 4);
    policy.write = kind % 2 == 1;
    policy.preload = kind >= 2;
    const auto seconds = *rc::gen::inRange<std::int64_t>(1, 1'000'000);
    if (policy.write) {
        policy.trigger = static_cast<MoveTrigger>(*rc::gen::inRange(0, 5));
        policy.idle_ns = policy.trigger == MoveTrigger::at_idle ? seconds * 1'000'000'000 : 0;
        policy.size_bytes = policy.trigger == MoveTrigger::at_size ? seconds : 0;
    }
    if (kind != 0) {
        policy.live_ns = *rc::gen::element<std::int64_t>(0, 60, 86'400) * 1'000'000'000;
        policy.pinned = *rc::gen::arbitrary<bool>();
        policy.largest_bytes = *rc::gen::element(FolderPolicy{}.largest_bytes, seconds);
        policy.only = *rc::gen::unique<std::vector<std::string>>(
            rc::gen::element<std::string>("*", "a?", "*.nc"));
        policy.except = *rc::gen::unique<std::vector<std::string>>(
            rc::gen::element<std::string>("b", "*~", "core.*"));
    }
    const auto parsed = parse_policy(text_of(policy));
    RC_ASSERT(parsed.has_value());
    RC_ASSERT(*parsed == policy);
}

TEST(Patterns, MatchAsAShellsDo) {
    struct Row {
        std::string pattern;
        std::string name;
        bool fits = false;
    };
    const std::array rows{
        Row{"*", "", true},        Row{"*", "any", true},         Row{"", "", true},
        Row{"", "a", false},       Row{"a", "", false},           Row{"*.nc", "out.nc", true},
        Row{"*.nc", ".nc", true},  Row{"*.nc", "nc", false},      Row{"*.nc", "a.nc4", false},
        Row{"a*b*c", "abc", true}, Row{"a*b*c", "aXbYbZc", true}, Row{"a*b*c", "acb", false},
        Row{"r_??", "r_01", true}, Row{"r_??", "r_1", false},     Row{"*a*", "bbb", false},
        Row{"**", "x", true},      Row{"*aab", "aaaab", true},
    };
    for (const Row& row : rows) {
        EXPECT_EQ(matches(row.pattern, row.name), row.fits) << row.pattern << " " << row.name;
    }
}

// The obvious recursion, as the oracle.
bool fits(std::string_view pattern, std::string_view name) {
    if (pattern.empty()) {
        return name.empty();
    }
    if (pattern[0] == '*') {
        return fits(pattern.substr(1), name) || (!name.empty() && fits(pattern, name.substr(1)));
    }
    return !name.empty() && (pattern[0] == '?' || pattern[0] == name[0]) &&
           fits(pattern.substr(1), name.substr(1));
}

RC_GTEST_PROP(Patterns, MatchAsTheRecursionSays, ()) {
    const auto text = [](const std::string& letters) {
        return rc::gen::container<std::string>(rc::gen::elementOf(letters));
    };
    const std::string pattern = (*text("ab*?")).substr(0, 8);
    const std::string name = (*text("ab")).substr(0, 10);
    RC_ASSERT(matches(pattern, name) == fits(pattern, name));
}

TEST(Patterns, OnlyAndExceptBothCount) {
    const FolderPolicy policy{.write = true, .only = {"*.nc", "rst"}, .except = {"tmp*"}};
    EXPECT_TRUE(takes_name(policy, "a.nc"));
    EXPECT_TRUE(takes_name(policy, "rst"));
    EXPECT_FALSE(takes_name(policy, "tmp.nc"));
    EXPECT_FALSE(takes_name(policy, "a.txt"));
}

TEST(Spans, HaveAUnit) {
    EXPECT_EQ(parse_span("3s").value(), 3'000'000'000);
    EXPECT_EQ(parse_span("2min").value(), 120'000'000'000);
    EXPECT_EQ(parse_span("1h").value(), 3'600'000'000'000);
    EXPECT_EQ(parse_span("36500d").value(), std::int64_t{36'500} * 86'400 * 1'000'000'000);
    for (const char* text :
         {"", "s", "3", "3m", "-1s", "0s", "36501d", "9999999999999999999s", "1 s"}) {
        EXPECT_FALSE(parse_span(text)) << text;
    }
}

}  // namespace
}  // namespace forebay::tier
