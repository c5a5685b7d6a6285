// Arbitrary bytes instead of a journal, arbitrary records in a valid journal, and a valid journal
// that is damaged: everything that is read stays within its bounds, and nothing is left out
// silently.
#include "foundation/base/must_check.hpp"
#include "pool/journal/format/replay_plan.hpp"
#include "pool/journal/format/segment_scan.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

using namespace forebay;
using namespace forebay::pool::journal;

namespace {

constexpr Key key{std::byte{9}};

void check_scan(const SegmentScan& chain, std::span<const std::byte> bytes) {
    for (const Group& group : chain.groups) {
        must(group.header.bytes <= bytes.size(), "a group is within its segment");
        must(group.header.first + group.header.records <= chain.next_record, "numbers are below");
        must(group.header.epoch < chain.next_epoch, "epochs are below");
        must(group.header.number < chain.next_group, "groups are below");
    }
    for (const ReplayPlan& replay_plan : replay_plans_of(chain.groups)) {
        std::int64_t end = 0;
        for (const JournalRun& run : replay_plan.runs) {
            must(run.at.bytes() >= end && !run.bytes.empty(), "runs ascend and do not overlap");
            must(run.bytes.data() >= bytes.data() &&
                     run.bytes.data() + run.bytes.size() <= bytes.data() + bytes.size(),
                 "they lie in the journal");
            end = run.at.bytes() + static_cast<std::int64_t>(run.bytes.size());
        }
        must(!replay_plan.empty(), "something is left of it");
        must(replay_plan.length_min.bytes() >= end, "the file is as long as what is written");
        must(!replay_plan.cut || replay_plan.cut->bytes() >= 0, "a length is one");
        must(replay_plan.path.size() <= path_bytes_max, "the path is within its bound");
    }
}

void check_scan(std::span<const std::byte> bytes, std::span<const std::byte> head) {
    const std::size_t half = bytes.size() / 2 / group_unit * group_unit;
    const std::vector<SegmentBytes> segments{{0, bytes.first(half)}, {1, bytes.subspan(half)}};
    check_scan(scan_segments(segments, head, key), bytes);
}

// A valid journal of three segments, in which the input changes bytes, and copies and removes
// pages. The rest is either refused, or a beginning of the journal that the head says is complete.
constexpr std::size_t pages = 4;
constexpr std::size_t segment_bytes = pages * group_unit;
constexpr std::size_t groups_in_all = 3 * pages;

void look_at_damage(std::span<const std::byte> bytes) {
    std::vector<std::byte> whole(3 * segment_bytes + 2 * head_unit);
    GroupHeader last;
    for (std::size_t i = 0; i < groups_in_all; ++i) {
        std::vector<std::byte> memory(group_unit);
        GroupWriter writer{memory};
        static_cast<void>(writer.add(
            {.kind = RecordKind::cut, .file = 1, .number = static_cast<std::int64_t>(i)}));
        GroupHeader next{.number = i + 1,
                         .before = last.sum,
                         .life = 1,
                         .epoch = 1 + i / pages,
                         .at = i % pages * group_unit,
                         .oldest = 1,
                         .first = i + 1};
        std::ranges::copy(writer.seal(next, key),
                          whole.begin() + static_cast<std::ptrdiff_t>(i * group_unit));
        last = next;
    }
    const auto heads = std::span{whole}.subspan(3 * segment_bytes);
    const JournalHead head{.group = groups_in_all,
                           .last = last.sum,
                           .record = groups_in_all + 1,
                           .epoch = 3,
                           .segment = 2};
    for (std::uint64_t count : {1U, 2U}) {
        JournalHead one = head;
        one.count = count;
        seal_head(one, key, heads.subspan(place_of(one), head_unit));
    }
    bool changed = false;
    for (; bytes.size() >= 4; bytes = bytes.subspan(4)) {
        std::uint32_t what = 0;
        std::memcpy(&what, bytes.data(), sizeof what);
        const std::size_t units = whole.size() / group_unit;
        const auto from = std::span{whole}.subspan((what >> 2U) % units * group_unit, group_unit);
        const auto to = std::span{whole}.subspan((what >> 8U) % units * group_unit, group_unit);
        if (what % 4 == 0) {
            std::ranges::copy(std::vector<std::byte>{from.begin(), from.end()}, to.begin());
        } else if (what % 4 == 1) {
            std::ranges::fill(to, std::byte{0});
        } else {
            to[(what >> 16U) % sizeof(GroupHeader)] ^= static_cast<std::byte>(1U << (what >> 29U));
        }
        changed = true;
    }
    std::vector<SegmentBytes> segments;
    for (std::uint32_t i = 0; i < 3; ++i) {
        segments.push_back({i, std::span{whole}.subspan(i * segment_bytes, segment_bytes)});
    }
    const SegmentScan chain = scan_segments(segments, heads, key);
    check_scan(chain, whole);
    must(chain.damage != DamageKind::none || chain.groups.size() == groups_in_all ||
             (chain.groups.empty() && changed),
         "all of it, or it is refused");
    if (chain.damage == DamageKind::none && chain.groups.empty()) {
        // Nothing shows that there ever was a journal: no head, and no group.
        must(std::ranges::all_of(heads, [](std::byte one) { return one == std::byte{0}; }) ||
                 chain.head_damaged,
             "an empty journal has no head");
    }
}

// Each 16 bytes of the input make a record.
void look_at_records(std::span<const std::byte> bytes) {
    std::vector<std::byte> memory(std::size_t{1} << 18);
    GroupWriter writer{memory};
    const std::vector<std::byte> payload(256, std::byte{1});
    while (bytes.size() >= 16) {
        RecordHeader record;
        std::uint32_t what = 0;
        std::memcpy(&what, bytes.data(), sizeof what);
        std::memcpy(&record.number, bytes.data() + 8, sizeof record.number);
        record.kind = static_cast<RecordKind>(1 + what % 6);
        record.file = record.kind == RecordKind::life ? 0 : 1 + (what >> 8U) % 3;
        record.length = record.kind == RecordKind::deposit ? 1 + (what >> 16U) % 200 : 0;
        record.length = record.kind == RecordKind::file ? sizeof(JournalFileFacts) : record.length;
        record.number &= std::numeric_limits<std::int64_t>::max() >> (what >> 28U) * 3U;
        if (!writer.fits(record.length)) {
            break;
        }
        writer.add(record, std::span{payload}.first(record.length));
        bytes = bytes.subspan(16);
    }
    GroupHeader header{.number = 1, .epoch = 1, .oldest = 1, .first = 1};
    std::vector<std::byte> segment(memory.size());
    const auto sealed = writer.seal(header, key);
    std::ranges::copy(sealed, segment.begin() + static_cast<std::ptrdiff_t>(segment.size() / 2));
    std::vector<std::byte> heads(2 * head_unit);
    const JournalHead head{.epoch = 1, .segment = 1};
    seal_head(head, key, std::span{heads}.first(head_unit));
    check_scan(segment, heads);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::span bytes{reinterpret_cast<const std::byte*>(data), size};
    check_scan(bytes, bytes.first(std::min(bytes.size(), 2 * head_unit)));
    look_at_records(bytes);
    look_at_damage(bytes);
    return 0;
}
