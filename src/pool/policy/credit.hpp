// The number of blocks that each client may hold: a cap over all clients, shared so that nobody can
// starve another. Each client that writes can always get its minimum; what is beyond is shared
// evenly among those that want more, and belongs to any client that asks as long as nobody else
// does.
#pragma once

#include <cstdint>

namespace forebay::pool {

inline constexpr std::int64_t minimum_blocks = 2;  // obtainable for each client that writes
inline constexpr std::int64_t first_ahead = 16;    // credit beyond what is reserved, at first
inline constexpr std::int64_t ahead_max = 64;
// Memory is provided for no more of it: while a program writes, it has better use for the
// processor.
inline constexpr std::int64_t touched_ahead_max = 8;
// New memory costs several times as much as copying into it: so many blocks are provided for a
// client before its first burst, one now and then.
inline constexpr std::int64_t first_peak = 64;

struct BlockLeases {
    std::int64_t cap = 0;      // blocks
    std::int64_t held = 0;     // by all clients
    std::int64_t missing = 0;  // to the minimum of all clients that write
    std::int64_t writers = 0;  // clients that write, the one that asks included
    bool others_wait = false;  // somebody who holds less than a share has no credit
};

// Blocks of one client beyond which others go first.
[[nodiscard]] std::int64_t fair_share(const BlockLeases& lending) noexcept;
// A client that holds so many blocks may have one more.
[[nodiscard]] bool may_have_more(std::int64_t holds, const BlockLeases& lending) noexcept;
// The same for a block that it does not need yet.
[[nodiscard]] bool may_be_warmed(std::int64_t holds, const BlockLeases& lending) noexcept;

// A client's recent needs, looked at once more every `look_ns`.
struct ClientDemand {
    std::int64_t ahead = first_ahead;  // credit to be kept beyond what it has reserved, in blocks
    std::int64_t peak = first_peak;    // blocks in use at once; memory for as many is kept warm
    std::int64_t idle_looks = 0;       // in a row
    bool operator==(const ClientDemand&) const noexcept = default;
};
inline constexpr std::int64_t look_ns = 10'000'000;
inline constexpr std::int64_t idle_looks_max = 3000;  // then less is kept; programs compute longer

// It has used up so many blocks since the last look, and holds bytes in so many.
[[nodiscard]] ClientDemand next_demand(const ClientDemand& demand, std::int64_t used,
                                       std::int64_t in_use) noexcept;
// Blocks of credit beyond what is reserved, where idle ones are there.
[[nodiscard]] std::int64_t ahead(const ClientDemand& demand, const BlockLeases& lending) noexcept;
// The same where memory has to be provided for them.
[[nodiscard]] std::int64_t touched_ahead(const ClientDemand& demand,
                                         const BlockLeases& lending) noexcept;
// Idle blocks that are provided now and then, before they are needed.
[[nodiscard]] std::int64_t warmed(const ClientDemand& demand, std::int64_t in_use,
                                  const BlockLeases& lending) noexcept;
// Idle blocks that are kept.
[[nodiscard]] std::int64_t kept(const ClientDemand& demand, std::int64_t in_use,
                                const BlockLeases& lending) noexcept;

}  // namespace forebay::pool
