// A file whose large requests are done by the kernel's own threads through io_uring, and whose
// small pieces are done at once, unless the caller may never wait: for a few KiB the ring costs
// three times a plain pwrite.
#pragma once

#include "foundation/base/own_fd.hpp"
#include "foundation/base/result.hpp"
#include "foundation/ports/storage.hpp"
#include "storage/posix/storage.hpp"

#include <memory>
#include <string>

namespace forebay::adapters {

// Whether this process may use io_uring for reading and writing: the kernel has it, the
// administrator has not switched it off, no seccomp filter and no memory limit forbids it.
[[nodiscard]] bool uring_allowed();

// Whether small pieces may be written by whoever submits them: it waits for the file system then.
enum class SubmitterKind { may_wait, never_waits };

class UringStorage final : public DescriptorStorage {
public:
    // Fails where uring_allowed() is false, and leaves `fd` alone then.
    [[nodiscard]] static Result<std::unique_ptr<UringStorage>> create(
        OwnFd& fd, std::string path, SubmitterKind caller = SubmitterKind::may_wait);
    // Finishes what is in flight; its memory must live until then.
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

    [[nodiscard]] std::size_t in_flight() const noexcept override;

    std::unique_ptr<Ring> ring_;
};

}  // namespace forebay::adapters
