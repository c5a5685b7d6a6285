// A storage server's cache of bytes that were read (Lustre's OSS read cache): whole blocks, the
// oldest of which go when it is full. A client that asks for a block that is still being read waits
// for it. Knows no clock.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>

namespace forebay::adapters {

class ServerMemory {
public:
    static constexpr std::int64_t block_bytes = 256 << 10;

    explicit ServerMemory(std::int64_t bytes) : blocks_max_{bytes / block_bytes} {}

    // When block number `block` of the object is there; nullopt: it has to be read.
    [[nodiscard]] std::optional<double> there(std::int64_t object, std::int64_t block) const;
    // It is being read until then.
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
