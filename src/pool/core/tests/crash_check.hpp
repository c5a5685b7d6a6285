// A node that may crash at any moment, for tests: it records everything that is done to its
// journal's device and to its files, and can produce any number of disks that a crash after any of
// these events might leave.
#pragma once

#include "foundation/ports/forwarding_storage.hpp"
#include "pool/core/tests/oracle_check.hpp"
#include "pool/core/tests/pool_check.hpp"
#include "pool/journal/format/segment_scan.hpp"
#include "pool/journal/replay.hpp"
#include "worlds/memory/journal_disk.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace forebay::pool {

using adapters::JournalDisk;

// A random generator apart from the world's, so that many crashes of one run can be drawn.
class Dice {
public:
    explicit Dice(std::uint64_t seed) : seed_{seed} {}
    std::int64_t draw(std::int64_t end) {
        return static_cast<std::int64_t>(adapters::scramble(seed_, 5, ++drawn_) %
                                         static_cast<std::uint64_t>(end));
    }

private:
    std::uint64_t seed_;
    std::uint64_t drawn_ = 0;
};

// The content of a file on a disk.
struct FileImage {
    std::vector<std::byte> bytes;
    std::int64_t changed_ns = 0;

    void put(std::int64_t at, std::span<const std::byte> from) {
        bytes.resize(std::max(bytes.size(), static_cast<std::size_t>(at) + from.size()));
        std::ranges::copy(from, bytes.begin() + at);
    }
    bool operator==(const FileImage&) const = default;
};

struct Disk {
    JournalDisk::Image journal;
    std::vector<FileImage> files;
};

struct Event {
    enum class Kind {
        journal_begins,
        journal_durable,
        file_write,    // a write is given to the file system, which …
        file_written,  // … has done it by now
        file_cut,
        file_touched,
        file_sync,
    };
    Kind kind = Kind::journal_begins;
    std::int64_t at_ns = 0;
    JournalDisk::Done journal{};
    std::size_t file = 0;
    std::int64_t at = 0;
    std::vector<std::byte> bytes{};
};

enum class Fall {
    daemon,  // the daemon is killed: the kernel keeps what was written
    // The node loses power: each sector that was not synced is there or not.
    node,
};

class Events {
public:
    std::size_t add(Event event) {
        all_.push_back(std::move(event));
        return all_.size();
    }
    [[nodiscard]] std::size_t count() const noexcept { return all_.size(); }
    [[nodiscard]] std::size_t syncs() const {
        return static_cast<std::size_t>(
            std::ranges::count(all_, Event::Kind::file_sync, &Event::kind));
    }
    [[nodiscard]] std::int64_t time_at(std::size_t count) const {
        return count == 0 ? 0 : all_[count - 1].at_ns;
    }

    // The disk after the first `count` events.
    [[nodiscard]] Disk after(std::size_t count, std::size_t files, Fall how, Dice& dice,
                             std::int64_t segment_bytes) const {
        Disk disk;
        disk.files.resize(files);
        fill_journal(disk, count, how, dice, segment_bytes);
        for (std::size_t file = 0; file < files; ++file) {
            fill_file(disk.files[file], file, count, how, dice);
        }
        return disk;
    }

private:
    void fill_journal(Disk& disk, std::size_t count, Fall how, Dice& dice,
                      std::int64_t segment_bytes) const {
        // At most one request of each kind is in flight.
        std::map<JournalDisk::Done::Kind, const JournalDisk::Done*> under_way;
        for (std::size_t i = 0; i < count; ++i) {
            const Event& event = all_[i];
            if (event.kind == Event::Kind::journal_begins) {
                under_way[event.journal.kind] = &event.journal;
            } else if (event.kind == Event::Kind::journal_durable) {
                under_way.erase(event.journal.kind);
                JournalDisk::apply(disk.journal, event.journal, segment_bytes,
                                   [](std::size_t) { return true; });
            }
        }
        for (const auto& [kind, done] : under_way) {
            // Any choice of sectors survives: none, all, the first ones, or random ones.
            const std::int64_t way = dice.draw(4);
            const auto cut = static_cast<std::size_t>(dice.draw(300));
            JournalDisk::apply(disk.journal, *done, segment_bytes, [&](std::size_t sector) {
                return way == 1 || (way == 2 && sector < cut) || (way == 3 && dice.draw(2) == 0);
            });
        }
        static_cast<void>(how);
    }

