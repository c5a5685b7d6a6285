// The port FileStorage over a few threads that call pwrite and pread: works on every kernel and
// file system. The threads never call MPI, and block all signals.
#pragma once

#include "foundation/base/own_fd.hpp"
#include "foundation/base/result.hpp"
#include "foundation/ports/storage.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <sys/types.h>
#include <utility>

namespace forebay::adapters {

// Opens an existing file for either reading or writing.
[[nodiscard]] Result<OwnFd> open_file(const std::string& path, IoDirection direction);

[[nodiscard]] Result<ports::FileIdentity> identity_of(int fd, const std::string& path);

Result<void> sync_file(int fd, const std::string& path);

// The calls that do not depend on how bytes are moved, for all storage over a descriptor.
class DescriptorStorage : public ports::FileStorage {
public:
    Result<void> sync() override;
    [[nodiscard]] Result<ports::FileIdentity> identity() const override;
    Result<void> close() override;

protected:
    DescriptorStorage(OwnFd fd, std::string path) noexcept
        : fd_{std::move(fd)}, path_{std::move(path)} {}

    [[nodiscard]] int fd() const noexcept { return fd_.get(); }
    // The number of requests in flight; 0 is a precondition of sync() and close(). A forked child
    // has none of its parent's.
    [[nodiscard]] virtual std::size_t in_flight() = 0;

private:
    OwnFd fd_;
    std::string path_;
};

struct PosixStorageOptions {
    int threads = 2;
    // Writes are complete when the device has them (transfer.hpp, write_out()), so that no more
    // pages are dirty than are in flight.
    bool writes_out = false;
};

class PosixStorage final : public DescriptorStorage {
public:
    PosixStorage(OwnFd fd, std::string path, PosixStorageOptions options = {});
    // Waits for the requests in flight, whose memory must live until then.
    ~PosixStorage() override;

    [[nodiscard]] int depth() const noexcept override { return depth_max; }
    void submit(const ports::Request& request) override;
    std::size_t poll(std::span<ports::RequestCompletion> out) override;
    std::size_t wait(std::span<ports::RequestCompletion> out) override;
    Result<void> close() override;
    [[nodiscard]] const char* name() const noexcept override { return "posix"; }

private:
    [[nodiscard]] std::size_t in_flight() override;
    class Pool;
    static constexpr int depth_max = 64;

    void leave_if_forked();

    PosixStorageOptions options_;
    std::unique_ptr<Pool> pool_;  // created by the first request
    pid_t owner_ = 0;             // the process that created its threads
    std::size_t in_flight_ = 0;
};

[[nodiscard]] Result<std::unique_ptr<ports::FileStorage>> open_posix(
    const std::string& path, IoDirection direction, PosixStorageOptions options = {});

}  // namespace forebay::adapters
