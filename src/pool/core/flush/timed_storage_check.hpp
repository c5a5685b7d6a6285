// A FileStorage over a memory file whose requests take a time that the test chooses.
#pragma once

#include "foundation/ports/completions.hpp"
#include "foundation/ports/polled_storage_check.hpp"
#include "worlds/memory/world.hpp"
#include "worlds/memory/world_storage.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace forebay::pool {

// `Its`: the test's record of the requests.
template <class Its>
class TimedStorage : public ports::PolledStorage {
public:
    TimedStorage(adapters::MemoryWorld& world, adapters::MemoryFile& file, Its& its)
        : world_{world}, file_{file}, its_{its} {}
    std::size_t poll(std::span<ports::RequestCompletion> out) override {
        world_.step({"poll"});
        return ports::take_oldest(done_, out);
    }
    [[nodiscard]] Result<ports::FileIdentity> identity() const override { return file_.identity(); }

protected:
    [[nodiscard]] adapters::MemoryWorld& world() noexcept { return world_; }
    [[nodiscard]] Its& its() noexcept { return its_; }
    // Carries out `request` after `ns`, when it has called `then`.
    template <class Then>
    void perform_after(std::int64_t ns, const ports::Request& request, Then then) {
        world_.after(ns, [this, request, then = std::move(then)] {
            then();
            done_.push_back(file_.perform(request, 0));
        });
    }

private:
    adapters::MemoryWorld& world_;
    adapters::MemoryFile& file_;
    Its& its_;
    std::vector<ports::RequestCompletion> done_;
};

}  // namespace forebay::pool
