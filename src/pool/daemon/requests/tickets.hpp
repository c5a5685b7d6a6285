// Numbers of what was begun and comes back later: one type for each source, so that a number of one
// is never taken for a number of another.
#pragma once

#include <compare>
#include <cstdint>
#include <variant>

namespace forebay::daemon {

// A task of the pool: drain, sync, leave or truncate a file, or drain all of them.
struct TaskTicket {
    std::uint64_t number = 0;
    auto operator<=>(const TaskTicket&) const noexcept = default;
};

// A question to the home of a file: for its token, or that other nodes' deposits be drained.
struct TokenTicket {
    std::uint64_t number = 0;
    auto operator<=>(const TokenTicket&) const noexcept = default;
};

// A file that a thread opens for the daemon.
struct OpeningTicket {
    std::uint64_t number = 0;
    auto operator<=>(const OpeningTicket&) const noexcept = default;
};

using Ticket = std::variant<TaskTicket, TokenTicket, OpeningTicket>;

struct ReturnedTicket {
    Ticket ticket;
    int error = 0;  // errno; only a task has one
};

}  // namespace forebay::daemon
