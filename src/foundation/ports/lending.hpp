// Ports to lent memory: a rank's storage (the pool) lends log memory in which the ranks of a node
// assemble a window, so that writing it needs no further copy. The other ranks of the node reach
// the memory by the lender's name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace forebay::ports {

// A lent range: the lender's name, and the offset in all memory that this lender lends.
struct Loan {
    std::uint64_t lender = 0;
    std::size_t place = 0;
    std::span<std::byte> bytes;
};

class MemoryLender {
public:
    virtual ~MemoryLender() = default;
    // The name by which other ranks reach the lent memory; 0: nothing is lent.
    [[nodiscard]] virtual std::uint64_t name() const noexcept = 0;
    // Lends `bytes` bytes from which requests may then write. nullopt: none is free, or the size is
    // too large. Does not block.
    [[nodiscard]] virtual std::optional<Loan> lend(std::size_t bytes) = 0;
    // Contract: no request that writes from the loan is in flight. Bytes not written are dropped.
    virtual void take_back(const Loan& loan) = 0;
};

class MemoryBorrower {
public:
    virtual ~MemoryBorrower() = default;
    // Whether this process can write to the memory of the lender `name`.
    [[nodiscard]] virtual bool reaches(std::uint64_t name) = 0;
    // The bytes of a loan in this process's address space. Contract: reaches(name), and the range
    // has been lent.
    [[nodiscard]] virtual std::span<std::byte> borrowed(std::uint64_t name, std::size_t place,
                                                        std::size_t bytes) = 0;
};

}  // namespace forebay::ports
