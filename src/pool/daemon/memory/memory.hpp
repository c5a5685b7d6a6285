// The memory that the daemon and its clients share: the logs, and who sleeps on its words.
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

    // A log that belongs to no client yet: the next that is admitted.
    [[nodiscard]] Result<pool::Log> prepare();
    void assign(std::uint32_t client);
    // The client will never map its log, which is to take no descriptor.
    void keep_to_itself(std::uint32_t client) { areas_.at(client).keep_to_itself(); }
    // Nobody was admitted.
    void discard() { next_ = SharedSegment{}; }
    void forget(std::uint32_t client);
    // Not made: there is no such client.
    [[nodiscard]] const SharedSegment& segment(std::uint32_t client) const {
        return areas_.at(client);
    }
    // Any process that knows the name may write to the client's log from now on. False: the client
    // has lent it by another name, or the name is somebody else's.
    [[nodiscard]] bool lend(std::uint32_t client, std::uint64_t name);
    // Null: nobody has lent anything by that name.
    [[nodiscard]] const SharedSegment* lent(std::uint64_t name) const;

    [[nodiscard]] bool provide(std::uint32_t client, std::uint32_t block) override;
    void release(std::uint32_t client, std::uint32_t block) override;

private:
    [[nodiscard]] SharedSegment& area_of(std::uint32_t client);

    std::vector<SharedSegment> areas_;
    std::vector<std::uint64_t> names_;  // by which logs are lent; 0: it is not
    SharedSegment next_;
};

// One segment for all clients, who can only read it.
class SharedCleanMemory final : public pool::CleanMemory {
public:
    // For so many blocks; none takes memory until it is provided. 0: there is no segment.
    [[nodiscard]] static Result<SharedCleanMemory> make(std::size_t blocks);
    [[nodiscard]] const SharedSegment& segment() const noexcept { return segment_; }

    [[nodiscard]] std::byte* block(std::uint32_t number) override;
    [[nodiscard]] bool provide(std::uint32_t number) override;
    void release(std::uint32_t number) override;

private:
    SharedSegment segment_;
};

// Wakes in every process that maps the word.
class SharedSleepers final : public pool::WordSleepers {
public:
    void wake(pool::Word& word) override;
};

}  // namespace forebay::daemon
