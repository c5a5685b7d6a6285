// This rank's own way to a file in the pool of its node, for calls in which it waits for nobody
// (decision 0021). Newest wins in the pool's index, so ranks need not meet to write one file.
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
    // `calls`: null where this process has no pool; it and `clock` outlive the part. `identity`: of
    // the file that was opened by that path.
    OwnPart(const pool::PoolCalls* calls, const ports::TimeSource& clock, std::string path,
            std::optional<ports::FileIdentity> identity)
        : calls_{calls}, clock_{clock}, path_{std::move(path)}, identity_{identity} {}

    // Once for each direction; says what is against it.
    [[nodiscard]] plan::Refusal open(IoDirection direction);
    // Contracts: open, and something is asked for.
    transfer::OwnMove move(const transfer::OwnRequest& request, IoDirection direction);
    // Reports a late error.
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
