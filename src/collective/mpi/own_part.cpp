// The first call in a direction opens its storage, which is kept until the close.
#include "collective/mpi/own_part.hpp"

#include <utility>

namespace forebay::interposer {

plan::Refusal OwnPart::open(IoDirection direction) {
    Way& one = way(direction);
    if (!std::exchange(one.tried, true)) {
        one.refusal = open(one, direction);
    }
    return one.refusal;
}

plan::Refusal OwnPart::open(Way& way, IoDirection direction) const {
    if (calls_ == nullptr) {
        return plan::Refusal::cannot_open;
    }
    auto opened = adapters::open_pooled(*calls_, path_, direction);
    if (!opened) {
        return plan::Refusal::cannot_open;
    }
    const auto found = (*opened)->identity();
    if (!identity_ || !found || *found != *identity_) {
        return plan::Refusal::not_the_same_file;
    }
    way.storage = std::move(*opened);
    way.mover.emplace(*way.storage, clock_);
    return plan::Refusal::none;
}

transfer::OwnMove OwnPart::move(const transfer::OwnRequest& request, IoDirection direction) {
    Way& one = way(direction);
    expects(one.mover.has_value(), "the part is open");
    return direction == IoDirection::write ? one.mover->write(request) : one.mover->read(request);
}

Result<void> OwnPart::close() {
    Result<void> all;
    for (Way& one : ways_) {
        one.mover.reset();
        if (const auto storage = std::exchange(one.storage, nullptr)) {
            if (auto closed = storage->close(); !closed && all) {
                all = std::move(closed);
            }
        }
    }
    return all;
}

}  // namespace forebay::interposer
