#include "pool/journal_writer.hpp"

#include "base/contracts.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>

namespace forebay::pool {

namespace {

constexpr std::size_t alignment = ports::JournalDevice::alignment;

std::size_t group_bytes_on(const ports::JournalDevice& device) {
    return std::min(JournalWriter::group_bytes, static_cast<std::size_t>(device.segment_bytes()));
}

}  // namespace

GroupMemory::GroupMemory(std::size_t bytes) : memory_(bytes + alignment), bytes_{bytes} {}

std::span<std::byte> GroupMemory::bytes() noexcept {
    const auto address = reinterpret_cast<std::uintptr_t>(memory_.data());
    return std::span{memory_}.subspan(journal::padded(address, alignment) - address, bytes_);
}

JournalWriter::JournalWriter(ports::JournalDevice& device, const ports::Clock& calendar,
                             const JournalStart& start)
    : device_{device},
      calendar_{calendar},
      life_{start.life},
      next_record_{start.next_record},
      next_segment_{start.next_segment},
      segments_max_{start.segments_max},
      segments_{device.segment_bytes(), start.next_epoch},
      memory_{GroupMemory{group_bytes_on(device)}, GroupMemory{group_bytes_on(device)}},
      groups_{journal::GroupWriter{memory_[0].bytes()}, journal::GroupWriter{memory_[1].bytes()}},
      group_first_{start.next_record},
      durable_{start.next_record} {
    segments_.hold(start.held);
    for (const std::uint32_t number : start.free) {
        segments_.add(number);
    }
}

// The device may still be reading the memory.
JournalWriter::~JournalWriter() {
    if (under_way_) {
        static_cast<void>(device_.wait());
    }
}

bool JournalWriter::fits(std::size_t payload) const noexcept { return group().fits(payload); }

bool JournalWriter::has_room(std::size_t payload) const noexcept {
    const std::size_t bytes =
        journal::padded(group().bytes() + journal::record_bytes(payload), journal::group_unit);
    return segments_.has_room(bytes, journal::Segments::reserve);
}

JournalWriter::Added JournalWriter::add(journal::RecordHeader record) {
    const std::uint64_t at = next_record_++;
    if (record.kind == journal::Kind::file && record.file == 0) {
        record.file = at;
    }
    return {at, group().add(record)};
}

bool JournalWriter::begin() {
    expects(idle(), "one group is written at a time");
    if (!segments_.has_room(group().bytes(), 0)) {
        return false;
    }
    const journal::Place place = segments_.place(group().bytes(), group_first_);
    UnderWay next;
    next.end = next_record_;
    next.time_ns = std::max(calendar_.now_ns(), lived_ns_);
    next.oldest = place.oldest;
    const auto bytes = group().seal({.life = life_,
                                     .epoch = place.epoch,
                                     .oldest = place.oldest,
                                     .first = group_first_,
                                     .time_ns = next.time_ns});
    filling_ = 1 - filling_;
    group_first_ = next_record_;
    under_way_ = next;
    device_.begin_writing({place.segment, place.at, bytes});
    return true;
}

bool JournalWriter::grow() {
    expects(idle(), "one thing is done at a time");
    if (segments_.count() >= segments_max_) {
        return false;
    }
    under_way_ = UnderWay{};
    under_way_->adds = next_segment_++;
    device_.begin_adding(*under_way_->adds);
    return true;
}

// That there is no room for another segment is no error: no more are made.
int JournalWriter::take(int error) {
    const UnderWay over = *under_way_;
    under_way_.reset();
    if (over.adds) {
        if (error == 0) {
            segments_.add(*over.adds);
        } else {
            segments_max_ = segments_.count();
        }
        return error == ENOSPC || error == EDQUOT || error == EFBIG ? 0 : error;
    }
    if (error == 0) {
        durable_ = over.end;
        lived_ns_ = over.time_ns;
        segments_.said(over.oldest);
    }
    return error;
}

std::optional<int> JournalWriter::ended() {
    const auto error = under_way_ ? device_.ended() : std::nullopt;
    return error ? std::optional{take(*error)} : std::nullopt;
}

// What says that nothing is needed goes last.
bool JournalWriter::finish(bool nothing) {
    expects(idle(), "nothing is being written");
    if (nothing) {
        segments_.hold(0);
        segments_.need(next_record_);
    }
    const bool said = begin() && wait() == 0;
    if (!nothing || !said) {
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

int JournalWriter::wait() {
    expects(!idle(), "something is under way");
    return take(device_.wait());
}

}  // namespace forebay::pool
