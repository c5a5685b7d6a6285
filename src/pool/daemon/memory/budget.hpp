// How many more descriptors this process may have
// (docs/decisions/0046-descriptors-are-a-budget.md).
#pragma once

#include <cstdint>

namespace forebay::daemon {

class DescriptorBudget {
public:
    // Files that have nothing deposited give theirs back, so many at a time.
    static constexpr std::uint32_t given_back_max = 32;
    // That is left for processes that come to use the pool, and for what is open for a moment.
    static constexpr int kept_min = 64;
    // Of these: for processes that have to do without the pool, one each, and for what is open for
    // a moment.
    static constexpr int kept_for_outsiders_min = 32;

    DescriptorBudget() noexcept;
    explicit DescriptorBudget(int limit) noexcept;

    // The kernel has given out this number, its lowest free one: so many are in use. True: files
    // are to give some back.
    [[nodiscard]] bool is_short(int newest) const noexcept { return newest >= soon_; }
    // True: no more of them for files.
    [[nodiscard]] bool is_spent(int newest) const noexcept { return newest >= most_; }
    // True: a process that comes gets no log, which takes two more, as long as it lives.
    [[nodiscard]] bool is_for_outsiders(int newest) const noexcept { return newest >= logs_; }

private:
    int soon_;
    int most_;
    int logs_;
};

}  // namespace forebay::daemon
