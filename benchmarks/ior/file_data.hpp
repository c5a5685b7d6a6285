// The data that a benchmark writes and expects: Forebay's stream or, with --ior-compat, IOR's. For
// wrong data it guesses the origin.
#pragma once

#include "benchmarks/ior/ior_data.hpp"
#include "benchmarks/measure/data_stream.hpp"

#include <optional>
#include <span>
#include <string>

namespace forebay::ior {

enum class DataFormat { forebay, ior };

class FileData {
public:
    FileData(DataFormat makes, const measure::DataStream& stream, const IorKey& key) noexcept
        : makes_(makes), stream_(stream), key_(key) {}

    // Whether a transfer can be generated and checked in pieces; IOR's data restarts with each
    // transfer.
    [[nodiscard]] bool in_pieces() const noexcept { return makes_ == DataFormat::forebay; }
    void fill(Offset at, std::span<std::byte> to) const noexcept;
    [[nodiscard]] std::optional<measure::DataMismatch> check(Offset at,
                                                             std::span<const std::byte> got) const;
    // Finds the repetition of an earlier run that wrote `got`; IOR's data does not depend on it.
    void find_repetition(Offset at, std::span<const std::byte> got, std::uint64_t count) noexcept;
    // Explains wrong data at the start of a transfer: "the data is IOR's …"; empty if nothing fits.
    [[nodiscard]] std::string origin(Offset at, std::span<const std::byte> got) const;

private:
    DataFormat makes_;
    measure::DataStream stream_;
    IorKey key_;
};

}  // namespace forebay::ior
