// The data of IOR 4, bit for bit: what --ior-compat writes and expects. A transfer of n words of
// eight bytes (little-endian), moved for task r at offset `at` of its file, signature S (-G):
//
//   timestamp       word i = r << 32 | S + i
//   offset          the same, but every 512th word (i = 512 m) is r << 32 | (at · (m + 1) mod 2^32)
//   incompressible  all words are one: two draws of rand_r begun at S + r; every 512th as above
//   random          word i = (word i-1 · 0x9e37fffffffc0001) >> 3, begun by rand_r at S + r + at
//
// S is IOR's signed 32-bit number and extends its sign. So two transfers of a task differ in their
// 512th words only, or not at all: Forebay's own data (measure::DataStream) tells more.
#pragma once

#include "benchmarks/ior/options.hpp"
#include "foundation/base/units.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace forebay::ior {

struct IorKey {
    PacketType type = PacketType::timestamp;
    std::int32_t signature = 0;
    std::int64_t task = 0;

    bool operator==(const IorKey&) const = default;
};

// `to` is one transfer, whole or its beginning.
void fill_as_ior(const IorKey& key, Offset at, std::span<std::byte> to) noexcept;

// Whether `got`, the beginning of a transfer at `at` of `task`, is IOR's data of any signature. The
// signature is 0 where the data does not tell it. At least 32 bytes are needed.
[[nodiscard]] std::optional<IorKey> ior_key_of(std::int64_t task, Offset at,
                                               std::span<const std::byte> got) noexcept;

}  // namespace forebay::ior
