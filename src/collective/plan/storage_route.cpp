// One decision from two facts and the direction.
#include "collective/plan/storage_route.hpp"

namespace forebay::plan {

StorageRoute choose_storage(const StorageFacts& facts, IoDirection direction) noexcept {
    if (facts.in_parts) {
        return direction == IoDirection::write ? StorageRoute::part_of_pools
                                               : StorageRoute::file_system;
    }
    return facts.covered ? StorageRoute::pool : StorageRoute::file_system;
}

}  // namespace forebay::plan
