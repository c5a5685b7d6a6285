// The bytes of a file's arrays, at offsets that a library or a format says. They are written by
// MPI-IO, so that Forebay's collective engine and pool see them as any program's writes, and in
// independent calls, whose counts are looked at: Open MPI's collective writes, and what libraries
// make of short ones, end with success on a full disk.
#pragma once

#include "foundation/base/result.hpp"

#include <cstddef>
#include <cstdint>
#include <mpi.h>
#include <span>
#include <string>
#include <vector>

namespace forebay::output {

class ByteFile {
public:
    ByteFile() = default;
    ByteFile(ByteFile&& other) noexcept;
    ByteFile& operator=(ByteFile&& other) noexcept;
    ByteFile(const ByteFile&) = delete;
    ByteFile& operator=(const ByteFile&) = delete;
    ~ByteFile();

    // Collective over `writers`. Makes the file if there is none; what it has stays.
    [[nodiscard]] static Result<ByteFile> open(MPI_Comm writers, const std::string& path);
    // Collective.
    Result<void> set_size(std::int64_t bytes);
    // Not collective. All of `bytes` is with the file system (or the pool), or the call fails.
    Result<void> write(std::int64_t at, std::span<const std::byte> bytes);
    // Not collective. Bytes behind the end of the file are as they were.
    Result<void> read(std::int64_t at, std::span<std::byte> bytes);
    [[nodiscard]] Result<std::int64_t> size() const;
    // Collective.
    Result<void> close();

private:
    ByteFile(MPI_File file, std::string path) : file_(file), path_(std::move(path)) {}
    [[nodiscard]] std::string doing(const char* verb) const;

    MPI_File file_ = MPI_FILE_NULL;
    std::string path_;
};

// The bytes of elements in the order that a file wants, which need not be this machine's.
class ElementBytes {
public:
    // `bytes` outlives the object.
    ElementBytes(std::span<const std::byte> bytes, std::size_t element_bytes, bool swapped);
    [[nodiscard]] std::span<const std::byte> get() const noexcept { return bytes_; }

private:
    std::vector<std::byte> swapped_;
    std::span<const std::byte> bytes_;
};

}  // namespace forebay::output
