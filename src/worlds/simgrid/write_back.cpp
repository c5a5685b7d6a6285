// Gathers the bytes of each rank to runs, and reserves room for them per target.
#include "worlds/simgrid/write_back.hpp"

#include "foundation/base/contracts.hpp"

#include <algorithm>

namespace forebay::adapters {

bool WriteBack::has_room(const DirtyRun& run) const {
    const Target& target = targets_.at(position(run.target));
    return target.waiting.empty() && fits(target, run.bytes);
}

bool WriteBack::reserve(const DirtyRun& run) {
    Target& target = targets_.at(position(run.target));
    if (!has_room(run)) {
        target.waiting.push_back({run.rank, run.bytes});
        return false;
    }
    target.dirty += run.bytes;
    dirty_.at(position(run.rank)) += run.bytes;
    return true;
}

void WriteBack::put(const DirtyRun& run) {
    Target& target = targets_.at(position(run.target));
    const auto own = std::ranges::find(target.gathering, run.rank, &DirtyRun::rank);
    DirtyRun whole = run;
    if (own != target.gathering.end()) {
        if (own->object == run.object && own->at + own->bytes == run.at) {
            whole.at = own->at;
            whole.bytes += own->bytes;
        } else {
            target.ready.push_back(*own);
        }
        target.gathering.erase(own);
    }
    const bool full = (whole.at + whole.bytes) % rpc_bytes_ == 0;
    (full ? target.ready : target.gathering).push_back(whole);
}

void WriteBack::flush(std::int32_t rank) {
    for (Target& target : targets_) {
        const auto own = std::ranges::find(target.gathering, rank, &DirtyRun::rank);
        if (own != target.gathering.end()) {
            target.ready.push_back(*own);
            target.gathering.erase(own);
        }
    }
}

// A rank that waits for room cannot add to the gathering bytes, so these are sent, too.
std::optional<DirtyRun> WriteBack::next(std::int32_t number) {
    Target& target = targets_.at(position(number));
    std::vector<DirtyRun>& from =
        target.ready.empty() && !target.waiting.empty() ? target.gathering : target.ready;
    if (from.empty()) {
        return std::nullopt;
    }
    const DirtyRun run = from.front();
    from.erase(from.begin());
    return run;
}

std::vector<std::int32_t> WriteBack::sent(const DirtyRun& run) {
    Target& target = targets_.at(position(run.target));
    target.dirty -= run.bytes;
    dirty_.at(position(run.rank)) -= run.bytes;
    expects(target.dirty >= 0, "what is sent was dirty");
    std::vector<std::int32_t> ranks;
    while (!target.waiting.empty() && fits(target, target.waiting.front().bytes)) {
        const Waiting first = target.waiting.front();
        target.waiting.erase(target.waiting.begin());
        target.dirty += first.bytes;
        dirty_.at(position(first.rank)) += first.bytes;
        ranks.push_back(first.rank);
    }
    return ranks;
}

}  // namespace forebay::adapters
