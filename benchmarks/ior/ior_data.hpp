// The data of IOR 4, bit for bit: what --ior-compat writes and expects. A transfer consists of n
// words of eight bytes (little-endian), moved for task r at offset `at` of its file, with signature
// S (-G):
//
//   timestamp       word i = r << 32 | S + i
//   offset          the same, but every 512th word (i = 512 m) is r << 32 | (at · (m + 1) mod 2^32)
//   incompressible  all words are one: two draws of rand_r begun at S + r; every 512th as above
//   random          word i = (word i-1 · 0x9e37fffffffc0001) >> 3, begun by rand_r at S + r + at
//
// S is IOR's signed 32-bit number, sign-extended. Two transfers of a task therefore differ in every
// 512th word only, or not at all; Forebay's data (measure::DataStream) identifies every word.
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

// `to` is a whole transfer or the beginning of one.
void fill_as_ior(const IorKey& key, Offset at, std::span<std::byte> to) noexcept;

// If `got`, the beginning of a transfer of `task` at `at`, is IOR's data, returns its key. The
// signature is 0 if it cannot be determined. Needs 32 bytes.
[[nodiscard]] std::optional<IorKey> ior_key_of(std::int64_t task, Offset at,
                                               std::span<const std::byte> got) noexcept;

}  // namespace forebay::ior
