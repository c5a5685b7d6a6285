// The model of a storage server's read cache (Lustre's OSS read cache): blocks with FIFO
// replacement. A request for a block that is still being read waits for it. Pure: it has no clock.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>

namespace forebay::adapters {

class ServerReadCache {
public:
    static constexpr std::int64_t block_bytes = 256 << 10;

    explicit ServerReadCache(std::int64_t bytes) : blocks_max_{bytes / block_bytes} {}

    // The time (seconds) at which block number `block` of the object is in the cache; nullopt: a
    // miss.
    [[nodiscard]] std::optional<double> there(std::int64_t object, std::int64_t block) const;
    // Inserts a block whose read ends at `until`; evicts the oldest block if the cache is full.
    void keep(std::int64_t object, std::int64_t block, double until);

private:
    [[nodiscard]] static std::uint64_t key(std::int64_t object, std::int64_t block) noexcept {
        return static_cast<std::uint64_t>(object) << 32 ^ static_cast<std::uint64_t>(block);
    }

    std::int64_t blocks_max_;
    std::unordered_map<std::uint64_t, double> until_;
    std::deque<std::uint64_t> order_;
};

}  // namespace forebay::adapters
