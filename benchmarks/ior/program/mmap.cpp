// MMAP: the file is mapped once, and transfers are copies. Space is allocated in advance, so that a
// full disk is an error rather than a SIGBUS; reads stop at the end of the file.
#include "benchmarks/ior/program/backend.hpp"
#include "foundation/base/own_fd.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

namespace forebay::bench {

namespace {

class MmapBackend final : public IorBackend {
public:
    using IorBackend::IorBackend;
    ~MmapBackend() override { unmap(); }

    Result<void> open(const OpenRequest& request) override {
        path_ = request.path;
        const bool writes = request.access == BackendAccess::write;
        if (writes) {
            if (auto taken = take_space(request.comm); !taken) {
                return taken;
            }
        }
        fd_ =
            OwnFd(::open(path_.c_str(), (writes ? O_CREAT | O_RDWR : O_RDONLY) | O_CLOEXEC, 0664));
        if (!fd_.valid()) {
            return failure(system_error(errno, "open " + path_));
        }
        struct stat known{};
        if (::fstat(fd_.get(), &known) != 0) {
            return failure(system_error(errno, "ask for the size of " + path_));
        }
        size_ = std::min<std::int64_t>(known.st_size, geometry_.bytes_of_file());
        if (size_ == 0) {
            return {};
        }
        void* at = ::mmap(nullptr, static_cast<std::size_t>(size_),
                          writes ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, fd_.get(), 0);
        if (at == MAP_FAILED) {
            return failure(system_error(errno, "map " + path_));
        }
        memory_ = static_cast<std::byte*>(at);
        if (options_.mmap.pattern) {
            const int advice = options_.random_offset > 0 ? MADV_RANDOM : MADV_SEQUENTIAL;
            ::madvise(memory_, static_cast<std::size_t>(size_), advice);
        }
        return {};
    }

    Result<std::int64_t> write(Offset at, std::span<const std::byte> from) override {
        const std::int64_t count = within(at, from.size());
        std::memcpy(memory_ + at.bytes(), from.data(), static_cast<std::size_t>(count));
        return count;
    }

    Result<std::int64_t> read(Offset at, std::span<std::byte> to) override {
        const std::int64_t count = within(at, to.size());
        if (count > 0) {
            std::memcpy(to.data(), memory_ + at.bytes(), static_cast<std::size_t>(count));
        }
        return count;
    }

    Result<void> sync() override {
        if (memory_ != nullptr && ::msync(memory_, static_cast<std::size_t>(size_), MS_SYNC) != 0) {
            return failure(system_error(errno, "sync " + path_));
        }
        return {};
    }

    Result<void> close() override {
        unmap();
        return fd_.valid() ? fd_.close(path_) : Result<void>{};
    }

private:
    // Allocates the file's space. The first rank that shares the file does it before others write,
    // because without fallocate the C library writes into every block; the others get its result.
    Result<void> take_space(MPI_Comm ranks) const {
        int rank = 0;
        MPI_Comm_rank(ranks, &rank);
        std::array<int, 2> failed{};  // errno of opening, and of allocating
        if (rank == 0) {
            const OwnFd fd(::open(path_.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0664));
            failed[0] = fd.valid() ? 0 : errno;
            failed[1] = fd.valid() ? ::posix_fallocate(fd.get(), 0, geometry_.bytes_of_file()) : 0;
        }
        MPI_Bcast(failed.data(), 2, MPI_INT, 0, ranks);
        if (failed[0] != 0) {
            return failure(system_error(failed[0], "open " + path_));
        }
        return failed[1] == 0 ? Result<void>{}
                              : failure(system_error(failed[1], "take space for " + path_));
    }

    [[nodiscard]] std::int64_t within(Offset at, std::size_t size) const noexcept {
        return std::clamp<std::int64_t>(size_ - at.bytes(), 0, static_cast<std::int64_t>(size));
    }

    void unmap() noexcept {
        if (memory_ != nullptr) {
            if (options_.mmap.dont_need) {
                ::madvise(memory_, static_cast<std::size_t>(size_), MADV_DONTNEED);
            }
            ::munmap(memory_, static_cast<std::size_t>(size_));
            memory_ = nullptr;
        }
    }

    OwnFd fd_;
    std::byte* memory_ = nullptr;
    std::int64_t size_ = 0;
};

}  // namespace

std::unique_ptr<IorBackend> make_mmap(const BackendContext& context) {
    return std::make_unique<MmapBackend>(context);
}

}  // namespace forebay::bench
