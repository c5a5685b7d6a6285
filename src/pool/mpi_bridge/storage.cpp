// A deposit is a copy in memory, so requests complete within submit(), on the caller's thread.
#include "pool/mpi_bridge/storage.hpp"

#include "foundation/base/contracts.hpp"
#include "foundation/ports/completions.hpp"
#include "pool/protocol/log.hpp"
#include "storage/posix/storage.hpp"

#include <algorithm>
#include <cerrno>
#include <dlfcn.h>
#include <fcntl.h>
#include <functional>
#include <optional>
#include <vector>

namespace forebay::adapters {

namespace {

static_assert(lent_bytes_max == std::int64_t{pool::block_bytes});

// The loans of this process' log that are open, with the parts of each that the pool has taken.
class LogLender final : public ports::MemoryLender {
public:
    LogLender(const pool::PoolCalls& calls, int fd, std::uint64_t name) noexcept
        : calls_{calls}, fd_{fd}, name_{name} {}

    [[nodiscard]] std::uint64_t name() const noexcept override { return name_; }
    [[nodiscard]] std::optional<ports::Loan> lend(std::size_t bytes) override {
        pool::LentBytes lent{};
        if (name_ == 0 || !calls_.lend(fd_, bytes, &lent)) {
            return std::nullopt;
        }
        open_.push_back({lent, {}});
        return ports::Loan{name_, lent.place, {lent.begin, lent.bytes}};
    }
    void take_back(const ports::Loan& loan) override {
        const auto one = std::ranges::find_if(
            open_, [&](const Open& open) { return open.lent.begin == loan.bytes.data(); });
        expects(one != open_.end(), "what is taken back was lent");
        std::ranges::sort(one->taken, {}, &Part::begin);
        std::size_t at = 0;
        for (const Part& taken : one->taken) {
            give_back(one->lent, {at, taken.begin - at});
            at = taken.begin + taken.bytes;
        }
        give_back(one->lent, {at, one->lent.bytes - at});
        open_.erase(one);
    }

    // Deposits bytes that lie in a loan; returns as pwrite does. nullopt: they lie in none.
    [[nodiscard]] std::optional<ssize_t> write(std::span<const std::byte> bytes, Offset at) {
        for (Open& open : open_) {
            const std::less_equal<const std::byte*> before;
            if (before(open.lent.begin, bytes.data()) &&
                before(bytes.data() + bytes.size(), open.lent.begin + open.lent.bytes)) {
                const auto begin = static_cast<std::size_t>(bytes.data() - open.lent.begin);
                const pool::LentBytes part = part_of(open.lent, {begin, bytes.size()});
                bool taken = false;
                const ssize_t moved = calls_.write_lent(fd_, &part, at.bytes(), &taken);
                if (taken) {
                    open.taken.push_back({begin, bytes.size()});
                }
                return moved;
            }
        }
        return std::nullopt;
    }

private:
    struct Part {
        std::size_t begin = 0;  // in the loan
        std::size_t bytes = 0;
    };
    struct Open {
        pool::LentBytes lent;
        std::vector<Part> taken;
    };

    [[nodiscard]] static pool::LentBytes part_of(const pool::LentBytes& lent,
                                                 const Part& part) noexcept {
        return {lent.position + part.begin, lent.place + part.begin, lent.begin + part.begin,
                part.bytes};
    }
    void give_back(const pool::LentBytes& lent, const Part& part) const {
        if (part.bytes > 0) {
            const pool::LentBytes rest = part_of(lent, part);
            calls_.give_back(&rest);
        }
    }

    const pool::PoolCalls& calls_;
    int fd_;
    std::uint64_t name_;
    std::vector<Open> open_;
};

class PooledStorage final : public ports::FileStorage {
public:
    PooledStorage(const pool::PoolCalls& calls, int fd, std::string path, std::uint64_t lends)
        : calls_{calls}, fd_{fd}, path_{std::move(path)}, lender_{calls, fd, lends} {}
    PooledStorage(const PooledStorage&) = delete;
    PooledStorage& operator=(const PooledStorage&) = delete;
    ~PooledStorage() override {
        if (fd_ >= 0) {
            calls_.close(fd_);
        }
    }

