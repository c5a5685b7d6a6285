// See circle.hpp.
#include "collective/mpi/cached_communicator.hpp"

#include "collective/engine/file.hpp"

#include <algorithm>
#include <utility>

namespace forebay::entry {

Circle* Circles::find_free(MPI_Comm communicator, const CircleNeeds& needs, bool exclusive) const {
    for (const auto& circle : circles_) {
        if (circle->group && !(exclusive && circle->files > 0) && circle->needs == needs &&
            circle->group->matches(communicator)) {
            return circle.get();
        }
    }
    return nullptr;
}

Circle* Circles::find_label(MPI_Comm communicator, std::uint64_t label) const {
    for (const auto& circle : circles_) {
        if (circle->label == label && circle->group && circle->group->matches(communicator)) {
            return circle.get();
        }
    }
    return nullptr;
}

bool Circles::has_room() const noexcept {
    const auto kept = [](const auto& circle) { return circle->kept; };
    return keeps_ && std::ranges::count_if(circles_, kept) < std::ptrdiff_t{kept_max};
}

Circle* Circles::adopt(std::unique_ptr<Circle> circle) {
    circles_.push_back(std::move(circle));
    return circles_.back().get();
}

std::unique_ptr<Circle> Circles::release(Circle* circle) {
    circle->files -= 1;
    if (circle->files > 0) {
        return nullptr;
    }
    if (circle->kept) {
        const ports::Place& place = circle->group->place();
        if (circles_.size() > 1 && place.leader()) {
            circle->group->give_back(engine::File::lane_bytes(place.ranks, 0));
        }
        return nullptr;
    }
    const auto at = std::ranges::find(circles_, circle, &std::unique_ptr<Circle>::get);
    std::unique_ptr<Circle> taken = std::move(*at);
    circles_.erase(at);
    return taken;
}

std::vector<std::unique_ptr<Circle>> Circles::stop_keeping() {
    keeps_ = false;
    std::vector<std::unique_ptr<Circle>> idle;
    std::vector<std::unique_ptr<Circle>> used;
    for (auto& circle : circles_) {
        circle->kept = false;
        (circle->files == 0 ? idle : used).push_back(std::move(circle));
    }
    circles_ = std::move(used);
    return idle;
}

CircleNeeds needs_of(const Settings& settings) {
    return {static_cast<std::int32_t>(settings.number(Setting::ranks_per_node)),
            settings.number(Setting::staging_bytes_max)};
}

std::unique_ptr<Circle> make_circle(MPI_Comm communicator, std::uint64_t label,
                                    const CircleNeeds& needs, bool room) {
    auto circle = std::make_unique<Circle>();
    circle->label = label;
    circle->needs = needs;
    int ranks = 1;
    PMPI_Comm_size(communicator, &ranks);
    adapters::MpiCommunicatorOptions options;
    options.node_bytes = engine::File::lane_bytes(ranks, needs.staging_bytes_max);
    options.ranks_per_node = needs.ranks_per_node;
    auto group = adapters::MpiCommunicator::create(communicator, options);
    if (group) {
        circle->group = std::move(*group);
    }
    const int mine = room ? 1 : 0;
    int all = 0;
    PMPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, communicator);
    circle->kept = all != 0 && circle->group;
    return circle;
}

}  // namespace forebay::entry
