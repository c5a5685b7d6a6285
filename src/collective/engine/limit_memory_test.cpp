// k from one run to the next, over a notebook in memory.
#include "collective/engine/limit_memory.hpp"

#include <cerrno>
#include <gtest/gtest.h>

namespace forebay::engine {
namespace {

class Page final : public ports::Notebook {
public:
    [[nodiscard]] Result<std::string> read() override {
        if (torn) {
            return failure(system_error(EIO, "read the page"));
        }
        return text;
    }
    Result<void> write(const std::string& now) override {
        text = now;
        ++writes;
        return {};
    }
    std::string text;
    int writes = 0;
    bool torn = false;
};

const LimitMemoryOptions options{"lustre", {4, 1 << 20}, {1000, 10000}};

TEST(LimitMemory, RecallsWhatAnEarlierRunFound) {
    Page page;
    EXPECT_EQ((*recall_limits(page, options, 100))[0].limit, 0);
    ASSERT_TRUE(remember_limits(page, options, {plan::FoundLimit{3, 1e8}, {}}, 100).has_value());
    const FoundLimits found = *recall_limits(page, options, 200);
    EXPECT_EQ(found[0], (plan::FoundLimit{3, 1e8}));
    EXPECT_EQ(found[1], plan::FoundLimit{});
    LimitMemoryOptions other = options;
    other.layout.targets = 5;
    EXPECT_EQ((*recall_limits(page, other, 200))[0].limit, 0);
}

TEST(LimitMemory, WritesOnlyNews) {
    Page page;
    const FoundLimits found{plan::FoundLimit{3, 1e8}, plan::FoundLimit{2, 2e8}};
    static_cast<void>(remember_limits(page, options, found, 100));
    static_cast<void>(remember_limits(page, options, found, 200));
    static_cast<void>(remember_limits(page, options, FoundLimits{}, 300));
    EXPECT_EQ(page.writes, 1);
}

TEST(LimitMemory, SaysWhenItCannotRead) {
    Page page;
    page.torn = true;
    EXPECT_FALSE(recall_limits(page, options, 1).has_value());
    EXPECT_FALSE(remember_limits(page, options, {plan::FoundLimit{3, 1e8}, {}}, 1).has_value());
    EXPECT_EQ(page.writes, 0);
}

}  // namespace
}  // namespace forebay::engine
