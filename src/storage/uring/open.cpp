// Creates the queue (io_uring or threads) when the first request needs one.
#include "storage/uring/open.hpp"

#include "foundation/ports/completions.hpp"
#include "storage/posix/storage.hpp"
#include "storage/posix/transfer.hpp"

#include <utility>
#include <vector>

namespace forebay::adapters {

namespace {

// A descriptor whose queue is created by the first request that is not to be done synchronously.
class DeferredStorage final : public ports::FileStorage {
public:
    DeferredStorage(OwnFd fd, std::string path, SubmitterKind caller)
        : fd_{std::move(fd)}, path_{std::move(path)}, caller_{caller} {}

    [[nodiscard]] int depth() const noexcept override { return depth_max; }

    void submit(const ports::Request& request) override {
        if (!queue_ && request.at_once && caller_ == SubmitterKind::may_wait) {
            finished_.push_back(transfer(fd_.get(), request));
            return;
        }
        if (!queue_) {
            make_queue();
        }
        queue_->submit(request);
    }

    std::size_t poll(std::span<ports::RequestCompletion> out) override {
        if (!finished_.empty()) {
            return ports::take_oldest(finished_, out);
        }
        return queue_ ? queue_->poll(out) : 0;
    }

    std::size_t wait(std::span<ports::RequestCompletion> out) override {
        if (!finished_.empty()) {
            return ports::take_oldest(finished_, out);
        }
        expects(queue_ != nullptr, "only what is in flight can complete");
        return queue_->wait(out);
    }

    Result<void> sync() override { return queue_ ? queue_->sync() : sync_file(fd_.get(), path_); }

    [[nodiscard]] Result<ports::FileIdentity> identity() const override {
        return queue_ ? queue_->identity() : identity_of(fd_.get(), path_);
    }

    Result<void> close() override { return queue_ ? queue_->close() : fd_.close(path_); }

    [[nodiscard]] const char* name() const noexcept override {
        return queue_ ? queue_->name() : "direct";
    }

private:
    static constexpr int depth_max = 16;  // both kinds of queues take this many

    void make_queue() {
        auto ring = UringStorage::create(fd_, path_, caller_);
        if (ring) {
            queue_ = std::move(*ring);
        } else {
            queue_ = std::make_unique<PosixStorage>(std::move(fd_), path_);
        }
    }

    OwnFd fd_;  // moved into the queue when that is created
    std::string path_;
    SubmitterKind caller_;
    std::vector<ports::RequestCompletion> finished_;
    std::unique_ptr<ports::FileStorage> queue_;
};

}  // namespace

Result<std::unique_ptr<ports::FileStorage>> storage_of(OwnFd fd, const std::string& path,
                                                       StoragePreference preference,
                                                       SubmitterKind caller) {
    if (preference == StoragePreference::posix || preference == StoragePreference::written_out) {
        const PosixStorageOptions options{.writes_out =
                                              preference == StoragePreference::written_out};
        return std::make_unique<PosixStorage>(std::move(fd), path, options);
    }
    if (preference == StoragePreference::automatic) {
        return std::make_unique<DeferredStorage>(std::move(fd), path, caller);
    }
    auto storage = UringStorage::create(fd, path, caller);
    if (!storage) {
        return failure(std::move(storage.error()));
    }
    return std::unique_ptr<ports::FileStorage>{std::move(*storage)};
}

Result<std::unique_ptr<ports::FileStorage>> open_storage(const std::string& path,
                                                         IoDirection direction,
                                                         StoragePreference preference) {
    Result<OwnFd> fd = open_file(path, direction);
    if (!fd) {
        return failure(std::move(fd.error()));
    }
    return storage_of(std::move(*fd), path, preference);
}

}  // namespace forebay::adapters