    void fill_file(FileImage& image, std::size_t file, std::size_t count, Fall how,
                   Dice& dice) const {
        std::size_t synced = 0;
        std::set<std::size_t> written;
        for (std::size_t i = 0; i < count; ++i) {
            if (all_[i].file == file && all_[i].kind == Event::Kind::file_sync) {
                synced = i;
            }
            if (all_[i].file == file && all_[i].kind == Event::Kind::file_written) {
                written.insert(static_cast<std::size_t>(all_[i].at));
            }
        }
        for (std::size_t i = 0; i < count; ++i) {
            const Event& event = all_[i];
            if (event.file != file || event.kind < Event::Kind::file_write) {
                continue;
            }
            const bool sure =
                i < synced || (how == Fall::daemon &&
                               (written.contains(i) || event.kind != Event::Kind::file_write));
            happen(image, event, sure, dice);
        }
        // A request in flight may have been done at the very end.
        if (how == Fall::daemon) {
            for (std::size_t i = 0; i < count; ++i) {
                const bool write = all_[i].file == file && all_[i].kind == Event::Kind::file_write;
                if (write && !written.contains(i)) {
                    image.changed_ns = time_at(count);
                }
            }
        }
    }

    static void happen(FileImage& image, const Event& event, bool sure, Dice& dice) {
        if (event.kind == Event::Kind::file_cut && (sure || dice.draw(2) == 0)) {
            image.bytes.resize(static_cast<std::size_t>(event.at));
        }
        if (event.kind == Event::Kind::file_write) {
            constexpr std::size_t sector = JournalDisk::sector_bytes;
            const std::int64_t way = sure ? 1 : dice.draw(3);
            for (std::size_t at = 0; at < event.bytes.size(); at += sector) {
                if (way == 1 || (way == 2 && dice.draw(2) == 0)) {
                    const std::size_t some = std::min(sector, event.bytes.size() - at);
                    image.put(event.at + static_cast<std::int64_t>(at),
                              std::span{event.bytes}.subspan(at, some));
                }
            }
        }
        if (event.kind != Event::Kind::file_sync && (sure || dice.draw(2) == 0)) {
            image.changed_ns = std::max(image.changed_ns, event.at_ns);
        }
    }

    std::vector<Event> all_;
};

// A FileStorage that records its requests.
class WatchedStorage final : public ports::ForwardingStorage {
public:
    WatchedStorage(std::unique_ptr<ports::FileStorage> inner, std::size_t file, Events& events,
                   adapters::MemoryWorld& world, std::int64_t& changed_ns)
        : ForwardingStorage{std::move(inner)},
          file_{file},
          events_{events},
          world_{world},
          changed_ns_{changed_ns} {}

    void submit(const ports::Request& request) override {
        auto& numbers = numbers_[request.ticket];
        for (const ports::Piece& piece : request.pieces) {
            numbers.push_back(events_.add({.kind = Event::Kind::file_write,
                                           .at_ns = world_.now_ns(),
                                           .file = file_,
                                           .at = piece.at.bytes(),
                                           .bytes = {piece.bytes.begin(), piece.bytes.end()}}) -
                              1);
        }
        changed_ns_ = world_.now_ns();
        own().submit(request);
    }
    std::size_t poll(std::span<ports::RequestCompletion> out) override {
        return note(out, own().poll(out));
    }
    std::size_t wait(std::span<ports::RequestCompletion> out) override {
        return note(out, own().wait(out));
    }
    Result<void> sync() override {
        Result<void> done = own().sync();
        if (!done) {
            return done;
        }
        events_.add({.kind = Event::Kind::file_sync, .at_ns = world_.now_ns(), .file = file_});
        return done;
    }

private:
    std::size_t note(std::span<ports::RequestCompletion> out, std::size_t count) {
        for (const ports::RequestCompletion& one : out.first(count)) {
            for (const std::size_t number : numbers_[one.ticket]) {
                events_.add({.kind = Event::Kind::file_written,
                             .at_ns = world_.now_ns(),
                             .file = file_,
                             .at = static_cast<std::int64_t>(number)});
            }
            numbers_.erase(one.ticket);
            changed_ns_ = world_.now_ns();
        }
        return count;
    }

