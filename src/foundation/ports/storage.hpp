// Port to one open file: requests go in, completions come out, in any order. An adapter may
// complete a request short, or with EINTR or EAGAIN, as the kernel does.
// storage/transfer/channel.hpp resubmits the rest, in the same way for all adapters.
#pragma once

#include "foundation/base/direction.hpp"
#include "foundation/base/result.hpp"
#include "foundation/base/units.hpp"
#include "foundation/ports/lending.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace forebay::ports {

// One contiguous piece: `bytes` of memory and the file offset `at` (an iovec with its offset).
struct Piece {
    Offset at;
    std::span<std::byte> bytes;  // source of a write, destination of a read
};

// One vectored read or write. The pieces' memory, and the array of pieces itself, must live until
// the completion. Pieces ascend in the file and do not overlap.
struct Request {
    IoDirection direction = IoDirection::write;
    std::uint64_t ticket = 0;  // chosen by the caller, returned in the completion
    std::span<const Piece> pieces;
    // The caller has nothing else to do meanwhile: an adapter may do the request synchronously in
    // submit().
    bool at_once = false;
};

// The result: the first `bytes` bytes of the request, counted over its pieces in order, were moved.
// `system` is the errno that stopped it, or 0. A read that hits the end of file has system 0 and
// fewer bytes.
struct RequestCompletion {
    std::uint64_t ticket = 0;
    Length bytes;
    int system = 0;
};

// Identifies a file, so that a second open by name is recognised as the same file.
struct FileIdentity {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    bool operator==(const FileIdentity&) const noexcept = default;
};

class FileStorage {
public:
    virtual ~FileStorage() = default;

    // The maximum number of requests in flight; submit() must not be called beyond it.
    [[nodiscard]] virtual int depth() const noexcept = 0;
    // Does not block on the device, unless request.at_once. An error of the request comes as its
    // completion.
    virtual void submit(const Request& request) = 0;
    // Takes up to out.size() completions that have arrived. Returns their number.
    virtual std::size_t poll(std::span<RequestCompletion> out) = 0;
    // As poll(), but blocks until there is at least one. Contract: something is in flight.
    virtual std::size_t wait(std::span<RequestCompletion> out) = 0;
    // Makes all completed writes durable (fsync). Contract: nothing is in flight.
    virtual Result<void> sync() = 0;
    [[nodiscard]] virtual Result<FileIdentity> identity() const = 0;
    // Closes the file and returns a late write error. Contract: nothing is in flight.
    virtual Result<void> close() = 0;
    // The lender of memory from which requests may write; null: this storage lends none.
    [[nodiscard]] virtual MemoryLender* lender() noexcept { return nullptr; }
    // The adapter's name for records and messages: "direct", "uring" or "posix"; others in tests.
    [[nodiscard]] virtual const char* name() const noexcept = 0;
};

}  // namespace forebay::ports
