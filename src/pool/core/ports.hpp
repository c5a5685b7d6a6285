// The pool's needs of the node, as interfaces: memory, clocks, sleepers, background I/O, a journal.
#pragma once

#include "foundation/ports/background_io.hpp"
#include "foundation/ports/clock.hpp"
#include "pool/protocol/directory.hpp"
#include "pool/protocol/known_inodes.hpp"

#include <cstddef>
#include <cstdint>

namespace forebay::pool {

// The memory behind the clients' logs. Charged to who provides it, the daemon; cleared by who
// touches it first, the client.
class LogMemory {
public:
    virtual ~LogMemory() = default;
    // Physical block `block` of the client is there from now on. False: there is no memory.
    [[nodiscard]] virtual bool provide(std::uint32_t client, std::uint32_t block) = 0;
    // It may be given back to the system.
    virtual void release(std::uint32_t client, std::uint32_t block) = 0;
};

// The memory of read-cache blocks, one for all clients, which may only read it.
class CleanMemory {
public:
    virtual ~CleanMemory() = default;
    // The memory of block `number`, from 1 on; see clean_place().
    [[nodiscard]] virtual std::byte* block(std::uint32_t number) = 0;
    // It is there from now on. False: there is no memory.
    [[nodiscard]] virtual bool provide(std::uint32_t number) = 0;
    // It may be given back to the system.
    virtual void release(std::uint32_t number) = 0;
};

class JournalWriter;

// Those who sleep on a word of the directory.
class WordSleepers {
public:
    virtual ~WordSleepers() = default;
    // The word has changed.
    virtual void wake(Word& word) = 0;
};

// The pool's needs of the node. All of it outlives the pool.
struct PoolPorts {
    LogMemory& memory;
    WordSleepers& sleepers;
    const ports::TimeSource& clock;     // CLOCK_MONOTONIC: of the entries in the logs
    const ports::TimeSource& calendar;  // CLOCK_REALTIME: of files' times
    // Null: what takes long (fsync, truncate) is done by run_once() itself, and holds up all files.
    ports::BackgroundIo* background_io = nullptr;
    // Null: nothing is read ahead.
    CleanMemory* clean = nullptr;
    // Processor time of this process. Null: it may take as much as there is.
    const ports::TimeSource* effort = nullptr;
    // Null: what is taken is durable enough.
    JournalWriter* journal = nullptr;
    // Null: nobody looks for files there.
    KnownInodes* inodes = nullptr;
};

}  // namespace forebay::pool
