// See history.hpp.
#include "pool/daemon/status/file_statistics.hpp"

#include "foundation/base/atomics.hpp"
#include "pool/protocol/search.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>
#include <utility>

namespace forebay::server {

namespace {

// The oldest deposit's time, or now. A file with very many extents is looked at in part.
std::int64_t oldest_of(const pool::Directory& directory, const pool::FileSlot& file,
                       std::int64_t now_ns) {
    constexpr int looks_max = 1000;
    std::array<pool::Deposit, 256> found;
    std::int64_t oldest = now_ns;
    Offset at{0};
    for (int looks = 0; looks < looks_max; ++looks) {
        const Extent range{at, Length{std::numeric_limits<std::int64_t>::max() - at.bytes()}};
        const pool::Search search = pool::find(directory, file, range, found);
        for (std::size_t i = 0; i < search.found; ++i) {
            oldest = std::min(oldest, found.at(i).time_ns);
        }
        if (search.seen != pool::Seen::more) {
            break;
        }
        at = found.at(search.found - 1).extent.end();
    }
    return oldest;
}

void add_meter(const Meter& meter, std::int64_t now_ns, FileStory& to) {
    to.storage_ns += busy_ns(meter, now_ns);
    to.storage_bytes += meter.bytes;
    to.requests += meter.requests;
}

// What is true of every file at the end, and what can be undone, hides no reason that came later.
bool says_why(pool::Reason reason) noexcept {
    return reason != pool::Reason::none && reason != pool::Reason::closing &&
           !pool::can_be_undone(reason);
}

pool::Reason first_of(pool::Reason before, pool::Reason later) noexcept {
    return says_why(before) || later == pool::Reason::none ? before : later;
}

// `later` came after all that `story` tells.
void add_story(const FileStory& later, FileStory& story) {
    const FileStory before = std::exchange(story, later);
    story.reason = first_of(before.reason, later.reason);
    story.error = later.error == 0 ? before.error : later.error;
    story.waited_ns += before.waited_ns;
    story.high = std::max(later.high, before.high);
    story.taken += before.taken;
    story.drained += before.drained;
    story.storage_ns += before.storage_ns;
    story.storage_bytes += before.storage_bytes;
    story.requests += before.requests;
    story.times += before.times;
}

}  // namespace

std::shared_ptr<Meter> History::meter_of(const ports::Identity& identity) const {
    for (const auto& [slot, known] : known_) {
        if (known.identity == identity &&
            directory_.files[slot].generation.load(relaxed) == known.generation) {
            return known.meter;
        }
    }
    return std::make_shared<Meter>();
}

void History::opened(std::uint32_t slot, const ports::Identity& identity,
                     std::shared_ptr<Meter> meter) {
    const pool::FileSlot& file = directory_.files[slot];
    Known& known = known_[slot];
    if (!known.meter || known.generation != file.generation.load(relaxed)) {
        const std::string_view path{file.path.data()};
        known = {.generation = file.generation.load(relaxed),
                 .identity = identity,
                 .meter = std::move(meter),
                 .story = {.path = std::string{path}, .times = 1}};
    }
    look(slot, known);
}

void History::look(std::uint32_t slot, Known& known) const {
    const pool::FileSlot& file = directory_.files[slot];
    FileStory& story = known.story;
    story.state = file.state.load(relaxed);
    story.taken = std::max(story.taken, file.taken.load(relaxed));
    story.drained = std::max(story.drained, file.drained.load(relaxed));
    story.waited_ns = known.asked_ns + file.waited_ns.load(relaxed);
    story.window = file.window.load(relaxed);
    story.high = std::max(story.high, file.high.load(relaxed));
    story.extents = file.extents.load(relaxed);
    const pool::Reason reason = file.reason.load(relaxed);
    const int error = file.error.load(relaxed);
    story.reason = reason == pool::Reason::none ? story.reason : reason;
    story.error = error == 0 ? story.error : error;
}

void History::waited(std::uint32_t slot, std::int64_t ns) {
    const auto found = known_.find(slot);
    if (found != known_.end()) {
        found->second.asked_ns += ns;
    }
}

void History::look() {
    for (auto at = known_.begin(); at != known_.end();) {
        auto& [slot, known] = *at;
        const pool::FileSlot& file = directory_.files[slot];
        const std::uint32_t generation = file.generation.load(relaxed);
        const bool is_free = file.state.load(relaxed) == pool::FileState::free;
        if (!is_free && generation == known.generation) {
            look(slot, known);
            ++at;
            continue;
        }
        if (is_free && generation == known.generation + 1) {
            look(slot, known);  // what is told of it stays until another file has the slot
        }
        known.story.state = pool::FileState::free;
        known.story.drained = known.story.taken;  // only then is a file forgotten
        known.story.extents = 0;
        add_meter(*known.meter, 0, known.story);
        if (ended_.size() >= stories_max && !ended_.contains(known.story.path)) {
            ++dropped_;
        } else {
            add_story(known.story, ended_[known.story.path]);
        }
        at = known_.erase(at);
    }
}

std::vector<std::uint32_t> History::slots() const {
    std::vector<std::uint32_t> slots;
    slots.reserve(known_.size());
    for (const auto& [slot, known] : known_) {
        slots.push_back(slot);
    }
    return slots;
}

std::vector<FileStory> History::stories(std::int64_t now_ns) const {
    std::map<std::string, FileStory> all = ended_;
    for (const auto& [slot, known] : known_) {
        FileStory story = known.story;
        story.oldest_ns = now_ns - oldest_of(directory_, directory_.files[slot], now_ns);
        add_meter(*known.meter, now_ns, story);
        story.silent_ns = silent_ns(*known.meter, now_ns);
        add_story(story, all[story.path]);
    }
    std::vector<FileStory> stories;
    stories.reserve(all.size());
    for (auto& [path, story] : all) {
        stories.push_back(std::move(story));
    }
    return stories;
}

}  // namespace forebay::server
