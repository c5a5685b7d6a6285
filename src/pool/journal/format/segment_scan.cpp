// Finds the valid groups in all segments, orders them by number, and checks that none is missing:
// the newest group says which epoch is the oldest that is needed, and from there to the newest
// group, or to the one that the head names if that is later, each number must exist exactly once.
#include "pool/journal/format/segment_scan.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace forebay::pool::journal {

namespace {

struct PlacedGroup {
    std::uint32_t segment = 0;
    Group group;
};

const GroupHeader& header_of(const PlacedGroup& one) noexcept { return one.group.header; }

bool follows(const GroupHeader& next, const GroupHeader& before) noexcept {
    return next.before == before.sum && next.first == before.first + before.records &&
           next.epoch >= before.epoch;
}

class SegmentScanner {
public:
    SegmentScanner(std::span<const SegmentBytes> segments, std::span<const std::byte> head,
                   const Key& key)
        : segments_{segments}, head_{heads_of(head, key)} {
        for (const SegmentBytes& segment : segments) {
            SegmentGroups found = groups_of(segment.bytes, key);
            older_format_ = older_format_ || found.older_format;
            unknown_ = unknown_ || found.unknown;
            for (Group& group : found.groups) {
                all_.push_back({segment.number, std::move(group)});
            }
        }
        std::ranges::sort(all_, {}, [](const PlacedGroup& one) {
            return std::pair{header_of(one).number, one.segment};
        });
    }

    [[nodiscard]] SegmentScan chain() {
        scan_.head_damaged = head_.damaged;
        note_what_was_used_before();
        number_on();
        if (head_.newest) {
            std::erase_if(all_, [&](const PlacedGroup& one) {
                return header_of(one).number <= head_.newest->unneeded;
            });
        }
        scan_.damage = damage();
        if (scan_.damage == DamageKind::none) {
            look_behind();
            take();
        }
        return std::move(scan_);
    }

private:
    // Finds the first numbers of records, epochs and groups that were never used.
    void number_on() {
        for (const PlacedGroup& one : all_) {
            const GroupHeader& header = header_of(one);
            scan_.next_record = std::max(scan_.next_record, header.first + header.records);
            scan_.next_epoch = std::max(scan_.next_epoch, header.epoch + 1);
            scan_.next_group = header.number + 1;
            scan_.last = header.sum;
        }
        if (head_.newest) {
            const JournalHead& head = *head_.newest;
            scan_.next_record = std::max(scan_.next_record, head.record);
            scan_.next_epoch = std::max(scan_.next_epoch, head.epoch + 1);
            scan_.heads = head.count;
            scan_.unneeded = head.unneeded;
            if (head.group >= scan_.next_group) {
                scan_.next_group = head.group + 1;
                scan_.last = head.last;
            }
        }
    }

    // Checks what the head says first, then the groups that are needed.
    [[nodiscard]] DamageKind damage() {
        if (older_format_) {
            return DamageKind::older_format;
        }
        if (!head_.newest) {
            return all_.empty() && !unknown_ ? DamageKind::none : DamageKind::head;
        }
        const JournalHead& head = *head_.newest;
        const bool behind =
            all_.empty() ? head.group > head.unneeded : header_of(all_.back()).number < head.group;
        if (behind || !newest_segment_is_there()) {
            return DamageKind::lost;
        }
        return all_.empty() ? DamageKind::none : damage_of_needed();
    }

    // True when the segment exists that the head says may have been begun last.
    [[nodiscard]] bool newest_segment_is_there() const {
        const JournalHead& head = *head_.newest;
        if (!all_.empty() && header_of(all_.back()).epoch >= head.epoch) {
            return true;
        }
        return head.segment == JournalHead::no_segment ||
               std::ranges::any_of(segments_, [&](const SegmentBytes& one) {
                   return one.number == head.segment && one.is_whole;
               });
    }

