// Port: the services that a process needs of its node's daemon while it writes and reads, besides
// the memory that they share. Adapters: DaemonConnection in programs, and the mount's, the
// simulator's and the tests' own.
#pragma once

#include "pool/protocol/directory.hpp"
#include "pool/protocol/log.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace forebay::pool {

class Daemon {
public:
    Daemon(const Daemon&) = delete;
    Daemon& operator=(const Daemon&) = delete;

    // Whether the daemon lives. One load, no system call.
    [[nodiscard]] virtual bool alive() const noexcept = 0;
    // CLOCK_MONOTONIC in nanoseconds, the same for all processes of the node.
    [[nodiscard]] virtual std::int64_t now_ns() const noexcept = 0;
    // Wakes the daemon, so that it looks at the logs at once instead of in its next regular round.
    virtual void kick() noexcept = 0;
    // Sleeps on the futex word while it is `seen`, but for some milliseconds at most.
    virtual void wait(const Word& word, std::uint32_t seen) noexcept = 0;
    // The log of another client, mapped for reading; an unmapped Log if it cannot be had.
    [[nodiscard]] virtual Log log_of(std::uint32_t client) noexcept = 0;
    // Whether this process can see the client's commits in its log, because the log is mapped or
    // can be. If false, the reader has to wait for a round of the daemon instead.
    [[nodiscard]] virtual bool sees(std::uint32_t /*client*/) noexcept { return true; }
    // Prepares bytes of this process' log for their first write (maps the pages).
    virtual void prepare(std::byte* begin, std::size_t bytes) noexcept = 0;
    // Writes `bytes` to new memory of the log without mapping it first, which costs half as much as
    // prepare() and a copy. False: this cannot be done, and nothing counts as written.
    [[nodiscard]] virtual bool fill(std::byte* /*to*/,
                                    std::span<const std::byte> /*bytes*/) noexcept {
        return false;
    }
    // Copies `bytes` to memory of the log that was prepared. In the simulator neither exists, and
    // the copying takes virtual time.
    virtual void copy(std::byte* to, std::span<const std::byte> bytes) noexcept {
        std::memcpy(to, bytes.data(), bytes.size());
    }

protected:
    // Protected and not virtual: nobody deletes an adapter through this class, since `operator
    // delete` would come from the C++ library, which programs need not have.
    Daemon() noexcept = default;
    ~Daemon() = default;
};

// Names a file in the directory: its slot, and the slot's generation, by which a stale name is
// recognised.
struct FileId {
    std::uint32_t slot = 0;
    std::uint32_t generation = 0;
};

}  // namespace forebay::pool
