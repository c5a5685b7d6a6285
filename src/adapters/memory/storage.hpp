// A handle to a file in memory: completions come late and out of order, as its faults say.
#pragma once

#include "adapters/memory/file.hpp"
#include "base/result.hpp"
#include "ports/storage.hpp"

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

namespace forebay::adapters {

class MemoryStorage final : public ports::Storage {
public:
    MemoryStorage(MemoryFile& file, Direction direction);
    ~MemoryStorage() override;

    [[nodiscard]] int depth() const noexcept override { return depth_max; }
    void submit(const ports::Request& request) override;
    std::size_t poll(std::span<ports::Completion> out) override;
    std::size_t wait(std::span<ports::Completion> out) override;
    Result<void> sync() override;
    [[nodiscard]] Result<ports::Identity> identity() const override;
    Result<void> close() override;
    [[nodiscard]] const char* name() const noexcept override { return "memory"; }

private:
    static constexpr int depth_max = 64;
    struct Pending {
        ports::Request request;
        std::uint64_t dice = 0;
        std::int64_t due = 0;  // poll at which it completes
    };

    [[nodiscard]] std::int64_t delay_of(const ports::Request& request, std::uint64_t dice) const;
    [[nodiscard]] ports::Completion perform(const Pending& pending);

    MemoryFile& file_;
    Direction direction_;
    std::vector<Pending> pending_;
    std::unordered_map<std::int64_t, std::uint64_t> attempts_;  // at each place
    std::int64_t polls_ = 0;
};

// The file must outlive the handle.
[[nodiscard]] Result<std::unique_ptr<ports::Storage>> open_memory(MemoryFile& file,
                                                                  Direction direction);

}  // namespace forebay::adapters
