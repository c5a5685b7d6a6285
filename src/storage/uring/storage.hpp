// The port FileStorage over io_uring: the kernel's own threads do large requests. Small requests
// are done synchronously, unless the caller must never block: for a few KiB the ring costs three
// times as much as a plain pwrite.
#pragma once

#include "foundation/base/own_fd.hpp"
#include "foundation/base/result.hpp"
#include "foundation/ports/storage.hpp"
#include "storage/posix/storage.hpp"

#include <memory>
#include <string>

namespace forebay::adapters {

// Whether this process may read and write by io_uring: the kernel supports it, the administrator
// has not disabled it, and neither a seccomp filter nor the limit of locked memory forbids it.
[[nodiscard]] bool uring_allowed();

// Whether submit() may do small requests synchronously, in which case it blocks on the file system.
enum class SubmitterKind { may_wait, never_waits };

class UringStorage final : public DescriptorStorage {
public:
    // Fails if uring_allowed() is false; `fd` is then unchanged.
    [[nodiscard]] static Result<std::unique_ptr<UringStorage>> create(
        OwnFd& fd, std::string path, SubmitterKind caller = SubmitterKind::may_wait);
    // Waits for the requests in flight, whose memory must live until then.
    ~UringStorage() override;
    UringStorage(const UringStorage&) = delete;
    UringStorage& operator=(const UringStorage&) = delete;

    [[nodiscard]] int depth() const noexcept override;
    void submit(const ports::Request& request) override;
    std::size_t poll(std::span<ports::RequestCompletion> out) override;
    std::size_t wait(std::span<ports::RequestCompletion> out) override;
    [[nodiscard]] const char* name() const noexcept override { return "uring"; }

private:
    class Ring;
    UringStorage(OwnFd fd, std::string path, std::unique_ptr<Ring> ring) noexcept;

    [[nodiscard]] std::size_t in_flight() override;

    std::unique_ptr<Ring> ring_;
};

}  // namespace forebay::adapters
