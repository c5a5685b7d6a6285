// Numbers groups, chooses their places, hands them to the device, and accounts for those that have
// become durable. The device's own threads do the waiting.
#include "pool/journal/journal_writer.hpp"

#include "foundation/base/contracts.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>

namespace forebay::pool {

namespace {

constexpr std::size_t alignment = ports::JournalDevice::alignment;
// Memory for as many heads as can be in flight, so that none is overwritten while the device reads
// it.
constexpr std::size_t heads_bytes = ports::JournalDevice::writes_max * journal::head_unit;
static_assert(ports::JournalDevice::writes_max > 2 * JournalWriter::groups_under_way_max,
              "a head may go before each group, and one by itself");

std::size_t group_bytes_on(const ports::JournalDevice& device) {
    return std::min(JournalWriter::group_bytes, static_cast<std::size_t>(device.segment_bytes()));
}

}  // namespace

GroupMemory::GroupMemory(std::size_t bytes) : memory_(bytes + alignment), bytes_{bytes} {}

std::span<std::byte> GroupMemory::bytes() noexcept {
    const auto address = reinterpret_cast<std::uintptr_t>(memory_.data());
    return std::span{memory_}.subspan(journal::padded(address, alignment) - address, bytes_);
}

JournalWriter::JournalWriter(ports::JournalDevice& device, const ports::TimeSource& calendar,
                             const JournalStart& start)
    : device_{device},
      calendar_{calendar},
      life_{start.life},
      next_record_{start.next_record},
      next_segment_{start.next_segment},
      segments_max_{start.segments_max},
      segments_{device.segment_bytes(), start.next_epoch},
      memory_{GroupMemory{group_bytes_on(device)}, GroupMemory{group_bytes_on(device)},
              GroupMemory{group_bytes_on(device)}},
      groups_{journal::GroupWriter{memory_[0].bytes()}, journal::GroupWriter{memory_[1].bytes()},
              journal::GroupWriter{memory_[2].bytes()}},
      group_first_{start.next_record},
      next_group_{start.next_group},
      last_{start.last},
      durable_group_{start.next_group - 1},
      durable_sum_{start.last},
      heads_memory_{heads_bytes},
      head_{.count = start.heads,
            .group = durable_group_,
            .last = durable_sum_,
            .record = start.next_record,
            .unneeded = start.unneeded},
      durable_{start.next_record} {
    expects(start.next_record > 0 && start.next_group > 0 && start.next_epoch > 0,
            "records, groups and epochs are numbered from 1 on");
    segments_.hold(start.held);
    for (const std::uint32_t number : start.free) {
        segments_.add(number);
    }
}

// Waits for writes in flight, since the device reads this object's memory.
JournalWriter::~JournalWriter() {
    for (std::size_t left = under_way_.size(); left > 0; --left) {
        static_cast<void>(device_.wait());
    }
    if (adds_) {
        static_cast<void>(device_.wait_until_added());
    }
}

bool JournalWriter::fits(std::size_t payload) const noexcept { return group().fits(payload); }

bool JournalWriter::has_room(std::size_t payload) const noexcept {
    const std::size_t bytes =
        journal::padded(group().bytes() + journal::record_bytes(payload), journal::group_unit);
    return segments_.has_room(bytes, journal::SegmentAllocator::reserve);
}

JournalWriter::Added JournalWriter::add(journal::RecordHeader record) {
    const std::uint64_t at = next_record_++;
    if (record.kind == journal::RecordKind::file && record.file == 0) {
        record.file = at;
    }
    return {at, group().add(record)};
}

bool JournalWriter::begin() {
    expects(may_begin(), "so many groups may wait");
    if (!segments_.has_room(group().bytes(), 0)) {
        return false;
    }
    const journal::GroupPlace place = segments_.place(group().bytes(), group_first_);
    if (place.epoch != head_.epoch) {
        head_.epoch = place.epoch;
        head_.segment = place.segment;
        first_of_epoch_ = next_group_;
        begin_head();
    }
    UnderWay next;
    next.end = next_record_;
    next.time_ns = sealed_ns_ = std::max(calendar_.now_ns(), sealed_ns_);
    next.oldest = place.oldest;
    next.number = next_group_++;
    journal::GroupHeader header{.number = next.number,
                                .before = last_,
                                .life = life_,
                                .epoch = place.epoch,
                                .at = static_cast<std::uint64_t>(place.at),
                                .oldest = place.oldest,
                                .first = group_first_,
                                .time_ns = next.time_ns};
    const auto bytes = group().seal(header, device_.key());
    invariant(place.at + std::ssize(bytes) <= device_.segment_bytes(),
              "a group lies in its segment");
    invariant(header.first + header.records == next_record_, "each record is in one group");
    next.sum = last_ = header.sum;
    filling_ = (filling_ + 1) % groups;
    group_first_ = next_record_;
    ++groups_under_way_;
    under_way_.push_back(next);
    device_.begin_writing({place.segment, place.at, bytes});
    return true;
}

void JournalWriter::begin_head() {
    expects(under_way_.size() < ports::JournalDevice::writes_max,
            "no head is filled in while it is written");
    ++head_.count;
    head_.group = durable_group_;
    head_.last = durable_sum_;
    head_.record = durable_;
    const std::size_t turn = head_.count % ports::JournalDevice::writes_max;
    const auto memory =
        heads_memory_.bytes().subspan(turn * journal::head_unit, journal::head_unit);
    journal::seal_head(head_, device_.key(), memory);
    under_way_.push_back({.is_head = true, .number = head_.group});
    device_.begin_writing(
        {ports::JournalDevice::head, static_cast<std::int64_t>(journal::place_of(head_)), memory});
}

void JournalWriter::tend_head(bool quiet) {
    const bool first = head_.group < first_of_epoch_ && first_of_epoch_ <= durable_group_;
    const bool is_told = head_.group >= durable_group_;
    if (is_told || !(quiet || first) || under_way_.size() > groups_under_way_) {
        return;
    }
    begin_head();
}

bool JournalWriter::wants_to_grow() const noexcept {
    return !growing() && segments_.count() < segments_max_ && !segments_.lets_go() &&
           segments_.runs_out();
}

bool JournalWriter::grow() {
    expects(!growing(), "one segment is made at a time");
    if (segments_.count() >= segments_max_) {
        return false;
    }
    adds_ = next_segment_++;
    device_.begin_adding(*adds_);
    return true;
}

// A lack of room for another segment is not an error: the journal just does not grow any more.
int JournalWriter::take_segment(int error) {
    expects(growing(), "a segment was being made");
    const std::uint32_t made = *adds_;
    adds_.reset();
    if (error == 0) {
        segments_.add(made);
    } else {
        segments_max_ = segments_.count();
    }
    return error == ENOSPC || error == EDQUOT || error == EFBIG ? 0 : error;
}

std::optional<int> JournalWriter::grown() {
    const auto error = adds_ ? device_.added() : std::nullopt;
    return error ? std::optional{take_segment(*error)} : std::nullopt;
}

int JournalWriter::wait_until_grown() {
    expects(growing(), "a segment is being made");
    return take_segment(device_.wait_until_added());
}

int JournalWriter::take(int error) {
    expects(!under_way_.empty(), "what has ended was begun");
    const UnderWay over = under_way_.front();
    under_way_.pop_front();
    if (over.is_head) {
        head_error_ = head_error_ == 0 ? error : head_error_;
        proven_group_ = error == 0 ? std::max(proven_group_, over.number) : proven_group_;
        return error;
    }
    invariant(groups_under_way_ > 0, "a group that has ended was under way");
    --groups_under_way_;
    if (error == 0) {
        invariant(over.number > durable_group_ && over.end >= durable_,
                  "groups become durable in their order");
        durable_ = over.end;
        durable_group_ = over.number;
        durable_sum_ = over.sum;
        lived_ns_ = over.time_ns;
        segments_.said(over.oldest);
    }
    return error == ECANCELED && head_error_ != 0 ? head_error_ : error;
}

std::optional<int> JournalWriter::ended() {
    while (!idle()) {
        const auto error = device_.ended();
        if (!error) {
            return std::nullopt;
        }
        const bool is_head = under_way_.front().is_head;
        const int told = take(*error);
        if (!is_head) {
            return told;
        }
    }
    return std::nullopt;
}

// If the head says that nothing is needed, a replay does not miss segments that are gone. The head
// has a place even when the journal is too full for another group.
bool JournalWriter::say_that_nothing_is_needed() {
    durable_group_ = next_group_ - 1;
    durable_sum_ = last_;
    durable_ = next_record_;
    head_.segment = journal::JournalHead::no_segment;
    head_.unneeded = durable_group_;
    // Written to both places: if one is damaged, the other still says so.
    return say_what_is_durable() && say_what_is_durable();
}

bool JournalWriter::say_what_is_durable() {
    begin_head();
    return wait() == 0;
}

bool JournalWriter::finish(bool nothing) {
    expects(idle(), "nothing is being written");
    if (growing()) {
        static_cast<void>(wait_until_grown());
    }
    if (!nothing) {
        const bool said = begin() && wait() == 0;
        static_cast<void>(said && say_what_is_durable());
        return false;
    }
    if (!say_that_nothing_is_needed()) {
        return false;
    }
    bool removed = true;
    for (const std::uint32_t number : segments_.idle()) {
        removed = device_.remove(number) == 0 && removed;
    }
    for (const std::uint32_t number : segments_.used()) {
        removed = removed && device_.remove(number) == 0;
    }
    return removed;
}

// Waits for all writes in flight, and returns the first error.
int JournalWriter::wait() {
    int first = 0;
    while (!idle()) {
        const int error = take(device_.wait());
        first = first == 0 ? error : first;
    }
    return first;
}

}  // namespace forebay::pool
