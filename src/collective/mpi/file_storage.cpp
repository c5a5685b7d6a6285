// Opens the adapter for the route that plan::choose_storage takes.
#include "collective/mpi/file_storage.hpp"

#include "collective/plan/storage_route.hpp"
#include "storage/uring/open.hpp"

#include <array>

namespace forebay::interposer {

namespace {

adapters::StoragePreference preference_of(const UserSettings& settings) noexcept {
    constexpr std::array choices{adapters::StoragePreference::automatic,
                                 adapters::StoragePreference::uring,
                                 adapters::StoragePreference::posix};
    return choices.at(static_cast<std::size_t>(settings.number(Setting::storage)));
}

// Asks the pool once more whether it covers the path: since the open, the file may have been
// renamed, or the pool may have closed down.
plan::StorageFacts storage_facts_of(const FileFacts& facts) {
    plan::StorageFacts found;
    found.in_parts = facts.group != 0;
    found.covered =
        !found.in_parts && facts.pool != nullptr && facts.pool->covers(facts.path.c_str());
    return found;
}

}  // namespace

Result<std::unique_ptr<ports::FileStorage>> open_file_storage(const FileFacts& facts,
                                                              const UserSettings& settings,
                                                              IoDirection direction) {
    switch (plan::choose_storage(storage_facts_of(facts), direction)) {
        case plan::StorageRoute::part_of_pools:
            return adapters::open_part(*facts.pool, facts.path, facts.group);
        case plan::StorageRoute::pool:
            return adapters::open_pooled(*facts.pool, facts.path, direction);
        case plan::StorageRoute::file_system: break;
    }
    return adapters::open_storage(facts.path, direction, preference_of(settings));
}

}  // namespace forebay::interposer
