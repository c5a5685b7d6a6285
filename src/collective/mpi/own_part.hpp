// This rank's own way to a file in the pool of its node, for calls in which it waits for no other
// rank (decision 0021). In the pool's index the newest bytes win, so ranks need not synchronise to
// write one file.
#pragma once

#include "collective/engine/alone.hpp"
#include "collective/plan/refusal.hpp"
#include "foundation/base/direction.hpp"
#include "foundation/ports/clock.hpp"
#include "foundation/ports/storage.hpp"
#include "pool/mpi_bridge/storage.hpp"

#include <array>
#include <memory>
#include <optional>
#include <string>

namespace forebay::interposer {

class OwnPart {
public:
    // `calls`: null if this process has no pool. `calls` and `clock` outlive the object.
    // `identity`: that of the file that was opened by this path.
    OwnPart(const pool::PoolCalls* calls, const ports::TimeSource& clock, std::string path,
            std::optional<ports::FileIdentity> identity)
        : calls_{calls}, clock_{clock}, path_{std::move(path)}, identity_{identity} {}

    // Opens the file, once for each direction. Returns the reason if it cannot be used.
    [[nodiscard]] plan::Refusal open(IoDirection direction);
    // Contracts: open() has succeeded, and the request is not empty.
    transfer::OwnMove move(const transfer::OwnRequest& request, IoDirection direction);
    // Closes both directions. Returns an error of an earlier write that shows only now.
    Result<void> close();

private:
    struct Way {
        std::unique_ptr<ports::FileStorage> storage;
        std::optional<transfer::OwnMover> mover;
        plan::Refusal refusal = plan::Refusal::cannot_open;
        bool tried = false;
    };
    [[nodiscard]] plan::Refusal open(Way& way, IoDirection direction) const;
    [[nodiscard]] Way& way(IoDirection direction) {
        return ways_[direction == IoDirection::write ? 0 : 1];
    }

    const pool::PoolCalls* calls_;
    const ports::TimeSource& clock_;
    std::string path_;
    std::optional<ports::FileIdentity> identity_;
    std::array<Way, 2> ways_;
};

}  // namespace forebay::interposer
