// Tickets: numbers of operations that were begun and end later. Each source has a type of its own,
// so that a number of one source is never taken for that of another.
#pragma once

#include <compare>
#include <cstdint>
#include <variant>

namespace forebay::daemon {

// A task of the pool: drain, sync, truncate or remove a file from the pool, or drain all files.
struct TaskTicket {
    std::uint64_t number = 0;
    auto operator<=>(const TaskTicket&) const noexcept = default;
};

// A question to the home of a file: for a token, or that all nodes drain their deposits.
struct TokenTicket {
    std::uint64_t number = 0;
    auto operator<=>(const TokenTicket&) const noexcept = default;
};

// An opening of a file by a background thread.
struct OpeningTicket {
    std::uint64_t number = 0;
    auto operator<=>(const OpeningTicket&) const noexcept = default;
};

using Ticket = std::variant<TaskTicket, TokenTicket, OpeningTicket>;

struct ReturnedTicket {
    Ticket ticket;
    int error = 0;  // an errno, or 0; only tasks have one
};

}  // namespace forebay::daemon
