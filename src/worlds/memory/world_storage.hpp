// A handle to a file in memory whose requests take a world's imagined time. A request is done at a
// moment between its start and its completion: a test that reuses memory too early is found out.
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
    std::vector<ports::RequestCompletion> done_;  // not taken yet
};

// World and file must outlive the handle. A poll of the file's faults stands for 10 microseconds.
[[nodiscard]] Result<std::unique_ptr<ports::FileStorage>> open_memory(MemoryWorld& world,
                                                                      MemoryFile& file,
                                                                      IoDirection direction);

}  // namespace forebay::adapters
