// An oracle for the bytes of a file under concurrent writes: for each byte the set of values that
// it may have, which is one value except where writes overlapped in time. A write counts when it is
// acknowledged.
#pragma once

#include "foundation/base/units.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <gtest/gtest.h>
#include <list>
#include <span>
#include <string>
#include <vector>

namespace forebay::pool {

class Oracle {
    struct Cell {
        std::array<unsigned char, 4> values{};  // values that it may have
        bool any = false;                       // any value: there are more than fit
    };

public:
    // `most`: maximum length of the file.
    explicit Oracle(std::int64_t most) : cells_(static_cast<std::size_t>(most)) {}

    // An operation that changes bytes, from its call to its return.
    struct Change {
        Extent range;
        unsigned id = 0;          // 0: zeros
        std::int64_t number = 0;  // numbers changes and reads in the order of their calls
        std::vector<Extent> met;  // ranges of changes that ended while it was in flight
        std::vector<unsigned> met_ids;
    };
    struct Read {
        Extent range;
        std::vector<Extent> met;
        std::vector<unsigned> met_ids;
        std::vector<Cell> before;
        bool changes = false;  // a change was in flight during the read
        std::int64_t size = 0;
        bool sized = false;
    };
    using Handle = std::list<Change>::iterator;
    using ReadHandle = std::list<Read>::iterator;

    [[nodiscard]] Handle begin_write(const Extent& range, unsigned id) {
        note_changes();
        changes_.push_back({range, id, ++calls_, {}, {}});
        return std::prev(changes_.end());
    }
    // The first `taken` bytes are acknowledged, the others are never written.
    void end_write(Handle change, Length taken) {
        change->range.length = taken;
        apply(*change);
        size_ = std::max(size_, taken.bytes() > 0 ? change->range.end().bytes() : 0);
        sized_ = sized_ && !cuts();
        forget(change);
    }
    [[nodiscard]] Handle begin_cut(Length bytes) {
        note_changes();
        const Offset at{bytes.bytes()};
        const Offset end{static_cast<std::int64_t>(cells_.size())};
        changes_.push_back({{at, end - at}, 0, ++calls_, {}, {}});
        return std::prev(changes_.end());
    }
    void end_cut(Handle change) {
        // A concurrent write may have made the file longer, before or after this.
        sized_ = changes_.size() == 1 && change->met.empty();
        size_ = change->range.begin.bytes();
        apply(*change);
        forget(change);
    }
    [[nodiscard]] ReadHandle begin_read(const Extent& range) {
        Read read;
        read.range = range;
        read.changes = !changes_.empty();
        read.size = size_;
        read.sized = sized_;
        read.before.reserve(range.length.size());
        for (std::size_t i = 0; i < range.length.size(); ++i) {
            read.before.push_back(cells_[static_cast<std::size_t>(range.begin.bytes()) + i]);
        }
        reads_.push_back(std::move(read));
        return std::prev(reads_.end());
    }
    // Returns "" if the read saw allowed values.
    [[nodiscard]] std::string end_read(ReadHandle read, std::int64_t got,
                                       std::span<const std::byte> bytes) {
        const std::string wrong = judge(*read, got, bytes);
        reads_.erase(read);
        return wrong;
    }
    // Called at the end, when nothing is in flight.
    [[nodiscard]] std::string judge(std::span<const std::byte> all) {
        const Extent whole{Offset{0}, Length{static_cast<std::int64_t>(cells_.size())}};
        std::vector<std::byte> bytes(all.begin(), all.end());
        const auto got = static_cast<std::int64_t>(bytes.size());
        bytes.resize(cells_.size());
        return end_read(begin_read(whole), got, bytes);
    }
    [[nodiscard]] bool quiet() const noexcept { return changes_.empty() && reads_.empty(); }