    [[nodiscard]] int depth() const noexcept override { return depth_max; }
    void submit(const ports::Request& request) override { finished_.push_back(done(request)); }
    std::size_t poll(std::span<ports::RequestCompletion> out) override {
        return ports::take_oldest(finished_, out);
    }
    std::size_t wait(std::span<ports::RequestCompletion> out) override { return poll(out); }
    Result<void> sync() override {
        if (calls_.fsync(fd_) != 0) {
            return failure(system_error(errno, "make durable " + path_));
        }
        return {};
    }
    [[nodiscard]] Result<ports::FileIdentity> identity() const override {
        return identity_of(fd_, path_);
    }
    Result<void> close() override {
        const int fd = std::exchange(fd_, -1);
        if (fd >= 0 && calls_.close(fd) != 0) {
            return failure(system_error(errno, "close " + path_));
        }
        return {};
    }
    [[nodiscard]] ports::MemoryLender* lender() noexcept override {
        return lender_.name() != 0 ? &lender_ : nullptr;
    }
    [[nodiscard]] const char* name() const noexcept override { return "pool"; }

private:
    static constexpr int depth_max = 16;

    [[nodiscard]] ssize_t moved(const ports::Piece& piece, IoDirection direction) {
        if (direction == IoDirection::read) {
            return calls_.pread(fd_, piece.bytes.data(), piece.bytes.size(), piece.at.bytes());
        }
        const auto lent = lender_.write(piece.bytes, piece.at);
        return lent ? *lent
                    : calls_.pwrite(fd_, piece.bytes.data(), piece.bytes.size(), piece.at.bytes());
    }

    [[nodiscard]] ports::RequestCompletion done(const ports::Request& request) {
        ports::RequestCompletion completion;
        completion.ticket = request.ticket;
        for (const ports::Piece& piece : request.pieces) {
            const ssize_t moved = this->moved(piece, request.direction);
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
    LogLender lender_;
    std::vector<ports::RequestCompletion> finished_;
};

// Mappings of other processes' logs, which stay until this process ends.
class LogBorrower final : public ports::MemoryBorrower {
public:
    explicit LogBorrower(const pool::PoolCalls& calls) noexcept : calls_{calls} {}

    [[nodiscard]] bool reaches(std::uint64_t name) override { return log(name).base != nullptr; }
    [[nodiscard]] std::span<std::byte> borrowed(std::uint64_t name, std::size_t place,
                                                std::size_t bytes) override {
        Log& one = log(name);
        expects(one.base != nullptr && place >= pool::LogShape::data_at,
                "what is borrowed can be reached");
        const std::size_t block = (place - pool::LogShape::data_at) / pool::block_bytes;
        if (!one.prepared.at(block)) {
            one.prepared[block] = true;
            calls_.prepare(one.base + pool::LogShape::data_at + block * pool::block_bytes,
                           pool::block_bytes);
        }
        return {one.base + place, bytes};
    }

private:
    struct Log {
        std::uint64_t name = 0;
        std::byte* base = nullptr;
        std::vector<bool> prepared;  // for each block: its pages are mapped
    };
    [[nodiscard]] Log& log(std::uint64_t name) {
        const auto known = std::ranges::find(logs_, name, &Log::name);
        if (known != logs_.end()) {
            return *known;
        }
        logs_.push_back({name, calls_.reach_log(name), std::vector<bool>(pool::blocks_max)});
        return logs_.back();
    }

    const pool::PoolCalls& calls_;
    std::vector<Log> logs_;
};

}  // namespace

const pool::PoolCalls* pool_calls() noexcept {
    const auto* const calls =
        static_cast<const pool::PoolCalls*>(::dlsym(RTLD_DEFAULT, pool::calls_symbol));
    return calls != nullptr && calls->version == pool::calls_version ? calls : nullptr;
}

namespace {

// Makes a storage of the descriptor that opening returned; if `fd` is negative, an error of errno.
Result<std::unique_ptr<ports::FileStorage>> storage_of(int fd, const pool::PoolCalls& calls,
                                                       const std::string& path,
                                                       IoDirection direction) {
    const bool writes = direction == IoDirection::write;
    if (fd < 0) {
        return failure(
            system_error(errno, (writes ? "open for writing " : "open for reading ") + path));
    }
    return std::make_unique<PooledStorage>(calls, fd, path, writes ? calls.lend_log() : 0);
}

}  // namespace

Result<std::unique_ptr<ports::FileStorage>> open_pooled(const pool::PoolCalls& calls,
                                                        const std::string& path,
                                                        IoDirection direction) {
    const int access = direction == IoDirection::write ? O_WRONLY : O_RDONLY;
    return storage_of(calls.open(path.c_str(), access | O_CLOEXEC, 0), calls, path, direction);
}

Result<std::unique_ptr<ports::FileStorage>> open_part(const pool::PoolCalls& calls,
                                                      const std::string& path,
                                                      std::uint64_t group) {
    return storage_of(calls.open_part(path.c_str(), O_WRONLY | O_CLOEXEC, group), calls, path,
                      IoDirection::write);
}

std::unique_ptr<ports::MemoryBorrower> borrower_of(const pool::PoolCalls& calls) {
    return std::make_unique<LogBorrower>(calls);
}

}  // namespace forebay::adapters