    std::size_t file_;
    Events& events_;
    adapters::MemoryWorld& world_;
    std::int64_t& changed_ns_;
    std::map<std::uint64_t, std::vector<std::size_t>> numbers_;
};

// The files that a crash has left, for a replay, in which the node may crash again.
class DiskFiles final : public ReplayFiles {
public:
    // The node crashes after `changes` more changes; negative: never.
    DiskFiles(Disk& disk, const ports::TimeSource& clock, std::int64_t changes = -1)
        : disk_{disk}, clock_{clock}, left_{changes} {}

    Result<std::unique_ptr<ReplayFile>> find(const journal::ReplayPlan& replay_plan) override {
        const auto number = static_cast<std::size_t>(replay_plan.facts.inode) - 1;
        return number < disk_.files.size() ? std::make_unique<One>(*this, number) : nullptr;
    }
    Result<std::string> keep(const journal::ReplayPlan& replay_plan, int /*error*/) override {
        if (!may_change()) {
            return failure(system_error(EIO, "keep"));
        }
        auto& runs = kept[static_cast<std::size_t>(replay_plan.facts.inode) - 1];
        for (const journal::JournalRun& run : replay_plan.runs) {
            runs.emplace_back(run.at.bytes(),
                              std::vector<std::byte>{run.bytes.begin(), run.bytes.end()});
        }
        return std::string{"rescue"};
    }
    [[nodiscard]] bool may_change() {
        if (left_ == 0) {
            down();
        }
        return left_ < 0 || (left_ > 0 && left_-- > 0);
    }
    // Called when the node has crashed: nothing else happens after that either.
    std::function<void()> down = [] {};

    std::map<std::size_t, std::vector<std::pair<std::int64_t, std::vector<std::byte>>>> kept;

private:
    class One final : public ReplayFile {
    public:
        One(DiskFiles& all, std::size_t number) : all_{all}, number_{number} {}
        [[nodiscard]] journal::FoundFile found() const override {
            const auto bytes = static_cast<std::int64_t>(image().bytes.size());
            return {.device = 1,
                    .inode = number_ + 1,
                    .generation = 0,
                    .stamp = {bytes, image().changed_ns, image().changed_ns}};
        }
        int set_length(Length bytes) override {
            return change([&](FileImage& file) { file.bytes.resize(bytes.size()); });
        }
        int write(Offset at, std::span<const std::byte> bytes) override {
            return change([&](FileImage& file) { file.put(at.bytes(), bytes); });
        }
        int sync() override { return all_.may_change() ? 0 : EIO; }
        Length length() override { return Length{static_cast<std::int64_t>(image().bytes.size())}; }

    private:
        [[nodiscard]] FileImage& image() const { return all_.disk_.files[number_]; }
        template <class Change>
        int change(const Change& what) {
            if (!all_.may_change()) {
                return EIO;
            }
            what(image());
            image().changed_ns = all_.clock_.now_ns();
            return 0;
        }
        DiskFiles& all_;
        std::size_t number_;
    };

    Disk& disk_;
    const ports::TimeSource& clock_;
    std::int64_t left_;
};

// A clock whose world is made after it, or never.
class LateClock final : public ports::TimeSource {
public:
    [[nodiscard]] std::int64_t now_ns() const noexcept override {
        return inner != nullptr ? inner->now_ns() : at_ns;
    }
    const ports::TimeSource* inner = nullptr;
    std::int64_t at_ns = 0;
};

// A journal in memory. It is made before its node, and uses the time of that.
class MemoryJournal {
public:
    struct Options {
        std::int64_t segment_bytes = std::int64_t{1} << 18;
        std::size_t segments_max = 4;
        std::function<std::int64_t(adapters::MemoryWorld&)> write_ns;  // time to write a group
    };
    explicit MemoryJournal(Options options)
        : options_{std::move(options)},
          disk_{{.segment_bytes = options_.segment_bytes,
                 .later = [this](std::function<void()> done) { later(std::move(done)); }}} {}
    MemoryJournal(const MemoryJournal&) = delete;
    MemoryJournal& operator=(const MemoryJournal&) = delete;
    ~MemoryJournal() = default;

