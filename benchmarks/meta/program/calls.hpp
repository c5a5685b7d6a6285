// The system calls that metadata benchmarks time, returning results. The DUMMY back end makes none.
#pragma once

#include "benchmarks/measure/data_stream.hpp"
#include "benchmarks/meta/command.hpp"
#include "foundation/base/own_fd.hpp"
#include "foundation/base/result.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace forebay::bench {

// The data written to files and checked. Item and rank together number the stream's repetition.
class ItemData {
public:
    explicit ItemData(const meta::MetaCommand& request);

    // The content of a file; valid until the next call.
    [[nodiscard]] std::span<std::byte> of(std::uint64_t item, std::int64_t bytes);
    // The first difference in buffer().
    [[nodiscard]] std::optional<measure::DataMismatch> check(std::uint64_t item,
                                                             std::int64_t bytes);
    [[nodiscard]] std::span<std::byte> buffer() noexcept { return buffer_; }

private:
    measure::DataStream stream_;
    std::vector<std::byte> buffer_;
};

// Runs a shell command and waits for it; error if its exit status is not 0.
[[nodiscard]] Result<void> run_command(const std::string& command);

// Creates a directory and its missing ancestors. The errno of the first failure; EEXIST: it
// existed.
[[nodiscard]] int make_with_parents(const std::string& directory);

class FileCalls {
public:
    explicit FileCalls(meta::MetaBackend backend) : dummy_(backend == meta::MetaBackend::dummy) {}

    [[nodiscard]] Result<void> make_directory(const std::string& path) const;
    [[nodiscard]] Result<void> remove_directory(const std::string& path) const;
    [[nodiscard]] Result<void> rename(const std::string& from, const std::string& to) const;
    [[nodiscard]] Result<void> stat(const std::string& path) const;
    [[nodiscard]] Result<void> unlink(const std::string& path) const;
    [[nodiscard]] Result<void> make_node(const std::string& path) const;
    // `flags` as for open(2).
    [[nodiscard]] Result<OwnFd> open(const std::string& path, int flags) const;
    [[nodiscard]] Result<void> close(OwnFd fd, const std::string& path) const;
    [[nodiscard]] Result<void> write(const OwnFd& fd, std::span<const std::byte> bytes,
                                     const std::string& path) const;
    [[nodiscard]] Result<void> read(const OwnFd& fd, std::span<std::byte> bytes,
                                    const std::string& path) const;
    [[nodiscard]] Result<void> sync(const OwnFd& fd, const std::string& path) const;

private:
    bool dummy_;
};

}  // namespace forebay::bench
