// Reads ahead what clients say that they will read, block by block, once for all of them. Reads of
// one file end where its stripes end, so many at a time as draining has under way.
#pragma once

#include "pool/core/state/pool_state.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace forebay::pool {

class Prefetch {
public:
    explicit Prefetch(PoolState& pool_state) : pool_state_{pool_state} {}

    // A client will read this range. Its hint is checked first.
    void wish(std::uint32_t client, File& file, std::int64_t offset, std::uint32_t length);
    // See Pool::share.
    [[nodiscard]] Shared share(File& file, const Extent& range, bool begins);
    // Takes completions, begins reading, gives memory back. True when anything was done.
    bool round(bool memory_is_short);
    [[nodiscard]] bool idle() const noexcept {
        return files_.empty() && pool_state_.read_cache.tight();
    }

private:
    [[nodiscard]] bool may_fetch(const File& file);
    void list(File& file);
    void count_reader(std::uint32_t client);
    void publish_share();
    void wish_block(File& file, std::int64_t block, CleanRange range);
    void make_room(File& file);
    bool collect(File& file);
    bool start(File& file);
    void end(File& file, std::size_t job, int error);
    [[nodiscard]] bool prepare(File& file);
    void give_up(File& file);
    void note_time(const File& file, std::int64_t ns) const;
    void begin(File& file, std::size_t job, const FetchedBlock& block,
               const ReadCache::Place& place);

    PoolState& pool_state_;
    std::vector<std::uint32_t> files_;  // slots of files with something queued or in flight
    std::size_t in_flight_ = 0;         // blocks of all files
    std::map<std::uint32_t, std::int64_t> readers_;  // clients, and when their last hint came
    std::int64_t counted_ns_ = 0;
};

}  // namespace forebay::pool
