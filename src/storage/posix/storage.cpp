// The queue of a mutex and two condition variables suffices, because requests are large.
#include "storage/posix/storage.hpp"

#include "foundation/kernel/calls.hpp"
#include "foundation/ports/completions.hpp"
#include "storage/posix/signals_blocked.hpp"
#include "storage/posix/transfer.hpp"

#include <cerrno>
#include <condition_variable>
#include <deque>
#include <fcntl.h>
#include <mutex>
#include <sys/stat.h>
#include <thread>
#include <tuple>
#include <unistd.h>
#include <vector>

namespace forebay::adapters {

Result<OwnFd> open_file(const std::string& path, IoDirection direction) {
    const bool writes = direction == IoDirection::write;
    int fd = -1;
    do {
        fd = kernel::open(path.c_str(), (writes ? O_WRONLY : O_RDONLY) | O_CLOEXEC | O_NOCTTY);
    } while (fd < 0 && errno == EINTR);
    if (fd < 0) {
        return failure(
            system_error(errno, (writes ? "open for writing " : "open for reading ") + path));
    }
    return OwnFd{fd};
}

Result<ports::FileIdentity> identity_of(int fd, const std::string& path) {
    struct stat status{};
    if (kernel::fstat(fd, &status) != 0) {
        return failure(system_error(errno, "stat " + path));
    }
    return ports::FileIdentity{status.st_dev, status.st_ino};
}

// EINVAL: a device or pipe, to which fsync does not apply.
Result<void> sync_file(int fd, const std::string& path) {
    while (kernel::fsync(fd) != 0) {
        if (errno == EINVAL) {
            return {};
        }
        if (errno != EINTR) {
            return failure(system_error(errno, "make durable " + path));
        }
    }
    return {};
}

class PosixStorage::Pool {
public:
    Pool(int fd, const PosixStorageOptions& options)
        : fd_{fd}, move_{options.writes_out ? write_out : transfer} {
        const SignalsBlocked blocked;
        for (int i = 0; i < options.threads; ++i) {
            try {
                threads_.emplace_back([this] { work(); });
            } catch (const std::system_error&) {
                break;  // the limit on threads; without a thread submit() does the request itself
            }
        }
    }
    Pool(const Pool&) = delete;
    Pool& operator=(const Pool&) = delete;
    ~Pool() {
        {
            const std::scoped_lock lock{mutex_};
            ending_ = true;
        }
        asked_.notify_all();
        for (std::thread& thread : threads_) {
            thread.join();
        }
    }

    void submit(const ports::Request& request) {
        if (threads_.empty() || request.at_once) {
            const ports::RequestCompletion completion = move_(fd_, request);
            const std::scoped_lock lock{mutex_};
            finished_.push_back(completion);
            return;
        }
        {
            const std::scoped_lock lock{mutex_};
            waiting_.push_back(request);
        }
        asked_.notify_one();
    }

    std::size_t take(std::span<ports::RequestCompletion> out) {
        const std::scoped_lock lock{mutex_};
        return ports::take_oldest(finished_, out);
    }

    std::size_t wait(std::span<ports::RequestCompletion> out) {
        std::unique_lock lock{mutex_};
        answered_.wait(lock, [this] { return !finished_.empty(); });
        return ports::take_oldest(finished_, out);
    }

private:
    // Ends only when the queue is empty: a write that was submitted is never dropped.
    void work() {
        std::unique_lock lock{mutex_};
        while (true) {
            asked_.wait(lock, [this] { return ending_ || !waiting_.empty(); });
            if (waiting_.empty()) {
                return;
            }
            const ports::Request request = waiting_.front();
            waiting_.pop_front();
            lock.unlock();
            const ports::RequestCompletion completion = move_(fd_, request);
            lock.lock();
            finished_.push_back(completion);
            answered_.notify_one();
        }
    }

    using Move = ports::RequestCompletion (*)(int, const ports::Request&) noexcept;

    int fd_;
    Move move_;
    std::mutex mutex_;
    std::condition_variable asked_;
    std::condition_variable answered_;
    std::deque<ports::Request> waiting_;
    std::vector<ports::RequestCompletion> finished_;
    bool ending_ = false;
    std::vector<std::thread> threads_;
};

Result<void> DescriptorStorage::sync() {
    expects(in_flight() == 0, "nothing is in flight at sync");
    return sync_file(fd_.get(), path_);
}

Result<ports::FileIdentity> DescriptorStorage::identity() const {
    return identity_of(fd_.get(), path_);
}

Result<void> DescriptorStorage::close() {
    expects(in_flight() == 0, "nothing is in flight at close");
    return fd_.close(path_);
}

PosixStorage::PosixStorage(OwnFd fd, std::string path, PosixStorageOptions options)
    : DescriptorStorage{std::move(fd), std::move(path)}, options_{options} {}

PosixStorage::~PosixStorage() { leave_if_forked(); }

// A forked child has this object but not its threads: joining them, or taking a lock that they
// held, would hang. Requests in flight remain the parent's. If the child goes on to use the file,
// it does so without threads.
void PosixStorage::leave_if_forked() {
    if (pool_ && owner_ != ::getpid()) {
        std::ignore = pool_.release();
        options_.threads = 0;
        in_flight_ = 0;
    }
}

std::size_t PosixStorage::in_flight() {
    leave_if_forked();
    return in_flight_;
}

void PosixStorage::submit(const ports::Request& request) {
    expects(in_flight() < static_cast<std::size_t>(depth_max), "the depth is not exceeded");
    if (!pool_) {
        pool_ = std::make_unique<Pool>(fd(), options_);
        owner_ = ::getpid();
    }
    ++in_flight_;
    pool_->submit(request);
}

std::size_t PosixStorage::poll(std::span<ports::RequestCompletion> out) {
    if (in_flight() == 0) {
        return 0;
    }
    const std::size_t count = pool_->take(out);
    in_flight_ -= count;
    return count;
}

std::size_t PosixStorage::wait(std::span<ports::RequestCompletion> out) {
    expects(in_flight() > 0, "only what is in flight can complete");
    const std::size_t count = pool_->wait(out);
    in_flight_ -= count;
    return count;
}

Result<void> PosixStorage::close() {
    expects(in_flight() == 0, "nothing is in flight at close");
    pool_.reset();
    return DescriptorStorage::close();
}

Result<std::unique_ptr<ports::FileStorage>> open_posix(const std::string& path,
                                                       IoDirection direction,
                                                       PosixStorageOptions options) {
    Result<OwnFd> fd = open_file(path, direction);
    if (!fd) {
        return failure(std::move(fd.error()));
    }
    return std::make_unique<PosixStorage>(std::move(*fd), path, options);
}

}  // namespace forebay::adapters
