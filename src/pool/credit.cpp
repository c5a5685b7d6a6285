// A block at a time goes round the clients, so that nobody gets all of what is left.
#include "pool/credit.hpp"

#include <algorithm>

namespace forebay::pool {

namespace {

constexpr auto relaxed = std::memory_order_relaxed;

// A look at how fast clients use their credit.
constexpr std::int64_t look_ns = 10'000'000;

std::uint64_t blocks_of(std::uint64_t positions) noexcept {
    return (positions + block_bytes - 1) / block_bytes;
}

// What the client says that it has reserved, as far as it makes sense.
std::uint64_t reserved(const Client& client) noexcept {
    const std::uint64_t most = client.blocks.credit() + blocks_max * block_bytes;
    return std::min(client.log.header().reserved.load(relaxed), most);
}

// Blocks that hold something, or soon will.
std::int64_t used_by(const Client& client) noexcept {
    auto blocks = static_cast<std::int64_t>(client.blocks.provided() - client.blocks.idle());
    const std::uint64_t begun = blocks_of(reserved(client));
    if (client.standing <= Client::Standing::leaving && begun < client.blocks.leased_end()) {
        blocks -= static_cast<std::int64_t>(client.blocks.leased_end() - begun);
    }
    return std::max<std::int64_t>(blocks, 0);
}

}  // namespace

// The number of the block that its credit is to end with.
std::uint64_t Credit::wanted_end(const Client& client) {
    if (client.standing != Client::Standing::here) {
        return 0;
    }
    const std::uint64_t begun = blocks_of(reserved(client));
    return client.writes > 0 ? begun + static_cast<std::uint64_t>(client.ahead) : 0;
}

Lending Credit::survey() {
    Lending lending{.cap = ledger_.options.cap_bytes / static_cast<std::int64_t>(block_bytes)};
    for (const std::uint32_t number : ledger_.admitted) {
        const Client& client = *ledger_.clients[number];
        const auto holds = static_cast<std::int64_t>(client.blocks.provided());
        lending.held += holds;
        if (client.writes > 0 && client.standing == Client::Standing::here) {
            ++lending.writers;
            lending.missing += std::max<std::int64_t>(0, minimum_blocks - holds);
        }
    }
    return lending;
}

bool Credit::round() {
    Lending lending = survey();
    const bool looks = ledger_.now_ns() - looked_ns_ >= look_ns;
    looked_ns_ = looks ? ledger_.now_ns() : looked_ns_;
    for (const std::uint32_t number : ledger_.admitted) {
        Client& client = *ledger_.clients[number];
        client.waits = client.writes > 0 && client.standing == Client::Standing::here &&
                       reserved(client) > client.blocks.credit();
        const auto holds = static_cast<std::int64_t>(client.blocks.provided());
        lending.others_wait = lending.others_wait || (client.waits && holds < fair_share(lending));
        if (looks) {
            const std::uint64_t used =
                reserved(client) - std::min(reserved(client), client.reserved_before);
            client.reserved_before = reserved(client);
            client.ahead = next_ahead(client.ahead == 0 ? first_ahead : client.ahead,
                                      static_cast<std::int64_t>(used / block_bytes), lending);
        } else if (client.ahead == 0) {
            client.ahead = next_ahead(first_ahead, 0, lending);
        }
    }
    for (const std::uint32_t number : ledger_.admitted) {
        release(number, *ledger_.clients[number], lending);
    }
    bool any = false;
    for (bool more = true; more;) {
        more = false;
        for (const std::uint32_t number : ledger_.admitted) {
            more = lend(number, *ledger_.clients[number], lending) || more;
        }
        any = any || more;
    }
    wanting_ = false;
    in_use_ = 0;
    for (const std::uint32_t number : ledger_.admitted) {
        Client& client = *ledger_.clients[number];
        ClientSlot& slot = ledger_.directory.clients[number];
        wanting_ = wanting_ || (client.waits && reserved(client) > client.blocks.credit());
        in_use_ += used_by(client);
        if (client.blocks.credit() != slot.credit.load(relaxed)) {
            slot.credit.store(client.blocks.credit(), std::memory_order_release);
            client.news = true;
        }
    }
    DirectoryHeader& header = ledger_.directory.header;
    const std::int64_t leased = lending.held * static_cast<std::int64_t>(block_bytes);
    header.leased.store(leased, relaxed);
    header.high.store(std::max(header.high.load(relaxed), leased), relaxed);
    return any;
}

// One block. False: it wants none, or there is none.
bool Credit::lend(std::uint32_t number, Client& client, Lending& lending) {
    Blocks& blocks = client.blocks;
    if (blocks.leased_end() >= wanted_end(client) || !blocks.may_lease()) {
        return false;
    }
    if (!blocks.next_needs_memory()) {
        blocks.lease({});
        return true;
    }
    if (blocks.idle() == 0 && !provide(number, client, lending)) {
        return false;
    }
    const std::uint32_t physical = blocks.take_idle();
    ledger_.directory.leases[number][blocks.leased_end() % blocks_max].store(physical, relaxed);
    blocks.lease(physical);
    return true;
}

bool Credit::provide(std::uint32_t number, Client& client, Lending& lending) {
    const auto holds = static_cast<std::int64_t>(client.blocks.provided());
    const auto physical = client.blocks.absent();
    if (!physical || !may_have_more(holds, lending) ||
        !ledger_.ports.memory.provide(number, *physical)) {
        return false;
    }
    client.blocks.provide(*physical);
    ++lending.held;
    lending.missing -= holds < minimum_blocks ? 1 : 0;
    return true;
}

// Idle memory beyond what the client will soon use, or that others wait for.
void Credit::release(std::uint32_t number, Client& client, Lending& lending) {
    const bool here = client.standing == Client::Standing::here && client.writes > 0;
    if (client.writes == 0 && client.open.empty()) {
        // Nobody can be about to write where nothing is reserved.
        client.blocks.revoke(blocks_of(reserved(client)));
    }
    if (!here && client.blocks.idle() == 0) {
        return;
    }
    const auto keeps = [&] {
        if (!here) {
            return std::size_t{0};
        }
        const auto holds = static_cast<std::int64_t>(client.blocks.provided());
        const bool others = lending.others_wait && holds > fair_share(lending);
        return others ? std::size_t{0} : static_cast<std::size_t>(client.ahead);
    };
    while (client.blocks.idle() > keeps()) {
        ledger_.ports.memory.release(number, client.blocks.take_coldest());
        --lending.held;
    }
}

}  // namespace forebay::pool
