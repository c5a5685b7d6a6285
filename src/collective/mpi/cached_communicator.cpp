// Look-ups are linear, because there are only a few cached communicators.
#include "collective/mpi/cached_communicator.hpp"

#include "collective/engine/file.hpp"

#include <algorithm>
#include <utility>

namespace forebay::interposer {

CachedCommunicator* CachedCommunicators::find_free(MPI_Comm communicator,
                                                   const CommunicatorNeeds& needs,
                                                   bool exclusive) const {
    for (const auto& cached_communicator : cached_communicators_) {
        if (cached_communicator->group && !(exclusive && cached_communicator->files > 0) &&
            cached_communicator->needs == needs &&
            cached_communicator->group->matches(communicator)) {
            return cached_communicator.get();
        }
    }
    return nullptr;
}

CachedCommunicator* CachedCommunicators::find_label(MPI_Comm communicator,
                                                    std::uint64_t label) const {
    for (const auto& cached_communicator : cached_communicators_) {
        if (cached_communicator->label == label && cached_communicator->group &&
            cached_communicator->group->matches(communicator)) {
            return cached_communicator.get();
        }
    }
    return nullptr;
}

bool CachedCommunicators::has_room() const noexcept {
    const auto kept = [](const auto& cached_communicator) { return cached_communicator->kept; };
    return keeps_ && std::ranges::count_if(cached_communicators_, kept) < std::ptrdiff_t{kept_max};
}

CachedCommunicator* CachedCommunicators::adopt(
    std::unique_ptr<CachedCommunicator> cached_communicator) {
    cached_communicators_.push_back(std::move(cached_communicator));
    return cached_communicators_.back().get();
}

std::unique_ptr<CachedCommunicator> CachedCommunicators::release(
    CachedCommunicator* cached_communicator) {
    cached_communicator->files -= 1;
    if (cached_communicator->files > 0) {
        return nullptr;
    }
    if (cached_communicator->kept) {
        const ports::RankPlace& place = cached_communicator->group->place();
        if (cached_communicators_.size() > 1 && place.leader()) {
            cached_communicator->group->give_back(
                engine::CollectiveFile::node_segment_bytes(place.ranks, 0));
        }
        return nullptr;
    }
    const auto at = std::ranges::find(cached_communicators_, cached_communicator,
                                      &std::unique_ptr<CachedCommunicator>::get);
    std::unique_ptr<CachedCommunicator> taken = std::move(*at);
    cached_communicators_.erase(at);
    return taken;
}

std::vector<std::unique_ptr<CachedCommunicator>> CachedCommunicators::stop_keeping() {
    keeps_ = false;
    std::vector<std::unique_ptr<CachedCommunicator>> idle;
    std::vector<std::unique_ptr<CachedCommunicator>> used;
    for (auto& cached_communicator : cached_communicators_) {
        cached_communicator->kept = false;
        (cached_communicator->files == 0 ? idle : used).push_back(std::move(cached_communicator));
    }
    cached_communicators_ = std::move(used);
    return idle;
}

CommunicatorNeeds needs_of(const UserSettings& settings) {
    return {static_cast<std::int32_t>(settings.number(Setting::ranks_per_node)),
            settings.number(Setting::staging_bytes_max)};
}

std::unique_ptr<CachedCommunicator> make_cached_communicator(MPI_Comm communicator,
                                                             std::uint64_t label,
                                                             const CommunicatorNeeds& needs,
                                                             bool room) {
    auto cached_communicator = std::make_unique<CachedCommunicator>();
    cached_communicator->label = label;
    cached_communicator->needs = needs;
    int ranks = 1;
    PMPI_Comm_size(communicator, &ranks);
    adapters::MpiCommunicatorOptions options;
    options.node_bytes = engine::CollectiveFile::node_segment_bytes(ranks, needs.staging_bytes_max);
    options.ranks_per_node = needs.ranks_per_node;
    auto group = adapters::MpiCommunicator::create(communicator, options);
    if (group) {
        cached_communicator->group = std::move(*group);
    }
    const int mine = room ? 1 : 0;
    int all = 0;
    PMPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, communicator);
    cached_communicator->kept = all != 0 && cached_communicator->group;
    return cached_communicator;
}

}  // namespace forebay::interposer
