// A storage that lends memory, for tests whose ranks share an address space. Now and then it has no
// memory to lend, and some ranks cannot write to what it lends. It overwrites memory that was given
// back, so that a later use is noticed.
#pragma once

#include "foundation/ports/lending.hpp"

#include <algorithm>
#include <atomic>
#include <gtest/gtest.h>
#include <map>
#include <mutex>
#include <random>
#include <vector>

namespace forebay::engine {

// All memory that the storages of a job lend, by name.
class LentMemory {
public:
    static constexpr std::size_t bytes_of_a_name = std::size_t{4} << 20;

    std::atomic<std::int64_t> loans = 0;  // so far
    std::atomic<std::int64_t> open = 0;   // of these, not taken back yet

    std::uint64_t add() {
        const std::lock_guard lock{mutex_};
        const std::uint64_t name = 100 + areas_.size();
        areas_[name].resize(bytes_of_a_name, std::byte{0xdd});
        return name;
    }
    std::span<std::byte> all(std::uint64_t name) {
        const std::lock_guard lock{mutex_};
        return areas_.at(name);
    }

private:
    std::mutex mutex_;
    std::map<std::uint64_t, std::vector<std::byte>> areas_;
};

class TestLender final : public ports::MemoryLender {
public:
    explicit TestLender(LentMemory& memory)
        : memory_{memory}, name_{memory.add()}, random_{name_} {}

    [[nodiscard]] std::uint64_t name() const noexcept override { return name_; }
    [[nodiscard]] std::optional<ports::Loan> lend(std::size_t bytes) override {
        const std::size_t place =
            open_.empty() ? 0 : open_.rbegin()->first + open_.rbegin()->second;
        if (random_() % 4 == 0 || place + bytes > LentMemory::bytes_of_a_name) {
            return std::nullopt;
        }
        open_[place] = bytes;
        ++memory_.loans;
        ++memory_.open;
        return ports::Loan{name_, place, memory_.all(name_).subspan(place, bytes)};
    }
    void take_back(const ports::Loan& loan) override {
        EXPECT_EQ(open_.at(loan.place), loan.bytes.size());
        open_.erase(loan.place);
        --memory_.open;
        std::ranges::fill(loan.bytes, std::byte{0xdd});
    }

private:
    LentMemory& memory_;
    std::uint64_t name_;
    std::mt19937_64 random_;
    std::map<std::size_t, std::size_t> open_;  // lengths of open loans, by where they begin
};

// One rank's borrower. `refuses`: it reaches no lent memory.
class TestBorrower final : public ports::MemoryBorrower {
public:
    TestBorrower(LentMemory& memory, bool refuses) : memory_{memory}, refuses_{refuses} {}

    [[nodiscard]] bool reaches(std::uint64_t /*name*/) override { return !refuses_; }
    [[nodiscard]] std::span<std::byte> borrowed(std::uint64_t name, std::size_t place,
                                                std::size_t bytes) override {
        EXPECT_FALSE(refuses_) << "nothing is put where it cannot be reached";
        return memory_.all(name).subspan(place, bytes);
    }

private:
    LentMemory& memory_;
    bool refuses_;
};

}  // namespace forebay::engine