    // True when a segment with groups is shorter than it should be. Segments get their full length
    // before they are used.
    [[nodiscard]] bool is_cut_off() const {
        return std::ranges::any_of(segments_, [&](const SegmentBytes& one) {
            return !one.is_whole && std::ranges::any_of(all_, [&](const PlacedGroup& group) {
                return group.segment == one.number;
            });
        });
    }

    [[nodiscard]] DamageKind damage_of_needed() {
        const std::uint64_t oldest = header_of(all_.back()).oldest;
        std::erase_if(all_, [&](const PlacedGroup& one) { return header_of(one).epoch < oldest; });
        const GroupHeader& first = header_of(all_.front());
        if (first.epoch != oldest || first.at != 0 || is_cut_off()) {
            return DamageKind::lost;
        }
        const JournalHead& head = *head_.newest;
        for (std::size_t i = 0; i < all_.size(); ++i) {
            const GroupHeader& now = header_of(all_[i]);
            if (now.number == head.group && now.sum != head.last) {
                return DamageKind::mixed;
            }
            if (i == 0) {
                continue;
            }
            const GroupHeader& before = header_of(all_[i - 1]);
            if (now.number == before.number) {
                return now.sum == before.sum ? DamageKind::twice : DamageKind::mixed;
            }
            if (now.number != before.number + 1) {
                return DamageKind::lost;
            }
            if (!follows(now, before)) {
                return DamageKind::mixed;
            }
        }
        return DamageKind::none;
    }

    // Looks for remains of a group where the next one would have been written: after the newest
    // group, or in the segment that was begun last.
    void look_behind() {
        GroupHeader next{.number = scan_.next_group, .before = scan_.last};
        std::uint64_t segment = 0;
        if (!all_.empty()) {
            const GroupHeader& newest = header_of(all_.back());
            next.epoch = newest.epoch;
            next.at = newest.at + newest.bytes;
            segment = all_.back().segment;
        }
        if (head_.newest && head_.newest->epoch > next.epoch) {
            next.epoch = head_.newest->epoch;
            next.at = 0;
            segment = head_.newest->segment;
        }
        scan_.unfinished =
            next.epoch != 0 && std::ranges::any_of(segments_, [&](const SegmentBytes& one) {
                return one.number == segment && next.at < one.bytes.size() &&
                       (looks_like(one.bytes.subspan(next.at), next) ||
                        (!used_before_.contains(segment) &&
                         has_anything(one.bytes.subspan(next.at))));
            });
    }

    // New segments are all zeros. So in a segment that is used for the first time, anything other
    // than zeros after the newest group is the rest of a group, even if its header is lost.
    [[nodiscard]] static bool has_anything(std::span<const std::byte> bytes) {
        return std::ranges::any_of(bytes, [](std::byte one) { return one != std::byte{0}; });
    }

    // Finds the segments that have groups of more than one epoch, and thus remains of earlier
    // groups.
    void note_what_was_used_before() {
        std::map<std::uint64_t, std::uint64_t> epochs;
        for (const PlacedGroup& one : all_) {
            const auto [first, fresh] = epochs.try_emplace(one.segment, header_of(one).epoch);
            if (first->second != header_of(one).epoch) {
                used_before_.insert(one.segment);
            }
        }
    }

    void take() {
        for (PlacedGroup& one : all_) {
            if (std::ranges::find(scan_.segments, one.segment) == scan_.segments.end()) {
                scan_.segments.push_back(one.segment);
            }
            scan_.groups.push_back(std::move(one.group));
        }
    }

    std::span<const SegmentBytes> segments_;
    JournalHeads head_;
    std::vector<PlacedGroup> all_;  // ordered by number
    bool older_format_ = false;
    bool unknown_ = false;
    std::set<std::uint64_t> used_before_;
    SegmentScan scan_;
};

}  // namespace

SegmentScan scan_segments(std::span<const SegmentBytes> segments, std::span<const std::byte> head,
                          const Key& key) {
    return SegmentScanner{segments, head, key}.chain();
}

}  // namespace forebay::pool::journal
