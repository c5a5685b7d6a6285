// Memory of a storage that it lends: what the ranks of a node put together there need not be copied
// once more when it is written. One rank's storage lends it; the others of the node reach it by its
// name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace forebay::ports {

// A stretch of lent memory: whose, and where it begins in all that this storage lends.
struct Loan {
    std::uint64_t lender = 0;
    std::size_t place = 0;
    std::span<std::byte> bytes;
};

class MemoryLender {
public:
    virtual ~MemoryLender() = default;
    // By which others reach what is lent; 0: nothing is.
    [[nodiscard]] virtual std::uint64_t name() const noexcept = 0;
    // Memory for so many bytes; nullopt: none is free, or nothing so large is lent. Waits for
    // nobody. Requests may then write from it.
    [[nodiscard]] virtual std::optional<Loan> lend(std::size_t bytes) = 0;
    // Contract: no request that writes from it is in flight. Unwritten bytes are dropped.
    virtual void take_back(const Loan& loan) = 0;
};

class MemoryBorrower {
public:
    virtual ~MemoryBorrower() = default;
    // Whether memory of that name can be written to from here.
    [[nodiscard]] virtual bool reaches(std::uint64_t name) = 0;
    // Contract: it can, and has been lent. Where a loan's bytes are seen from here.
    [[nodiscard]] virtual std::span<std::byte> borrowed(std::uint64_t name, std::size_t place,
                                                        std::size_t bytes) = 0;
};

}  // namespace forebay::ports
