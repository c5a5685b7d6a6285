// Dispatches between the two data formats.
#include "benchmarks/ior/file_data.hpp"

#include <array>
#include <fmt/format.h>
#include <string_view>
#include <vector>

namespace forebay::ior {

namespace {

constexpr std::uint64_t repetitions_known_max = 4096;

std::string_view name_of(PacketType type) noexcept {
    constexpr std::array<std::string_view, 4> names{"timestamp", "offset", "incompressible",
                                                    "random"};
    return names[static_cast<std::size_t>(type)];
}

bool tells_signature(PacketType type) noexcept {
    return type == PacketType::timestamp || type == PacketType::offset;
}

}  // namespace

void FileData::fill(Offset at, std::span<std::byte> to) const noexcept {
    if (makes_ == DataFormat::ior) {
        fill_as_ior(key_, at, to);
    } else {
        stream_.fill(at, to);
    }
}

std::optional<measure::DataMismatch> FileData::check(Offset at,
                                                     std::span<const std::byte> got) const {
    if (makes_ == DataFormat::forebay) {
        return stream_.check(at, got);
    }
    std::vector<std::byte> expected(got.size());
    fill_as_ior(key_, at, expected);
    return measure::first_mismatch(at, expected, got);
}

void FileData::find_repetition(Offset at, std::span<const std::byte> got,
                               std::uint64_t count) noexcept {
    if (makes_ == DataFormat::forebay) {
        stream_.set_repetition(stream_.repetition_of(at, got, count).value_or(0));
    }
}

std::string FileData::origin(Offset at, std::span<const std::byte> got) const {
    const auto theirs = ior_key_of(key_.task, at, got);
    if (theirs && makes_ == DataFormat::forebay) {
        return fmt::format("The data looks like IOR's (-l {}{}). Add --ior-compat to check it.",
                           name_of(theirs->type),
                           tells_signature(theirs->type) ? fmt::format(" -G {}", theirs->signature)
                                                         : std::string());
    }
    if (theirs && theirs->type != key_.type) {
        return fmt::format("The data is IOR's of another kind (-l {0}). Give -l {0}.",
                           name_of(theirs->type));
    }
    if (theirs && tells_signature(theirs->type) && theirs->signature != key_.signature) {
        return fmt::format("The data is IOR's of another signature. Give -G {}.",
                           theirs->signature);
    }
    if (!theirs && makes_ == DataFormat::ior &&
        stream_.repetition_of(at, got, repetitions_known_max)) {
        return "The data is forebay-ior's own (written without --ior-compat). Leave --ior-compat "
               "out to check it.";
    }
    return {};
}

}  // namespace forebay::ior
