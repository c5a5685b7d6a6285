// Who may hold how many blocks: a cap over all clients, shared so that nobody can starve another.
// Each client that writes can always get its minimum; what is beyond is shared evenly among those
// that want more, and belongs to whoever asks as long as nobody else does.
#pragma once

#include <cstdint>

namespace forebay::pool {

inline constexpr std::int64_t minimum_blocks = 2;  // obtainable for each client that writes
inline constexpr std::int64_t first_ahead = 16;    // credit beyond what is reserved, at first
inline constexpr std::int64_t ahead_max = 64;

struct Lending {
    std::int64_t cap = 0;      // blocks
    std::int64_t held = 0;     // by all clients
    std::int64_t missing = 0;  // to the minimum of all clients that write
    std::int64_t writers = 0;  // clients that write, the one that asks included
    bool others_wait = false;  // somebody who holds less than a share has no credit
};

// Blocks of one client beyond which others go first.
[[nodiscard]] std::int64_t fair_share(const Lending& lending) noexcept;
// A client that holds so many blocks may have one more.
[[nodiscard]] bool may_have_more(std::int64_t holds, const Lending& lending) noexcept;

// How far ahead of what a client has reserved its credit is kept, in blocks: more when it used up
// more than half of it since the last look.
[[nodiscard]] std::int64_t next_ahead(std::int64_t ahead, std::int64_t used,
                                      const Lending& lending) noexcept;

}  // namespace forebay::pool
