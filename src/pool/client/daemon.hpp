// The services that a process needs of its node's daemon while it writes and reads, beside the
// memory that they share.
#pragma once

#include "pool/protocol/directory.hpp"
#include "pool/protocol/log.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace forebay::pool {

class Daemon {
public:
    Daemon(const Daemon&) = delete;
    Daemon& operator=(const Daemon&) = delete;

    // A load, no system call.
    [[nodiscard]] virtual bool alive() const noexcept = 0;
    // CLOCK_MONOTONIC, the same for all processes of the node.
    [[nodiscard]] virtual std::int64_t now_ns() const noexcept = 0;
    // It looks at the logs at once, not only the next time that it would anyway.
    virtual void kick() noexcept = 0;
    // Sleeps until `word` is not `seen` any more, or for some milliseconds.
    virtual void wait(const Word& word, std::uint32_t seen) noexcept = 0;
    // The log of another client, to read it; not mapped where that cannot be had.
    [[nodiscard]] virtual Log log_of(std::uint32_t client) noexcept = 0;
    // Whether the client's commits can be seen in its log, which is mapped or may be; else the
    // reader has to wait for a round of the daemon.
    [[nodiscard]] virtual bool sees(std::uint32_t /*client*/) noexcept { return true; }
    // These bytes of the own log will be written for the first time.
    virtual void prepare(std::byte* begin, std::size_t bytes) noexcept = 0;
    // The same for these bytes, and writes them: new memory that is not mapped first costs half as
    // much. False: this cannot be done, and nothing was written that matters.
    [[nodiscard]] virtual bool fill(std::byte* /*to*/,
                                    std::span<const std::byte> /*bytes*/) noexcept {
        return false;
    }

protected:
    // Nobody deletes one through this class: `operator delete` is the C++ library's.
    Daemon() noexcept = default;
    ~Daemon() = default;
};

// A file as a process knows it.
struct FileId {
    std::uint32_t slot = 0;
    std::uint32_t generation = 0;
};

}  // namespace forebay::pool
