// POSIX: pread and pwrite, optionally with O_DIRECT, range locks and a Lustre layout.
#include "benchmarks/ior/program/backend.hpp"
#include "foundation/base/own_fd.hpp"
#include "storage/layout/files/files.hpp"
#include "storage/posix/attributes.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>
#include <limits>
#include <sys/stat.h>
#include <unistd.h>

namespace forebay::bench {

namespace {

class PosixBackend final : public IorBackend {
public:
    using IorBackend::IorBackend;

    Result<void> open(const OpenRequest& request) override {
        path_ = request.path;
        int flags = request.access == BackendAccess::write ? O_CREAT | O_RDWR : O_RDONLY;
        flags |= O_CLOEXEC | (options_.posix.odirect ? O_DIRECT : 0);
        const layout::WantedLayout wanted = wanted_layout();
        if (request.access == BackendAccess::write && wanted.says_something()) {
            set_layout(wanted);
        }
        fd_ = OwnFd(::open(path_.c_str(), flags, 0664));
        if (!fd_.valid()) {
            const int why = errno;
            return failure(system_error(
                why, fmt::format("open {}{}", path_,
                                 options_.posix.odirect && why == EINVAL ? " with O_DIRECT" : "")));
        }
        return {};
    }

    Result<std::int64_t> write(Offset at, std::span<const std::byte> from) override {
        if (options_.posix.rangelocks) {
            return locked(F_WRLCK, at, from.size(), [&] { return write_all(at, from); });
        }
        return write_all(at, from);
    }

    Result<std::int64_t> read(Offset at, std::span<std::byte> to) override {
        if (options_.posix.rangelocks) {
            return locked(F_RDLCK, at, to.size(), [&] { return read_all(at, to); });
        }
        return read_all(at, to);
    }

    Result<void> sync() override {
        if (::fsync(fd_.get()) != 0) {
            return failure(system_error(errno, "fsync " + path_));
        }
        return {};
    }

    Result<void> close() override { return fd_.valid() ? fd_.close(path_) : Result<void>{}; }

    [[nodiscard]] int descriptor() const noexcept override { return fd_.get(); }
    [[nodiscard]] std::vector<std::string> notes() const override { return notes_; }
    [[nodiscard]] std::int64_t short_transfers() const noexcept override { return shorts_; }

private:
    Result<std::int64_t> write_all(Offset at, std::span<const std::byte> from) {
        return move_all(at, from, "write",
                        [fd = fd_.get()](auto... of) noexcept { return ::pwrite(fd, of...); });
    }

    Result<std::int64_t> read_all(Offset at, std::span<std::byte> to) {
        return move_all(at, to, "read",
                        [fd = fd_.get()](auto... of) noexcept { return ::pread(fd, of...); });
    }

    // Transfers all bytes; `move` is pwrite or pread on the file, with their arguments.
    template <class Byte, class Move>
    Result<std::int64_t> move_all(Offset at, std::span<Byte> bytes, const char* what, Move move) {
        const ssize_t first = move(bytes.data(), bytes.size(), at.bytes());
        if (first == static_cast<ssize_t>(bytes.size())) [[likely]] {
            return first;
        }
        return go_on(first, bytes.size(), what, [&](std::size_t done) {
            return move(bytes.data() + done, bytes.size() - done,
                        at.bytes() + static_cast<off_t>(done));
        });
    }

    // Continues a short or interrupted transfer until all bytes are moved or the file ends.
    template <class Again>
    Result<std::int64_t> go_on(ssize_t got, std::size_t size, const char* what, Again again) {
        std::size_t done = 0;
        for (;; got = again(done)) {
            if (got < 0 && errno == EINTR) {
                continue;
            }
            if (got < 0 && errno == EINVAL && options_.posix.odirect) {
                return failure({ErrorCode::input_output, EINVAL,
                                fmt::format("cannot {} {} with O_DIRECT (the file system does not "
                                            "take transfers of {} bytes). Give -t and -b multiples "
                                            "of 4096, or leave --posix.odirect out.",
                                            what, path_, size)});
            }
            if (got < 0) {
                return failure(system_error(errno, fmt::format("{} {}", what, path_)));
            }
            done += static_cast<std::size_t>(got);
            if (done == size || got == 0) {
                return static_cast<std::int64_t>(done);
            }
            ++shorts_;
            if (options_.single_attempt) {
                return failure({ErrorCode::input_output, 0,
                                fmt::format("a {} of {} moved {} of {} bytes (-x allows one "
                                            "attempt). Leave -x out to have it continued.",
                                            what, path_, done, size)});
            }
        }
    }

    template <class Act>
    Result<std::int64_t> locked(short kind, Offset at, std::size_t size, Act act) {
        struct flock range{};
        range.l_type = kind;
        range.l_whence = SEEK_SET;
        range.l_start = at.bytes();
        range.l_len = static_cast<off_t>(size);
        if (::fcntl(fd_.get(), F_SETLKW, &range) != 0) {
            return failure(system_error(errno, "lock a range of " + path_));
        }
        const auto moved = act();
        range.l_type = F_UNLCK;
        ::fcntl(fd_.get(), F_SETLK, &range);
        return moved;
    }

    [[nodiscard]] layout::WantedLayout wanted_layout() const {
        constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
        const auto& posix = options_.posix;
        return {static_cast<std::int32_t>(std::clamp(posix.stripe_count, -most, most)),
                posix.stripe_bytes,
                static_cast<std::int32_t>(std::clamp(posix.start_ost, -most, most)), posix.pool};
    }

    void set_layout(const layout::WantedLayout& wanted) {
        adapters::PosixAttributes files;
        const layout::LayoutChange change = layout::set_layout(files, path_, wanted);
        if (auto complaint = layout::complaint(path_, change)) {
            notes_ = {std::move(*complaint)};
        }
    }

    OwnFd fd_;
    std::int64_t shorts_ = 0;
    std::vector<std::string> notes_;
};

}  // namespace

std::unique_ptr<IorBackend> make_posix(const BackendContext& context) {
    return std::make_unique<PosixBackend>(context);
}

}  // namespace forebay::bench
