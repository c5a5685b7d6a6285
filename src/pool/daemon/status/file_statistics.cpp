// Adds up the statistics of each path over all times that a file was known to the pool under it.
#include "pool/daemon/status/file_statistics.hpp"

#include "foundation/base/atomics.hpp"
#include "foundation/base/contracts.hpp"
#include "pool/protocol/search.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>
#include <utility>

namespace forebay::daemon {

namespace {

// The time of the oldest deposit, or `now_ns` if there is none. At most 256 000 extents are looked
// at.
std::int64_t oldest_of(const pool::Directory& directory, const pool::FileSlot& file,
                       std::int64_t now_ns) {
    constexpr int looks_max = 1000;
    std::array<pool::Deposit, 256> found;
    std::int64_t oldest = now_ns;
    Offset at{0};
    for (int looks = 0; looks < looks_max; ++looks) {
        const Extent range{at, Length{std::numeric_limits<std::int64_t>::max() - at.bytes()}};
        const pool::DepositSearch search = pool::find(directory, file, range, found);
        for (std::size_t i = 0; i < search.found; ++i) {
            oldest = std::min(oldest, found.at(i).time_ns);
        }
        if (search.seen != pool::SearchResult::more) {
            break;
        }
        at = found.at(search.found - 1).extent.end();
    }
    return oldest;
}

void add_meter(const StorageMeter& meter, std::int64_t now_ns, FileTotals& to) {
    to.storage_ns += busy_ns(meter, now_ns);
    to.storage_bytes += meter.bytes;
    to.requests += meter.requests;
}

void add_counts(const FileTotals& totals, SampledCounts& to) {
    to.taken += totals.taken;
    to.stored += totals.storage_bytes;
    to.outstanding += totals.outstanding();
    to.waited_ns += totals.waited_ns;
}

// True for a reason that explains why a file was not pooled. `closing`, which every file has at the
// end, and reasons that can be undone must not hide one that comes later.
bool says_why(pool::ThroughReason reason) noexcept {
    return reason != pool::ThroughReason::none && reason != pool::ThroughReason::closing &&
           !pool::can_be_undone(reason);
}

pool::ThroughReason first_of(pool::ThroughReason before, pool::ThroughReason later) noexcept {
    return says_why(before) || later == pool::ThroughReason::none ? before : later;
}

// Adds the totals of a later time at which the same path was known.
void add_later(const FileTotals& later, FileTotals& totals) {
    const FileTotals before = std::exchange(totals, later);
    totals.reason = first_of(before.reason, later.reason);
    totals.error = later.error == 0 ? before.error : later.error;
    totals.waited_ns += before.waited_ns;
    totals.opening_ns += before.opening_ns;
    totals.syncing_ns += before.syncing_ns;
    totals.draining_ns += before.draining_ns;
    totals.syncs += before.syncs;
    totals.high = std::max(later.high, before.high);
    totals.taken += before.taken;
    totals.drained += before.drained;
    totals.storage_ns += before.storage_ns;
    totals.storage_bytes += before.storage_bytes;
    totals.requests += before.requests;
    totals.times += before.times;
}

}  // namespace

std::shared_ptr<StorageMeter> FileStatistics::meter_of(const ports::FileIdentity& identity) const {
    for (const auto& [slot, known] : known_) {
        if (known.identity == identity &&
            directory_.files[slot].generation.load(relaxed) == known.generation) {
            return known.meter;
        }
    }
    return std::make_shared<StorageMeter>();
}

void FileStatistics::opened(std::uint32_t slot, const ports::FileIdentity& identity,
                            std::shared_ptr<StorageMeter> meter) {
    expects(slot < pool::files_max, "a file that is open has a slot of the directory");
    expects(meter != nullptr, "each file has a meter");
    const pool::FileSlot& file = directory_.files[slot];
    Known& known = known_[slot];
    if (!known.meter || known.generation != file.generation.load(relaxed)) {
        const std::string_view path{file.path.data()};
        known = {.generation = file.generation.load(relaxed),
                 .identity = identity,
                 .meter = std::move(meter),
                 .totals = {.path = std::string{path}, .times = 1}};
    }
    update(slot, known);
}

void FileStatistics::update(std::uint32_t slot, Known& known) const {
    const pool::FileSlot& file = directory_.files[slot];
    FileTotals& totals = known.totals;
    totals.state = file.state.load(relaxed);
    totals.taken = std::max(totals.taken, file.taken.load(relaxed));
    totals.drained = std::max(totals.drained, file.drained.load(relaxed));
    totals.waited_ns = known.asked_ns + file.waited_ns.load(relaxed);
    totals.window = file.window.load(relaxed);
    totals.high = std::max(totals.high, file.high.load(relaxed));
    totals.extents = file.extents.load(relaxed);
    const pool::ThroughReason reason = file.reason.load(relaxed);
    const int error = file.error.load(relaxed);
    totals.reason = reason == pool::ThroughReason::none ? totals.reason : reason;
    totals.error = error == 0 ? totals.error : error;
}

void FileStatistics::waited(std::uint32_t slot, std::int64_t ns, WaitKind kind) {
    expects(ns >= 0, "the clock does not go back");
    waits_.add(kind, ns);
    const auto found = known_.find(slot);
    if (found == known_.end()) {
        return;
    }
    Known& known = found->second;
    known.asked_ns += ns;
    if (kind == WaitKind::open) {
        known.totals.opening_ns += ns;
    } else if (kind == WaitKind::sync) {
        known.totals.syncing_ns += ns;
        ++known.totals.syncs;
    } else {
        known.totals.draining_ns += ns;
    }
}

void FileStatistics::update() {
    for (auto at = known_.begin(); at != known_.end();) {
        auto& [slot, known] = *at;
        const pool::FileSlot& file = directory_.files[slot];
        const std::uint32_t generation = file.generation.load(relaxed);
        const bool is_free = file.state.load(relaxed) == pool::FileState::free;
        if (!is_free && generation == known.generation) {
            update(slot, known);
            ++at;
            continue;
        }
        if (is_free && generation == known.generation + 1) {
            update(slot, known);  // its last values stay in the slot until another file gets it
        }
        known.totals.state = pool::FileState::free;
        // A file is forgotten only when everything is drained.
        known.totals.drained = known.totals.taken;
        known.totals.extents = 0;
        add_meter(*known.meter, 0, known.totals);
        if (ended_.size() >= closed_files_max && !ended_.contains(known.totals.path)) {
            ++dropped_;
        } else {
            add_later(known.totals, ended_[known.totals.path]);
        }
        at = known_.erase(at);
    }
    ensures(ended_.size() <= closed_files_max, "so many closed files are kept at most");
}

std::vector<std::uint32_t> FileStatistics::slots() const {
    std::vector<std::uint32_t> slots;
    slots.reserve(known_.size());
    for (const auto& [slot, known] : known_) {
        slots.push_back(slot);
    }
    return slots;
}

std::vector<FileTotals> FileStatistics::all_totals(std::int64_t now_ns) const {
    std::map<std::string, FileTotals> by_path = ended_;
    for (const auto& [slot, known] : known_) {
        FileTotals totals = known.totals;
        totals.oldest_ns = now_ns - oldest_of(directory_, directory_.files[slot], now_ns);
        add_meter(*known.meter, now_ns, totals);
        totals.silent_ns = silent_ns(*known.meter, now_ns);
        add_later(totals, by_path[totals.path]);
    }
    std::vector<FileTotals> all;
    all.reserve(by_path.size());
    for (auto& [path, totals] : by_path) {
        all.push_back(std::move(totals));
    }
    return all;
}

SampledCounts FileStatistics::counts() const {
    SampledCounts counts;
    for (const auto& [path, totals] : ended_) {
        add_counts(totals, counts);
    }
    for (const auto& [slot, known] : known_) {
        add_counts(known.totals, counts);
        counts.stored += known.meter->bytes;
    }
    return counts;
}

}  // namespace forebay::daemon
