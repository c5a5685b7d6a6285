// How the daemon divides the descriptors that RLIMIT_NOFILE allows it between files and clients
// (docs/decisions/0046-descriptors-are-a-budget.md).
#pragma once

#include <cstdint>

namespace forebay::daemon {

class DescriptorBudget {
public:
    // The descriptors of up to this many files without deposits are closed at a time.
    static constexpr std::uint32_t given_back_max = 32;
    // Descriptors that files must leave over: for new clients, and for what is open only for a
    // moment. At least 64, or an eighth of the limit.
    static constexpr int kept_min = 64;
    // Parts of these. A client without a log needs one descriptor (its socket); what is open only
    // for a moment must be possible even when such clients have taken the rest, or they could not
    // be served.
    static constexpr int kept_for_outsiders_min = 30;
    static constexpr int kept_for_a_moment = 16;

    DescriptorBudget() noexcept;
    explicit DescriptorBudget(int limit) noexcept;

    // `newest` is a descriptor that the kernel has just given out. As it gives out the lowest free
    // number, at least that many are in use. True: idle files should give some back.
    [[nodiscard]] bool is_short(int newest) const noexcept { return newest >= soon_; }
    // True: no more descriptors for files.
    [[nodiscard]] bool is_spent(int newest) const noexcept { return newest >= most_; }

    // The descriptors that a new client may have for as long as it lives.
    enum class Means {
        log,     // three: for its log, its eventfd (bell) and its socket
        socket,  // one: for its socket alone
        none,    // not even that: the process is rejected
    };
    [[nodiscard]] static Means means_of_one_more(int in_use, int limit) noexcept;
    // Counts the descriptors in use, and reads the limit anew.
    [[nodiscard]] static Means means_of_one_more() noexcept;

private:
    int soon_;
    int most_;
};

}  // namespace forebay::daemon
