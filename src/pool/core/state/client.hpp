// The daemon's record of one client. PoolClients alone changes its standing; each public member
// belongs to one module of the pool, which alone writes to it.
#pragma once

#include "foundation/base/contracts.hpp"
#include "pool/core/credit/lending_state.hpp"
#include "pool/core/flush/journal_state.hpp"
#include "pool/core/ingest/ingest_state.hpp"
#include "pool/core/state/blocks.hpp"
#include "pool/protocol/log.hpp"

#include <cstdint>
#include <deque>
#include <optional>

namespace forebay::pool {

class Client {
public:
    enum class Standing {
        here,
        distrusted,  // its log is malformed and ignored; it is to be dismissed
        dismissed,   // its last commits are still to be taken
        // Everything is taken; its log is kept while it holds bytes.
        gone,
        departed,
    };
    // The seal of a log (pool/protocol/log.hpp): since when (CLOCK_MONOTONIC), and how many entry
    // numbers had been given out.
    struct Seal {
        std::int64_t since_ns = 0;
        std::uint64_t numbers = 0;
    };

    Client(std::uint32_t number, std::uint64_t process, Log log) noexcept
        : number_{number}, process_{process}, log_{log} {}

    [[nodiscard]] std::uint32_t number() const noexcept { return number_; }
    [[nodiscard]] std::uint64_t process() const noexcept { return process_; }
    [[nodiscard]] const Log& log() const noexcept { return log_; }
    [[nodiscard]] Standing standing() const noexcept { return standing_; }
    [[nodiscard]] const std::optional<Seal>& seal() const noexcept { return seal_; }
    [[nodiscard]] bool is_here() const noexcept { return standing_ == Standing::here; }
    // Whether entries of its log are taken.
    [[nodiscard]] bool is_taken_from() const noexcept {
        return standing_ == Standing::here || standing_ == Standing::dismissed;
    }
    // Whether nothing more will come from its log.
    [[nodiscard]] bool has_ended() const noexcept { return standing_ >= Standing::gone; }

    // A value in its slot has changed: whoever sleeps on `progress` is woken at the end of the
    // round.
    void notify() noexcept { progressed_ = true; }
    // More of its commits are durable: whoever sleeps on `synced` is woken then.
    void notify_synced() noexcept { synced_ = true; }

    // The number of files that it has open for writing.
    [[nodiscard]] std::int64_t files_written() const noexcept { return files_written_; }
    void begin_writing() noexcept { ++files_written_; }
    void end_writing() noexcept {
        expects(files_written_ > 0, "the client has the file open for writing");
        --files_written_;
    }

    LogBlocks blocks;
    LogProgress ingest;
    LendingState lending;
    std::deque<AwaitedCommits> awaited;  // empty unless there is a journal

private:
    friend class PoolClients;

    std::uint32_t number_;
    std::uint64_t process_;
    Log log_;
    Standing standing_ = Standing::here;
    std::optional<Seal> seal_;
    std::int64_t files_written_ = 0;
    bool progressed_ = false;
    bool synced_ = false;
};

}  // namespace forebay::pool
