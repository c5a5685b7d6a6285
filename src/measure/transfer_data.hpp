// The bytes of whole transfers, made for next to nothing: what a loop of writes costs beside its
// system calls must stay below 100 ns, also for 1 MiB.
//
// Small transfers (up to 8 KiB), and all when `exact` is asked for, are parts of the DataStream:
// they can be checked in pieces of any size. Larger ones are windows into a pool of noise, which
// begin at a place that seed, file, repetition and offset choose, with four stamps of 16 bytes that
// say offset and key. They are as incompressible, and any block in a wrong place is seen; but they
// must be checked with the transfer size that wrote them.
#pragma once

#include "measure/aligned_bytes.hpp"
#include "measure/data_stream.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <span>

namespace forebay::measure {

enum class Precision { quick, exact };
enum class Placement { cache_line, page };  // where windows may begin: a page for O_DIRECT

class TransferData {
public:
    static constexpr std::size_t exact_bytes_max = 8192;
    static constexpr std::size_t slack_bytes = 131'072;

    struct Shape {
        std::size_t transfer_bytes = 0;
        Precision precision = Precision::quick;
        Placement placement = Placement::cache_line;
    };

    TransferData(StreamKey key, Shape shape);

    // The transfer at `at`; the bytes are good until the next call. 20 ns for a window.
    [[nodiscard]] std::span<const std::byte> at(Offset at) noexcept;
    // The same, for `count` bytes of it (the last transfer of a file may be short).
    [[nodiscard]] std::optional<Mismatch> check(Offset at, std::span<const std::byte> got) noexcept;

    void set_repetition(std::uint64_t repetition) noexcept;
    // Which of the first `count` repetitions `got` is of, by its first bytes; nullopt: none.
    [[nodiscard]] std::optional<std::uint64_t> repetition_of(Offset at,
                                                             std::span<const std::byte> got,
                                                             std::uint64_t count) noexcept;
    [[nodiscard]] const StreamKey& key() const noexcept { return stream_.key(); }

private:
    static constexpr std::size_t stamps = 4;
    using Stamp = std::array<std::uint64_t, 2>;

    [[nodiscard]] std::span<const std::byte> window_at(Offset at) noexcept;
    void put_back() noexcept;

    DataStream stream_;
    Shape shape_;
    bool windows_ = false;
    std::uint64_t base_ = 0;
    AlignedBytes memory_;
    std::size_t begin_ = 0;  // of the present window
    bool stamped_ = false;
    std::array<Stamp, stamps> under_{};  // what the stamps cover
};

}  // namespace forebay::measure
