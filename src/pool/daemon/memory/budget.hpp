// How many more descriptors this process may have
// (docs/decisions/0046-descriptors-are-a-budget.md).
#pragma once

#include <cstdint>

namespace forebay::daemon {

class DescriptorBudget {
public:
    // Files that have nothing deposited give theirs back, so many at a time.
    static constexpr std::uint32_t given_back_max = 32;
    // Descriptors left for processes that come to use the pool, and for what is open for a moment.
    static constexpr int kept_min = 64;
    // The parts of these: one each for processes that do without the pool; and those that are open
    // for a moment, without which even such processes could not be served.
    static constexpr int kept_for_outsiders_min = 30;
    static constexpr int kept_for_a_moment = 16;

    DescriptorBudget() noexcept;
    explicit DescriptorBudget(int limit) noexcept;

    // The kernel has given out this number, its lowest free one: so many are in use. True: files
    // are to give some back.
    [[nodiscard]] bool is_short(int newest) const noexcept { return newest >= soon_; }
    // True: no more of them for files.
    [[nodiscard]] bool is_spent(int newest) const noexcept { return newest >= most_; }

    // The descriptors that a new process may have for as long as it lives.
    enum class Means {
        log,     // with its bell, and its socket: three
        socket,  // alone
        none,
    };
    [[nodiscard]] static Means means_of_one_more(int in_use, int limit) noexcept;
    // Counted, and by the limit of now.
    [[nodiscard]] static Means means_of_one_more() noexcept;

private:
    int soon_;
    int most_;
};

}  // namespace forebay::daemon
