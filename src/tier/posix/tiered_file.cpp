// Calls on one descriptor.
#include "tier/posix/tiered_file.hpp"

#include "foundation/base/times.hpp"
#include "foundation/kernel/calls.hpp"
#include "foundation/kernel/descriptor_names.hpp"
#include "storage/layout/files/files.hpp"
#include "storage/layout/stripes.hpp"
#include "storage/posix/attributes.hpp"
#include "storage/posix/clock.hpp"
#include "storage/posix/file_control.hpp"
#include "storage/posix/storage.hpp"
#include "storage/posix/write_whole.hpp"
#include "storage/uring/open.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <linux/falloc.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

namespace forebay::tier {

namespace {

Result<void> of_errno(int system, const std::string& doing) {
    return system == 0 ? Result<void>{} : failure(system_error(system, doing));
}

// A storage whose descriptor could not be made: all requests end with its errno.
class FailedStorage final : public ports::FileStorage {
public:
    explicit FailedStorage(int system) : system_{system} {}
    [[nodiscard]] int depth() const noexcept override { return 1; }
    void submit(const ports::Request& request) override { ticket_ = request.ticket; }
    std::size_t poll(std::span<ports::RequestCompletion> out) override {
        const auto count = static_cast<std::size_t>(ticket_.has_value() && !out.empty());
        if (count > 0) {
            out[0] = {.ticket = *ticket_, .bytes = Length{0}, .system = system_};
            ticket_.reset();
        }
        return count;
    }
    std::size_t wait(std::span<ports::RequestCompletion> out) override { return poll(out); }
    Result<void> sync() override { return {}; }
    [[nodiscard]] Result<ports::FileIdentity> identity() const override {
        return ports::FileIdentity{};
    }
    Result<void> close() override { return {}; }
    [[nodiscard]] const char* name() const noexcept override { return "failed"; }

private:
    int system_;
    std::optional<std::uint64_t> ticket_;
};

}  // namespace

std::uint64_t file_system_of(int fd) noexcept {
    struct statfs found{};
    std::uint64_t number = 0;
    static_assert(sizeof number == sizeof found.f_fsid);
    if (kernel::fstatfs(fd, &found) == 0) {
        std::memcpy(&number, &found.f_fsid, sizeof number);
    }
    return number;
}

Result<ReplicaName> name_of_file(int fd, const std::string& path) {
    struct stat found{};
    if (kernel::fstat(fd, &found) != 0) {
        return failure(system_error(errno, "look at " + path));
    }
    return ReplicaName{file_system_of(fd), found.st_ino};
}

ports::FileStorage& PosixTieredFile::storage(IoDirection direction) {
    auto& kept = direction == IoDirection::read ? reads_ : writes_;
    if (!kept) {
        OwnFd own{kernel::fcntl(fd_.get(), F_DUPFD_CLOEXEC)};
        int error = own.valid() ? 0 : errno;
        if (error == 0) {
            auto opened = adapters::storage_of(std::move(own), options_.path);
            error = opened ? 0 : std::max(opened.error().system, 1);
            kept = opened ? std::move(*opened) : nullptr;
        }
        if (!kept) {
            kept = std::make_unique<FailedStorage>(error);
        }
    }
    return *kept;
}

FileStripes PosixTieredFile::stripes() const {
    if (!options_.striped) {
        return {};
    }
    if (!stripes_) {
        const adapters::PosixAttributes attributes;
        struct stat status{};
        const bool known = kernel::fstat(fd_.get(), &status) == 0;
        const auto found =
            layout::layout_of_file(attributes, kernel::name_of_descriptor(fd_.get()));
        stripes_ = found ? layout::stripes_of(*found, known ? status.st_size : 0) : FileStripes{};
    }
    return *stripes_;
}

Result<VersionStamp> PosixTieredFile::stamp() {
    // The difference is an underestimate, since file times are rounded down.
    const std::int64_t now = adapters::CalendarClock{}.now_ns();
    struct stat found{};
    if (kernel::fstat(fd_.get(), &found) != 0) {
        return failure(system_error(errno, "look at " + options_.path));
    }
    return VersionStamp{.file_system = options_.file_system,
                        .inode = found.st_ino,
                        .bytes = found.st_size,
                        .modified_ns = nanoseconds_of(found.st_mtim),
                        .changed_ns = nanoseconds_of(found.st_ctim),
                        .taken_ns = now + clock_ahead_ns_.load(std::memory_order_relaxed)};
}

Result<std::optional<Extent>> PosixTieredFile::next_data(Offset from) {
    struct stat found{};
    if (kernel::fstat(fd_.get(), &found) != 0) {
        return failure(system_error(errno, "look at " + options_.path));
    }
    if (from.bytes() >= found.st_size) {
        return std::nullopt;
    }
    const off_t data = kernel::lseek(fd_.get(), from.bytes(), SEEK_DATA);
    if (data < 0 && errno == ENXIO) {
        return std::nullopt;
    }
    if (data < 0) {
        return Extent{from, Offset{found.st_size} - from};
    }
    const off_t hole = kernel::lseek(fd_.get(), data, SEEK_HOLE);
    const off_t end = hole > data ? std::min<off_t>(hole, found.st_size) : found.st_size;
    return end > data ? Result<std::optional<Extent>>{Extent{Offset{data}, Length{end - data}}}
                      : std::nullopt;
}

Result<void> PosixTieredFile::make_hole(const Extent& extent) {
    struct stat found{};
    if (kernel::fstat(fd_.get(), &found) != 0) {
        return failure(system_error(errno, "look at " + options_.path));
    }
    const std::int64_t end = std::min<std::int64_t>(extent.end().bytes(), found.st_size);
    if (end <= extent.begin.bytes()) {
        return {};
    }
    if (kernel::fallocate(fd_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                          extent.begin.bytes(), end - extent.begin.bytes()) == 0) {
        return {};
    }
    if (errno != EOPNOTSUPP && errno != ENOSYS) {
        return failure(system_error(errno, "make a hole in " + options_.path));
    }
    const std::vector<std::byte> zeros(std::size_t{1} << 20);
    for (std::int64_t at = extent.begin.bytes(); at < end;) {
        const auto bytes = static_cast<std::size_t>(std::min(std::ssize(zeros), end - at));
        if (const int error = adapters::write_whole(fd_.get(), std::span{zeros}.first(bytes), at);
            error != 0) {
            return failure(system_error(error, "write zeros to " + options_.path));
        }
        at += static_cast<std::int64_t>(bytes);
    }
    return {};
}

Result<void> PosixTieredFile::set_length(Length bytes) {
    return of_errno(adapters::PosixFileControl{fd_.get()}.truncate(bytes),
                    "set the length of " + options_.path);
}

Result<void> PosixTieredFile::set_modified(std::int64_t time_ns) {
    return of_errno(adapters::PosixFileControl{fd_.get()}.set_modified(time_ns),
                    "set the time of " + options_.path);
}

Result<void> PosixTieredFile::sync() { return adapters::sync_file(fd_.get(), options_.path); }

Result<std::optional<std::vector<std::byte>>> PosixTieredFile::record() {
    return records_.read(place());
}

Result<void> PosixTieredFile::set_record(std::span<const std::byte> bytes) {
    auto written = records_.write(place(), bytes);
    if (written) {
        learn_time();
    }
    return written;
}

Result<void> PosixTieredFile::remove_record() { return records_.remove(place()); }

void PosixTieredFile::learn_time() {
    const std::int64_t now = adapters::CalendarClock{}.now_ns();
    struct stat found{};
    if (kernel::fstat(fd_.get(), &found) != 0) {
        return;
    }
    // A record in a sidecar changes nothing of the file, and old times say nothing.
    const std::int64_t ahead = nanoseconds_of(found.st_ctim) - now;
    constexpr std::int64_t plausible = 60 * second_ns;
    clock_ahead_ns_.store(ahead > -second_ns && ahead < plausible ? ahead : unknown_clock_ns,
                          std::memory_order_relaxed);
}

}  // namespace forebay::tier
