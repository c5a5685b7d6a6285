// A FileStorage over a MemoryFile; completions come late and out of order, as its faults say.
#pragma once

#include "foundation/base/result.hpp"
#include "foundation/ports/storage.hpp"
#include "worlds/memory/file.hpp"

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

namespace forebay::adapters {

// The common part of all handles, independent of how time passes in their world.
class MemoryHandle : public ports::FileStorage {
public:
    [[nodiscard]] int depth() const noexcept override { return depth_max; }
    Result<void> sync() override;
    [[nodiscard]] Result<ports::FileIdentity> identity() const override { return file_.identity(); }
    Result<void> close() override;
    [[nodiscard]] const char* name() const noexcept override { return "memory"; }

protected:
    static constexpr int depth_max = 64;

    MemoryHandle(MemoryFile& file, IoDirection direction) : file_{file}, direction_{direction} {}

    // The random number that decides the request's fault; differs between repetitions at one
    // offset.
    [[nodiscard]] std::uint64_t dice_of(const ports::Request& request);
    // The number of polls by which the completion is delayed.
    [[nodiscard]] std::int64_t delay_of(const ports::Request& request, std::uint64_t dice) const;
    [[nodiscard]] ports::RequestCompletion perform(const ports::Request& request,
                                                   std::uint64_t dice);
    [[nodiscard]] virtual std::size_t in_flight() const noexcept = 0;

private:
    MemoryFile& file_;
    IoDirection direction_;
    std::unordered_map<std::int64_t, std::uint64_t> attempts_;  // requests so far, by offset
};

// Counts time in polls, for ranks that are threads.
class MemoryStorage final : public MemoryHandle {
public:
    MemoryStorage(MemoryFile& file, IoDirection direction) : MemoryHandle{file, direction} {}
    ~MemoryStorage() override;

    void submit(const ports::Request& request) override;
    std::size_t poll(std::span<ports::RequestCompletion> out) override;
    std::size_t wait(std::span<ports::RequestCompletion> out) override;

private:
    struct Pending {
        ports::Request request;
        std::uint64_t dice = 0;
        std::int64_t due = 0;  // number of the poll that completes it
    };

    [[nodiscard]] std::size_t in_flight() const noexcept override { return pending_.size(); }

    std::vector<Pending> pending_;
    std::int64_t polls_ = 0;
};

// The file must outlive the handle.
[[nodiscard]] Result<std::unique_ptr<ports::FileStorage>> open_memory(MemoryFile& file,
                                                                      IoDirection direction);

}  // namespace forebay::adapters
