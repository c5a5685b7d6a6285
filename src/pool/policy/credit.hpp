// How many blocks of memory each client's log may hold: one cap over all clients, shared so that no
// client can starve another. A client that writes can always get `minimum_blocks`. The rest is
// shared evenly among the clients that want more; a client may exceed its share as long as no other
// waits. All numbers below are blocks of block_bytes (1 MiB) unless they say otherwise.
#pragma once

#include <cstdint>

namespace forebay::pool {

inline constexpr std::int64_t minimum_blocks = 2;  // guaranteed to each client that writes
inline constexpr std::int64_t first_ahead = 16;  // initial credit beyond what a client has reserved
// The limit to which that credit grows while the client uses it up.
inline constexpr std::int64_t ahead_max = 64;
// The part of that credit for which new memory is provided while the program writes. It is small,
// since providing memory takes processor time that the program could use.
inline constexpr std::int64_t touched_ahead_max = 8;
// The number of blocks that are provided before a client's first burst, one at a time: new memory
// costs several times as much as copying into it.
inline constexpr std::int64_t first_peak = 64;

// The state of all clients, in blocks.
struct LeaseTotals {
    std::int64_t cap = 0;      // over all clients
    std::int64_t held = 0;     // held by all clients together
    std::int64_t missing = 0;  // shortfall of the clients that write to their minimum
    std::int64_t writers = 0;  // number of clients that write, including the one that asks
    bool others_wait = false;  // a client that holds less than its share waits for credit
};

// A client's share of the cap: if it holds more, clients that hold less go first.
[[nodiscard]] std::int64_t fair_share(const LeaseTotals& lending) noexcept;
// Whether a client that holds `holds` blocks may have one more.
[[nodiscard]] bool may_have_more(std::int64_t holds, const LeaseTotals& lending) noexcept;
// The same for a block that the client does not need yet: only within half of the cap and of its
// share.
[[nodiscard]] bool may_be_warmed(std::int64_t holds, const LeaseTotals& lending) noexcept;

// A client's recent needs, updated every `look_ns`.
struct ClientDemand {
    std::int64_t ahead = first_ahead;  // credit to be kept beyond what the client has reserved
    // Maximum number of blocks in use at a time; memory for as many is kept.
    std::int64_t peak = first_peak;
    std::int64_t idle_looks = 0;  // updates in a row in which it reserved nothing
    bool operator==(const ClientDemand&) const noexcept = default;
};
inline constexpr std::int64_t look_ns = 10'000'000;  // 10 ms
// After this many idle updates (30 s) less memory is kept. Programs often compute for several
// seconds between bursts.
inline constexpr std::int64_t idle_looks_max = 3000;

// The demand after an update: since the last one the client has reserved `used` blocks more, and
// now holds bytes in `in_use` blocks.
[[nodiscard]] ClientDemand next_demand(const ClientDemand& demand, std::int64_t used,
                                       std::int64_t in_use) noexcept;
// The credit beyond what the client has reserved that it gets out of idle blocks.
[[nodiscard]] std::int64_t ahead(const ClientDemand& demand, const LeaseTotals& lending) noexcept;
// The same if new memory has to be provided for it.
[[nodiscard]] std::int64_t touched_ahead(const ClientDemand& demand,
                                         const LeaseTotals& lending) noexcept;
// The number of idle blocks to be provided little by little before they are needed.
[[nodiscard]] std::int64_t warmed(const ClientDemand& demand, std::int64_t in_use,
                                  const LeaseTotals& lending) noexcept;
// The number of idle blocks that the client keeps; more are given back to the system.
[[nodiscard]] std::int64_t kept(const ClientDemand& demand, std::int64_t in_use,
                                const LeaseTotals& lending) noexcept;

}  // namespace forebay::pool
