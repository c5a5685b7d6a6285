// A FileStorage over a MemoryFile whose requests take a world's time. The bytes move at a moment
// between start and completion, so that a test that reuses the memory too early is detected.
#pragma once

#include "worlds/memory/storage.hpp"
#include "worlds/memory/world.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace forebay::adapters {

class WorldStorage final : public MemoryHandle {
public:
    WorldStorage(MemoryWorld& world, MemoryFile& file, IoDirection direction)
        : MemoryHandle{file, direction}, world_{world} {}
    WorldStorage(const WorldStorage&) = delete;
    WorldStorage& operator=(const WorldStorage&) = delete;
    ~WorldStorage() override;

    void submit(const ports::Request& request) override;
    std::size_t poll(std::span<ports::RequestCompletion> out) override;
    std::size_t wait(std::span<ports::RequestCompletion> out) override;
    Result<void> sync() override;
    Result<void> close() override;

private:
    [[nodiscard]] std::size_t in_flight() const noexcept override {
        return under_way_ + done_.size();
    }

    MemoryWorld& world_;
    std::size_t under_way_ = 0;
    std::vector<ports::RequestCompletion> done_;  // completed, not taken yet
};

// World and file must outlive the handle. A poll in the file's faults counts as 10 microseconds.
[[nodiscard]] Result<std::unique_ptr<ports::FileStorage>> open_memory(MemoryWorld& world,
                                                                      MemoryFile& file,
                                                                      IoDirection direction);

}  // namespace forebay::adapters
