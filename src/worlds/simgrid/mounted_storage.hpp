// The FileStorage of one rank over its node's client. A request is a call of the program: it may
// span any number of stripes, and is done when the client's cache has taken or delivered the bytes.
// One request at a time.
#pragma once

#include "foundation/ports/storage.hpp"
#include "worlds/simgrid/mount.hpp"

#include <optional>

namespace forebay::adapters {

class MountedStorage final : public ports::FileStorage {
public:
    MountedStorage(SimulatedMachine& machine, SimulatedMount& mount, std::int32_t rank,
                   const MountedFile& file)
        : machine_{machine}, mount_{mount}, rank_{rank}, file_{file} {}

    [[nodiscard]] int depth() const noexcept override { return 1; }
    // Contract: the request has one piece.
    void submit(const ports::Request& request) override;
    std::size_t poll(std::span<ports::RequestCompletion> out) override;
    std::size_t wait(std::span<ports::RequestCompletion> out) override;
    // Waits until all that the rank has written is at the targets.
    Result<void> sync() override;
    [[nodiscard]] Result<ports::FileIdentity> identity() const override {
        return ports::FileIdentity{};
    }
    Result<void> close() override { return {}; }
    [[nodiscard]] const char* name() const noexcept override { return "mounted"; }

private:
    template <class Over>
    void sleep_until(Over over);
    void wake();

    SimulatedMachine& machine_;
    SimulatedMount& mount_;
    std::int32_t rank_;
    MountedFile file_;
    std::optional<ports::RequestCompletion> done_;
    bool waits_ = false;
};

}  // namespace forebay::adapters
