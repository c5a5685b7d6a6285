// The model of a storage server's read cache (Lustre's OSS read cache): blocks with FIFO
// replacement. A request for a block that is still being read waits for it. Pure: it has no clock.
#pragma once

#include <cstddef>
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
    struct Key {
        std::int64_t object = 0;
        std::int64_t block = 0;

        bool operator==(const Key&) const noexcept = default;
    };
    struct KeyHash {
        [[nodiscard]] std::size_t operator()(const Key& key) const noexcept {
            constexpr std::uint64_t golden = 0x9e3779b97f4a7c15;
            return static_cast<std::uint64_t>(key.object) * golden ^
                   static_cast<std::uint64_t>(key.block);
        }
    };

    std::int64_t blocks_max_;
    std::unordered_map<Key, double, KeyHash> until_;
    std::deque<Key> order_;
};

}  // namespace forebay::adapters
