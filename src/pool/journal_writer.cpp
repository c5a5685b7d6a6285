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
      memory_{GroupMemory{group_bytes_on(device)}, GroupMemory{group_bytes_on(device)},
              GroupMemory{group_bytes_on(device)}},
      groups_{journal::GroupWriter{memory_[0].bytes()}, journal::GroupWriter{memory_[1].bytes()},
              journal::GroupWriter{memory_[2].bytes()}},
      group_first_{start.next_record},
      durable_{start.next_record} {
    segments_.hold(start.held);
    for (const std::uint32_t number : start.free) {
        segments_.add(number);
    }
}

// The device may still be reading the memory.
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
    expects(may_begin(), "so many groups may wait");
    if (!segments_.has_room(group().bytes(), 0)) {
        return false;
    }
    const journal::Place place = segments_.place(group().bytes(), group_first_);
    UnderWay next;
    next.end = next_record_;
    next.time_ns = sealed_ns_ = std::max(calendar_.now_ns(), sealed_ns_);
    next.oldest = place.oldest;
    const auto bytes = group().seal({.life = life_,
                                     .epoch = place.epoch,
                                     .oldest = place.oldest,
                                     .first = group_first_,
                                     .time_ns = next.time_ns});
    filling_ = (filling_ + 1) % groups;
    group_first_ = next_record_;
    under_way_.push_back(next);
    device_.begin_writing({place.segment, place.at, bytes});
    return true;
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

// That there is no room for another segment is no error: no more are made.
int JournalWriter::take_segment(int error) {
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
    const UnderWay over = under_way_.front();
    under_way_.pop_front();
    if (error == 0) {
        durable_ = over.end;
        lived_ns_ = over.time_ns;
        segments_.said(over.oldest);
    }
    return error;
}

std::optional<int> JournalWriter::ended() {
    const auto error = idle() ? std::nullopt : device_.ended();
    return error ? std::optional{take(*error)} : std::nullopt;
}

// What says that nothing is needed goes last.
bool JournalWriter::finish(bool nothing) {
    expects(idle(), "nothing is being written");
    if (growing()) {
        static_cast<void>(wait_until_grown());
    }
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
