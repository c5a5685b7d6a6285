// The messages between a process and the daemon of its node, over a socket that keeps messages
// apart (SOCK_SEQPACKET). Every question has one reply, in order. Descriptors travel with a message
// where the table says so (SCM_RIGHTS). Both sides are on one machine: numbers are as they lie in
// memory. Needs nothing of the C++ library at run time.
//
//   question    carries                                  reply carries
//   hello       number: the process; flags               client; the directory (read-only), the own
//                                                        log, the bell: an eventfd, and clean
//                                                        blocks (read-only), if there are any
//   watch       nothing                                  the directory (read-only)
//   open        path, flags, inode, group; a descriptor  slot, generation, state; EREMOTEIO:
//               of the file                              another node has bytes that cannot be had
//   close       slot, generation                         nothing
//   sync        slot, generation, flags                  error: of draining, or of fsync
//   leave       slot, generation, number: a Reason       error; the file is written through then
//   truncate    slot, generation, number: bytes          error
//   log         number: a client                         its log (read-only), where it has one
//   status      nothing                                  a JSON document in a memfd
//   drain       nothing                                  error: of the first file that has one
//   stop        nothing                                  as drain; the daemon then ends
//   adjust      slot, generation, flags, number: the     error: EBUSY where more than a switch
//               window in bytes, 0: as it is             keeps the file out of the pool
//   settle      slot, generation                         error: of draining, on whatever node;
//                                                        EREMOTEIO: as for open
//   lend        group: a name that the client chose      error: EEXIST where it has lent by another
//                                                        name, or the name is somebody else's
//   borrow      group: such a name                       the log of that client, for writing
//   run         inode, number: the device                error: why it could not be drained; once
//                                                        the daemon has drained and closed the
//                                                        file, unless clients have it open
//   uncaptured  flags, number: a process; inode: the     nothing; once all files are drained and
//               one that asks, as it sees itself;        written through. They stay so until the
//               path: which program, and why nobody      process has ended and nobody has the other
//               captures it                              end of this connection any more
#pragma once

#include "pool/protocol/limits.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace forebay::protocol {

enum class Ask : std::uint32_t {
    hello = 1,
    watch,
    open,
    close,
    sync,
    leave,
    truncate,
    log,
    status,
    drain,
    stop,
    adjust,
    settle,
    lend,
    borrow,
    run,
    uncaptured,
};

// Bits of Question::flags.
inline constexpr std::uint32_t for_writing = 1;   // open: the descriptor may write
inline constexpr std::uint32_t through_only = 2;  // open: the file is to leave; number: the Reason
inline constexpr std::uint32_t last_try = 1;      // hello: it will not ask again
inline constexpr std::uint32_t to_storage = 1;    // sync: fsync as well, not only drain
// sync: the client then changes the file itself, beside its bytes.
inline constexpr std::uint32_t before_change = 2;
// sync: drained only where it cannot be known otherwise whether there is room for all of it.
inline constexpr std::uint32_t for_room = 4;
inline constexpr std::uint32_t comes_back = 1;   // adjust: pooled again, after Reason::switched
inline constexpr std::uint32_t itself = 1;       // uncaptured: the process is the one that asks
inline constexpr std::uint32_t not_started = 2;  // uncaptured: it is still what it was

struct Question {
    std::uint64_t format = pool::format;
    Ask ask = Ask::hello;
    std::uint32_t flags = 0;
    std::uint32_t slot = 0;
    std::uint32_t generation = 0;
    std::int64_t number = 0;
    std::uint64_t inode = 0;
    // The group of ranks on several nodes that write the file together, by collective calls only;
    // 0: none. lend, borrow: the name of a log.
    std::uint64_t group = 0;
    std::array<char, pool::path_bytes> path{};  // ends with a zero
};

struct Reply {
    std::uint64_t format = pool::format;
    Ask ask = Ask::hello;    // the question's
    std::int32_t error = 0;  // errno; 0: done
    std::uint32_t client = 0;
    std::uint32_t slot = 0;
    std::uint32_t generation = 0;
    std::uint32_t state = 0;  // pool::FileState
    std::int64_t number = 0;
};

// The question that came over the socket; nullopt: it is none (wrong size or format, unknown, a
// slot or a client beyond the bounds, a negative number where none may be, a path without an end).
[[nodiscard]] std::optional<Question> question_of(std::span<const std::byte> bytes) noexcept;
[[nodiscard]] std::optional<Reply> reply_of(std::span<const std::byte> bytes) noexcept;

}  // namespace forebay::protocol
