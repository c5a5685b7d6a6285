// The memory that the daemon and its clients share: the clients' logs, the read-cache blocks, and
// futex words that either side sleeps on.
#pragma once

#include "pool/core/pool.hpp"
#include "pool/daemon/memory/shared_segment.hpp"
#include "pool/protocol/log.hpp"

#include <cstdint>
#include <vector>

namespace forebay::daemon {

class SharedLogMemory final : public pool::LogMemory {
public:
    SharedLogMemory();

    // Makes a log for the client that is admitted next.
    [[nodiscard]] Result<pool::Log> prepare();
    // Gives the prepared log to the client.
    void assign(std::uint32_t client);
    // The client will never map its log: closes the log's descriptor, as descriptors are scarce.
    void keep_to_itself(std::uint32_t client) { areas_.at(client).keep_to_itself(); }
    // No client was admitted: frees the prepared log.
    void discard() { next_ = SharedSegment{}; }
    // The client has departed: frees its log.
    void forget(std::uint32_t client);
    // Its made() is false where there is no such client.
    [[nodiscard]] const SharedSegment& segment(std::uint32_t client) const {
        return areas_.at(client);
    }
    // From now on, any process that knows the name may map the client's log for writing. False: the
    // client has lent it under another name, or another client uses this name.
    [[nodiscard]] bool lend(std::uint32_t client, std::uint64_t name);
    // Null: no log is lent under this name.
    [[nodiscard]] const SharedSegment* lent(std::uint64_t name) const;

    [[nodiscard]] bool provide(std::uint32_t client, std::uint32_t block) override;
    void release(std::uint32_t client, std::uint32_t block) override;

private:
    [[nodiscard]] SharedSegment& area_of(std::uint32_t client);

    std::vector<SharedSegment> areas_;
    // The name under which each client's log is lent; 0: it is not.
    std::vector<std::uint64_t> names_;
    SharedSegment next_;
};

// The memory of read-cache blocks: one segment, which all clients map read-only.
class SharedCleanMemory final : public pool::CleanMemory {
public:
    // With room for `blocks` blocks, none of which takes memory until it is provided. With 0 blocks
    // there is no segment.
    [[nodiscard]] static Result<SharedCleanMemory> make(std::size_t blocks);
    [[nodiscard]] const SharedSegment& segment() const noexcept { return segment_; }

    [[nodiscard]] std::byte* block(std::uint32_t number) override;
    [[nodiscard]] bool provide(std::uint32_t number) override;
    void release(std::uint32_t number) override;

private:
    SharedSegment segment_;
};

// Wakes sleepers in all processes that map the futex word.
class SharedSleepers final : public pool::WordSleepers {
public:
    void wake(pool::Word& word) override;
};

}  // namespace forebay::daemon