    // The byte that change `id` writes at offset `at`.
    [[nodiscard]] static unsigned char value(unsigned id, std::int64_t at) noexcept {
        const auto place = static_cast<unsigned>(at);
        return id == 0 ? 0
                       : static_cast<unsigned char>((id * 2654435761U >> 11U) + place * 167U +
                                                    (place >> 8U) * 13U);
    }
    static void fill(std::span<std::byte> bytes, unsigned id, std::int64_t at) noexcept {
        for (std::size_t i = 0; i < bytes.size(); ++i) {
            bytes[i] = std::byte{value(id, at + static_cast<std::int64_t>(i))};
        }
    }

private:
    void note_changes() {
        for (Read& read : reads_) {
            read.changes = true;
        }
    }
    [[nodiscard]] bool cuts() const {
        return std::ranges::any_of(changes_, [](const Change& one) { return one.id == 0; });
    }
    static bool among(const std::array<unsigned char, 4>& values, unsigned char one) noexcept {
        return std::ranges::find(values, one) != values.end();
    }
    void add(Cell& cell, unsigned char value) {
        if (among(cell.values, value)) {
            return;
        }
        // Duplicates make room.
        for (std::size_t i = 1; i < cell.values.size(); ++i) {
            if (cell.values[i] == cell.values[i - 1]) {
                cell.values[i] = value;
                return;
            }
        }
        cell.any = true;
    }
    void apply(const Change& change) {
        for (std::int64_t at = change.range.begin.bytes(); at < change.range.end().bytes(); ++at) {
            Cell& cell = cells_[static_cast<std::size_t>(at)];
            const unsigned char now = value(change.id, at);
            bool doubt = false;
            for (const Extent& met : change.met) {
                doubt = doubt || (met.begin.bytes() <= at && at < met.end().bytes());
            }
            if (doubt) {
                add(cell, now);
            } else {
                cell.values.fill(now);
                cell.any = false;
            }
        }
    }
    void forget(Handle change) {
        for (Change& other : changes_) {
            if (&other != &*change && !intersection(other.range, change->range).empty()) {
                other.met.push_back(change->range);
                other.met_ids.push_back(change->id);
            }
        }
        for (Read& read : reads_) {
            if (!intersection(read.range, change->range).empty()) {
                read.met.push_back(change->range);
                read.met_ids.push_back(change->id);
            }
        }
        changes_.erase(change);
    }
    [[nodiscard]] bool may_be(const Read& read, std::size_t i, unsigned char seen) const {
        const std::int64_t at = read.range.begin.bytes() + static_cast<std::int64_t>(i);
        const Cell& cell = cells_[static_cast<std::size_t>(at)];
        const Cell& before = read.before[i];
        if (cell.any || before.any || among(cell.values, seen) || among(before.values, seen)) {
            return true;
        }
        for (std::size_t k = 0; k < read.met.size(); ++k) {
            if (read.met[k].begin.bytes() <= at && at < read.met[k].end().bytes() &&
                value(read.met_ids[k], at) == seen) {
                return true;
            }
        }
        return std::ranges::any_of(changes_, [&](const Change& one) {
            return one.range.begin.bytes() <= at && at < one.range.end().bytes() &&
                   value(one.id, at) == seen;
        });
    }
    [[nodiscard]] std::string judge(const Read& read, std::int64_t got,
                                    std::span<const std::byte> bytes) const {
        if (got < 0) {
            return "error " + std::to_string(-got);
        }
        const std::int64_t size = std::clamp<std::int64_t>(size_ - read.range.begin.bytes(), 0,
                                                           read.range.length.bytes());
        if (!read.changes && read.sized && sized_ && got != size) {
            return std::to_string(got) + " bytes, not " + std::to_string(size) + " from " +
                   std::to_string(read.range.begin.bytes()) + " on";
        }
        for (std::size_t i = 0; i < bytes.size(); ++i) {
            const auto seen =
                std::to_integer<unsigned char>(std::cmp_less(i, got) ? bytes[i] : std::byte{0});
            if (!may_be(read, i, seen)) {
                const auto at = static_cast<std::size_t>(read.range.begin.bytes()) + i;
                return "byte " + std::to_string(at) + " is " + std::to_string(seen) + ", not " +
                       std::to_string(cells_[at].values[0]) + " (" + std::to_string(got) +
                       " bytes from " + std::to_string(read.range.begin.bytes()) + " on)";
            }
        }
        return {};
    }

    std::vector<Cell> cells_;
    std::int64_t size_ = 0;
    bool sized_ = true;
    std::int64_t calls_ = 0;
    std::list<Change> changes_;  // in flight
    std::list<Read> reads_;
};

}  // namespace forebay::pool
