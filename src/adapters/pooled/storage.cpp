// A deposit is a copy in memory: requests are done within submit(), on the caller's thread.
#include "adapters/pooled/storage.hpp"

#include "adapters/posix/storage.hpp"

#include <algorithm>
#include <cerrno>
#include <dlfcn.h>
#include <fcntl.h>
#include <vector>

namespace forebay::adapters {

namespace {

class PooledStorage final : public ports::Storage {
public:
    PooledStorage(const pool::PoolCalls& calls, int fd, std::string path)
        : calls_{calls}, fd_{fd}, path_{std::move(path)} {}
    PooledStorage(const PooledStorage&) = delete;
    PooledStorage& operator=(const PooledStorage&) = delete;
    ~PooledStorage() override {
        if (fd_ >= 0) {
            calls_.close(fd_);
        }
    }

    [[nodiscard]] int depth() const noexcept override { return depth_max; }
    void submit(const ports::Request& request) override { finished_.push_back(done(request)); }
    std::size_t poll(std::span<ports::Completion> out) override {
        const std::size_t count = std::min(out.size(), finished_.size());
        std::copy_n(finished_.begin(), count, out.begin());
        finished_.erase(finished_.begin(), finished_.begin() + static_cast<std::ptrdiff_t>(count));
        return count;
    }
    std::size_t wait(std::span<ports::Completion> out) override { return poll(out); }
    Result<void> sync() override {
        if (calls_.fsync(fd_) != 0) {
            return failure(system_error(errno, "make durable " + path_));
        }
        return {};
    }
    [[nodiscard]] Result<ports::Identity> identity() const override {
        return identity_of(fd_, path_);
    }
    Result<void> close() override {
        const int fd = std::exchange(fd_, -1);
        if (fd >= 0 && calls_.close(fd) != 0) {
            return failure(system_error(errno, "close " + path_));
        }
        return {};
    }
    [[nodiscard]] const char* name() const noexcept override { return "pool"; }

private:
    static constexpr int depth_max = 16;

    [[nodiscard]] ports::Completion done(const ports::Request& request) const {
        ports::Completion completion;
        completion.ticket = request.ticket;
        for (const ports::Piece& piece : request.pieces) {
            const auto moved =
                request.direction == Direction::write
                    ? calls_.pwrite(fd_, piece.bytes.data(), piece.bytes.size(), piece.at.bytes())
                    : calls_.pread(fd_, piece.bytes.data(), piece.bytes.size(), piece.at.bytes());
            if (moved < 0) {
                completion.system = errno;
                break;
            }
            completion.bytes += Length{moved};
            if (moved < static_cast<ssize_t>(piece.bytes.size())) {
                break;
            }
        }
        return completion;
    }

    const pool::PoolCalls& calls_;
    int fd_;
    std::string path_;
    std::vector<ports::Completion> finished_;
};

}  // namespace

const pool::PoolCalls* pool_calls() noexcept {
    const auto* const calls =
        static_cast<const pool::PoolCalls*>(::dlsym(RTLD_DEFAULT, pool::calls_symbol));
    return calls != nullptr && calls->version == pool::calls_version ? calls : nullptr;
}

namespace {

// Of what opening gave.
Result<std::unique_ptr<ports::Storage>> storage_of(int fd, const pool::PoolCalls& calls,
                                                   const std::string& path, Direction direction) {
    if (fd < 0) {
        const bool writes = direction == Direction::write;
        return failure(
            system_error(errno, (writes ? "open for writing " : "open for reading ") + path));
    }
    return std::make_unique<PooledStorage>(calls, fd, path);
}

}  // namespace

Result<std::unique_ptr<ports::Storage>> open_pooled(const pool::PoolCalls& calls,
                                                    const std::string& path, Direction direction) {
    const int access = direction == Direction::write ? O_WRONLY : O_RDONLY;
    return storage_of(calls.open(path.c_str(), access | O_CLOEXEC, 0), calls, path, direction);
}

Result<std::unique_ptr<ports::Storage>> open_part(const pool::PoolCalls& calls,
                                                  const std::string& path, std::uint64_t group) {
    return storage_of(calls.open_part(path.c_str(), O_WRONLY | O_CLOEXEC, group), calls, path,
                      Direction::write);
}

}  // namespace forebay::adapters
