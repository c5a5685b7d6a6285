// The ports of the pool, which its daemon implements on a real node and tests implement in memory:
// log memory, read-cache memory, clocks, waking, background I/O, the journal.
#pragma once

#include "foundation/ports/background_io.hpp"
#include "foundation/ports/clock.hpp"
#include "pool/protocol/directory.hpp"
#include "pool/protocol/known_inodes.hpp"

#include <cstddef>
#include <cstdint>

namespace forebay::pool {

// The memory of the clients' logs. It is charged to the daemon, which provides it, and cleared by
// the client, which touches it first.
class LogMemory {
public:
    virtual ~LogMemory() = default;
    // Provides physical block `block` of the client's log. Returns false if there is no memory.
    [[nodiscard]] virtual bool provide(std::uint32_t client, std::uint32_t block) = 0;
    // Gives the block's memory back to the system; its bytes are lost.
    virtual void release(std::uint32_t client, std::uint32_t block) = 0;
};

// The memory of the read cache. All clients map it, read-only.
class CleanMemory {
public:
    virtual ~CleanMemory() = default;
    // The memory of block `number`, counted from 1; see clean_place().
    [[nodiscard]] virtual std::byte* block(std::uint32_t number) = 0;
    // Provides the block's memory. Returns false if there is none.
    [[nodiscard]] virtual bool provide(std::uint32_t number) = 0;
    // Gives the block's memory back to the system.
    virtual void release(std::uint32_t number) = 0;
};

class JournalWriter;

// Clients that sleep on a futex word of the directory.
class WordSleepers {
public:
    virtual ~WordSleepers() = default;
    // Wakes all that sleep on `word`, which has changed.
    virtual void wake(Word& word) = 0;
};

// All ports. Each of them outlives the pool.
struct PoolPorts {
    LogMemory& memory;
    WordSleepers& sleepers;
    const ports::TimeSource& clock;     // CLOCK_MONOTONIC, as in log entries
    const ports::TimeSource& calendar;  // CLOCK_REALTIME, as in files' times
    // Null: run_once() itself makes calls that take long (fsync, truncate), and holds up all files.
    ports::BackgroundIo* background_io = nullptr;
    // Null: there is no read-ahead.
    CleanMemory* clean = nullptr;
    // Processor time of the daemon, which is kept to one processor. Null: the daemon is not
    // limited.
    const ports::TimeSource* effort = nullptr;
    // Null: there is no journal, and writes are acknowledged when they are in the pool.
    JournalWriter* journal = nullptr;
    // Null: the kernel's file times have no ticks.
    const ports::TickSource* file_ticks = nullptr;
    // Null: no filter of known inodes is kept.
    KnownInodes* inodes = nullptr;
};

}  // namespace forebay::pool
