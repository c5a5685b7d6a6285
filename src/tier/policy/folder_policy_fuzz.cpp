// Fuzzes the grammar of policies: any text is refused, or gives a policy that its own text gives,
// too.
#include "foundation/base/must_check.hpp"
#include "tier/policy/folder_policy.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

using namespace forebay;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text{reinterpret_cast<const char*>(data), size};
    if (const auto policy = tier::parse_policy(text)) {
        must(policy->only.size() + policy->except.size() <= tier::patterns_max,
             "patterns are bounded");
        must(policy->largest_bytes > 0 && policy->live_ns >= 0, "limits are amounts");
        const auto again = tier::parse_policy(tier::text_of(*policy));
        must(again && *again == *policy, "the text of a policy is that policy");
    }
    // The first half as a pattern, the rest as a name.
    static_cast<void>(tier::matches(text.substr(0, size / 2), text.substr(size / 2)));
    return 0;
}
