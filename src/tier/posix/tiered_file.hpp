// The port TieredFile over a file descriptor.
#pragma once

#include "foundation/base/own_fd.hpp"
#include "tier/mover/ports.hpp"
#include "tier/posix/record_store.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace forebay::tier {

class PosixTieredFile final : public TieredFile {
public:
    struct Options {
        std::string path{};             // for messages
        std::string key{};              // of its record
        std::uint64_t file_system = 0;  // see file_system_of()
        bool striped = false;           // its file system may have stripes: stripes() asks for them
    };
    // `fd` is open for reading and writing. The store outlives this object.
    PosixTieredFile(OwnFd fd, RecordStore& records, Options options)
        : fd_{std::move(fd)}, records_{records}, options_{std::move(options)} {}

    [[nodiscard]] int fd() const noexcept { return fd_.get(); }

    [[nodiscard]] ports::FileStorage& storage(IoDirection direction) override;
    // Asks the file system at the first call, since most files are never moved.
    [[nodiscard]] FileStripes stripes() const override;
    [[nodiscard]] Result<VersionStamp> stamp() override;
    [[nodiscard]] Result<std::optional<Extent>> next_data(Offset from) override;
    Result<void> make_hole(const Extent& extent) override;
    Result<void> set_length(Length bytes) override;
    Result<void> set_modified(std::int64_t time_ns) override;
    Result<void> sync() override;
    [[nodiscard]] Result<std::optional<std::vector<std::byte>>> record() override;
    Result<void> set_record(std::span<const std::byte> bytes) override;
    Result<void> remove_record() override;
    void close_storage() override {
        reads_.reset();
        writes_.reset();
    }

private:
    [[nodiscard]] RecordStore::Place place() const {
        return {fd_.get(), options_.key, options_.path};
    }
    static constexpr std::int64_t unknown_clock_ns = -1'000'000'000;
    // Learns from a change of our own what time it is on the file system's clock.
    void learn_time();

    OwnFd fd_;
    RecordStore& records_;
    Options options_;
    mutable std::optional<FileStripes> stripes_;
    std::unique_ptr<ports::FileStorage> reads_;
    std::unique_ptr<ports::FileStorage> writes_;
    // Difference of the file system's clock from ours, at most. Where it is not known, clocks that
    // NTP keeps are assumed. One thread may set the record while others ask for the stamp.
    std::atomic<std::int64_t> clock_ahead_ns_ = unknown_clock_ns;
};

// The number that a file system has of its own (statfs' f_fsid); 0: none. It stays the same while
// the file system is mounted, and asking for it may be a request to a server.
[[nodiscard]] std::uint64_t file_system_of(int fd) noexcept;

// Which file a descriptor is of: its inode, and its file system where that has a number of its own.
[[nodiscard]] Result<ReplicaName> name_of_file(int fd, const std::string& path);

}  // namespace forebay::tier
