// Requests of one handle overlap and overtake each other, as the world's seed draws.
#include "worlds/memory/world_storage.hpp"

#include "foundation/ports/completions.hpp"

namespace forebay::adapters {

namespace {

constexpr std::int64_t request_ns_min = 5'000;
constexpr std::int64_t request_ns_range = 100'000;
constexpr std::int64_t poll_ns = 10'000;

}  // namespace

WorldStorage::~WorldStorage() {
    // Requests of an actor that died may never complete.
    while (under_way_ > 0 && world_.something_comes()) {
        world_.wait(this, {"a request to be forgotten"});
    }
}

void WorldStorage::submit(const ports::Request& request) {
    expects(in_flight() < static_cast<std::size_t>(depth_max), "the depth is not exceeded");
    const std::int64_t place = request.pieces.empty() ? 0 : request.pieces.front().at.bytes();
    world_.step({request.direction == IoDirection::write ? "write at" : "read at", place});
    const std::uint64_t dice = dice_of(request);
    const std::int64_t time =
        request_ns_min + world_.draw(request_ns_range) + poll_ns * delay_of(request, dice);
    ++under_way_;
    world_.after(time, [this, request, dice] {
        --under_way_;
        done_.push_back(perform(request, dice));
        world_.wake(this);
    });
}

std::size_t WorldStorage::poll(std::span<ports::RequestCompletion> out) {
    world_.step({"ask for completions"});
    return ports::take_oldest(done_, out);
}

std::size_t WorldStorage::wait(std::span<ports::RequestCompletion> out) {
    expects(in_flight() > 0 && !out.empty(), "only what is in flight can complete");
    world_.step({"ask for completions"});
    while (done_.empty()) {
        world_.wait(this, {"storage, requests:", static_cast<std::int64_t>(under_way_)});
    }
    return ports::take_oldest(done_, out);
}

Result<void> WorldStorage::sync() {
    world_.step({"sync"});
    return MemoryHandle::sync();
}

Result<void> WorldStorage::close() {
    world_.step({"close"});
    return MemoryHandle::close();
}

Result<std::unique_ptr<ports::FileStorage>> open_memory(MemoryWorld& world, MemoryFile& file,
                                                        IoDirection direction) {
    world.step({"open"});
    if (file.faults().open_error != 0) {
        return failure(system_error(file.faults().open_error, "open a file in memory"));
    }
    return std::make_unique<WorldStorage>(world, file, direction);
}

}  // namespace forebay::adapters