    [[nodiscard]] JournalDisk& disk() noexcept { return disk_; }
    [[nodiscard]] const ports::TimeSource& clock() const noexcept { return clock_; }
    // Called once, before the node is made.
    [[nodiscard]] JournalWriter* start() {
        Disk nothing;
        DiskFiles none{nothing, clock_};
        auto begun = replay(disk_, clock_, none, {.segments_max = options_.segments_max});
        EXPECT_TRUE(begun.has_value());
        writer_ = std::move(begun->writer);
        return writer_.get();
    }
    void join(adapters::MemoryWorld& world) {
        world_ = &world;
        clock_.inner = &world;
    }

private:
    void later(std::function<void()> done) {
        if (world_ == nullptr) {
            done();
        } else {
            world_->after(options_.write_ns(*world_), std::move(done));
        }
    }

    Options options_;
    LateClock clock_;
    adapters::MemoryWorld* world_ = nullptr;
    JournalDisk disk_;
    std::unique_ptr<JournalWriter> writer_;
};

// The operations on a file, and the bytes that it may have after a crash.
class Promises {
public:
    struct Op {
        std::size_t begin = 0;
        std::size_t acked = std::numeric_limits<std::size_t>::max();
        Extent range{};
        unsigned id = 0;   // 0: zeros
        bool firm = true;  // false: the file system may lose it with the power
    };
    Op& begin(std::size_t events, const Extent& range, unsigned id) {
        ops_.push_back(std::make_unique<Op>(Op{.begin = events, .range = range, .id = id}));
        return *ops_.back();
    }
    // Returns "" if the file may have these bytes.
    [[nodiscard]] std::string judge(const std::vector<std::byte>& bytes, std::size_t count,
                                    Fall how, std::int64_t most) const {
        std::set<std::int64_t> edges{0, most};
        for (const auto& op : ops_) {
            edges.insert(op->range.begin.bytes());
            edges.insert(std::min(op->range.end().bytes(), most));
        }
        for (auto edge = edges.begin(); std::next(edge) != edges.end(); ++edge) {
            const Allowed allowed = allowed_at(*edge, count, how);
            for (std::int64_t at = *edge; at < *std::next(edge); ++at) {
                const auto place = static_cast<std::size_t>(at);
                const unsigned char seen =
                    place < bytes.size() ? std::to_integer<unsigned char>(bytes[place]) : 0;
                const bool may_be = (seen == 0 && allowed.nothing) ||
                                    std::ranges::any_of(allowed.ids, [&](unsigned id) {
                                        return Oracle::value(id, at) == seen;
                                    });
                if (!may_be) {
                    return "byte " + std::to_string(at) + " is " + std::to_string(seen) + " of " +
                           std::to_string(bytes.size()) + " bytes";
                }
            }
        }
        return {};
    }

private:
    struct Allowed {
        bool nothing = false;
        std::vector<unsigned> ids;
    };
    [[nodiscard]] static bool covers(const Op& op, std::int64_t at) {
        return op.range.begin.bytes() <= at && at < op.range.end().bytes();
    }
    // The same for all bytes between two ends of operations.
    [[nodiscard]] Allowed allowed_at(std::int64_t at, std::size_t count, Fall how) const {
        const auto replaced = [&](std::size_t acked) {
            return std::ranges::any_of(ops_, [&](const auto& later) {
                return covers(*later, at) && later->begin >= acked && later->acked <= count &&
                       (later->firm || how == Fall::daemon);
            });
        };
        Allowed allowed{.nothing = !replaced(0), .ids = {}};
        for (const auto& op : ops_) {
            if (covers(*op, at) && op->begin <= count && !replaced(op->acked)) {
                allowed.ids.push_back(op->id);
            }
        }
        return allowed;
    }

    std::vector<std::unique_ptr<Op>> ops_;
};

}  // namespace forebay::pool
