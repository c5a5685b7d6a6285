// One open file, as the engine uses it: requests go in, completions come out, in any order.
// An adapter is raw: it may complete fewer bytes than asked (short), with EINTR or EAGAIN, as the
// kernel does. storage/transfer/channel.hpp finishes such requests; it does so the same way for all
// adapters.
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

// One contiguous piece: `bytes` of memory against the file from `at` on.
struct Piece {
    Offset at;
    std::span<std::byte> bytes;  // source of a write, destination of a read
};

// One read or write of pieces. The memory, and the array of pieces itself, must live until the
// completion. Pieces ascend in the file and do not overlap.
struct Request {
    IoDirection direction = IoDirection::write;
    std::uint64_t ticket = 0;  // chosen by the caller, given back in the completion
    std::span<const Piece> pieces;
    // The caller has nothing else to do meanwhile: an adapter may do the request within submit(),
    // on the caller's thread.
    bool at_once = false;
};

// The first `bytes` of the request, counted over its pieces in order, were moved; `system` is the
// errno that stopped it, or 0. A read that stops at end of file has system 0 and fewer bytes.
struct RequestCompletion {
    std::uint64_t ticket = 0;
    Length bytes;
    int system = 0;
};

// Which file this is, so that a file opened again by name is known to be the same one.
struct FileIdentity {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    bool operator==(const FileIdentity&) const noexcept = default;
};

class FileStorage {
public:
    virtual ~FileStorage() = default;

    // Most requests that may be in flight at once; submit() must not be called beyond.
    [[nodiscard]] virtual int depth() const noexcept = 0;
    // Does not block on the device unless the request is one to be done at once; an error of the
    // request comes as its completion.
    virtual void submit(const Request& request) = 0;
    // Takes up to out.size() completions that are there. Returns how many.
    virtual std::size_t poll(std::span<RequestCompletion> out) = 0;
    // As poll, but blocks until there is at least one. Contract: something is in flight.
    virtual std::size_t wait(std::span<RequestCompletion> out) = 0;
    // Makes what was written durable. Contract: nothing is in flight.
    virtual Result<void> sync() = 0;
    [[nodiscard]] virtual Result<FileIdentity> identity() const = 0;
    // Closes and reports a late error. Contract: nothing is in flight.
    virtual Result<void> close() = 0;
    // The lender of memory to write from; null: this storage lends none.
    [[nodiscard]] virtual MemoryLender* lender() noexcept { return nullptr; }
    // "direct", "uring", "posix", "memory": for records and messages.
    [[nodiscard]] virtual const char* name() const noexcept = 0;
};

}  // namespace forebay::ports
