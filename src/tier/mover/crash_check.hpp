// For tests: a fast place and a parallel file system in memory, which can be cut after any step. A
// kill of the daemon keeps what was written; a power failure of the node keeps of what was not
// synced any sectors of the bytes, and any first part of the changes of metadata.
#pragma once

#include "foundation/ports/clock.hpp"
#include "tier/mover/ports.hpp"
#include "worlds/memory/file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace forebay::tier::check {

using Contents = std::vector<std::byte>;

class CutDice {
public:
    explicit CutDice(std::uint64_t seed) : seed_{seed} {}
    std::int64_t draw(std::int64_t end) {
        return static_cast<std::int64_t>(adapters::scramble(seed_, 7, ++drawn_) %
                                         static_cast<std::uint64_t>(end));
    }
    bool one_in(std::int64_t number) { return draw(number) == 0; }

private:
    std::uint64_t seed_;
    std::uint64_t drawn_ = 0;
};

// Thrown by the step at which a world is cut, through the code that is tested.
struct WorldCut {};

// Time, and the steps after which the world may be cut.
class CutClock final : public ports::TimeSource {
public:
    static constexpr std::int64_t tick_ns = 4'000'000;  // of file times

    explicit CutClock(std::uint64_t seed) : dice_{seed} {}

    [[nodiscard]] std::int64_t now_ns() const noexcept override { return now_ns_; }
    [[nodiscard]] std::int64_t file_time() const noexcept { return now_ns_ / tick_ns * tick_ns; }
    void pass(std::int64_t nanoseconds) { now_ns_ += nanoseconds; }
    // Cuts the world in place of the step with this number, counted from now; negative: never.
    void cut_at(std::int64_t step) {
        steps_ = 0;
        cut_ = step;
    }
    [[nodiscard]] std::int64_t steps() const noexcept { return steps_; }
    // True: the world is cut in this step, of which a part may be done; it then calls die().
    [[nodiscard]] bool step() {
        now_ns_ += dice_.draw(2) == 0 ? 1000 : dice_.draw(30'000'000);
        return steps_++ == cut_;
    }
    [[noreturn]] static void die() { throw WorldCut{}; }
    CutDice& dice() noexcept { return dice_; }

private:
    CutDice dice_;
    std::int64_t now_ns_ = 1'000'000'000'000'000;
    std::int64_t steps_ = 0;
    std::int64_t cut_ = -1;
};

struct InodeState {
    Contents bytes;
    std::int64_t modified_ns = 0;
    std::int64_t changed_ns = 0;
    std::optional<Contents> record;
};

// A change that was not synced yet: of bytes, or of everything else.
struct InodeChange {
    std::int64_t at = 0;
    Contents bytes{};                  // empty: of metadata only
    std::int64_t length = 0;           // afterwards
    std::int64_t modified_ns = 0;      // afterwards
    std::int64_t changed_ns = 0;       // afterwards
    std::optional<Contents> record{};  // afterwards
};

class MemoryInode {
public:
    static constexpr std::int64_t sector_bytes = 64;

    MemoryInode(std::uint64_t inode, std::int64_t now_ns) : number{inode} {
        now.modified_ns = now.changed_ns = now_ns;
        durable = now;
    }

    void write(std::int64_t at, std::span<const std::byte> from, std::int64_t time_ns) {
        put(now.bytes, at, from);
        now.modified_ns = now.changed_ns = time_ns;
        note(at, {from.begin(), from.end()});
    }
    void set_length(std::int64_t length, std::int64_t time_ns) {
        if (length != std::ssize(now.bytes)) {
            now.bytes.resize(static_cast<std::size_t>(length));
            now.modified_ns = now.changed_ns = time_ns;
            note(0, {});
        }
    }
    void touch(std::int64_t modified_ns, std::int64_t time_ns) {
        now.modified_ns = modified_ns;
        now.changed_ns = time_ns;
        note(0, {});
    }
    void set_record(std::optional<Contents> record, std::int64_t time_ns) {
        now.record = std::move(record);
        now.changed_ns = time_ns;
        note(0, {});
    }
    void sync() {
        durable = now;
        unsynced_.clear();
    }
    // The power fails.
    void lose(CutDice& dice) {
        const auto kept = static_cast<std::size_t>(dice.draw(std::ssize(unsynced_) + 1));
        InodeState left = durable;
        for (std::size_t i = 0; i < unsynced_.size(); ++i) {
            const InodeChange& one = unsynced_[i];
            if (i < kept) {
                left.bytes.resize(static_cast<std::size_t>(one.length));
                left.modified_ns = one.modified_ns;
                left.changed_ns = one.changed_ns;
                left.record = one.record;
            }
            for (std::int64_t at = 0; at < std::ssize(one.bytes); at += sector_bytes) {
                if (dice.one_in(2)) {
                    put_within(left.bytes, one, at);
                }
            }
        }
        now = left;
        sync();
    }

    std::uint64_t number;
    InodeState now;
    InodeState durable;

private:
    static void put(Contents& bytes, std::int64_t at, std::span<const std::byte> from) {
        bytes.resize(std::max(bytes.size(), static_cast<std::size_t>(at) + from.size()));
        std::ranges::copy(from, bytes.begin() + at);
    }
    // A sector of a change, as far as the file reaches.
    static void put_within(Contents& bytes, const InodeChange& one, std::int64_t from) {
        const std::int64_t most = std::min(sector_bytes, std::ssize(one.bytes) - from);
        for (std::int64_t i = 0; i < most; ++i) {
            const std::int64_t at = one.at + from + i;
            if (at < std::ssize(bytes)) {
                bytes[static_cast<std::size_t>(at)] = one.bytes[static_cast<std::size_t>(from + i)];
            }
        }
    }
    void note(std::int64_t at, Contents bytes) {
        unsynced_.push_back({at, std::move(bytes), std::ssize(now.bytes), now.modified_ns,
                             now.changed_ns, now.record});
    }

    std::vector<InodeChange> unsynced_;
};

// Hooks by which a test interferes with one side of the world, and the faults of that side.
struct SideHooks {
    std::function<void()> before{};  // each step that changes something
    std::function<void()> reads{};   // bytes are being read
    int write_error = 0;             // of the next writes
    std::int64_t writes_left = -1;   // until write_error; negative: no error
    std::vector<Extent> written{};   // all requests
};

class MemoryTieredFile;

class MemoryRequests final : public ports::FileStorage {
public:
    MemoryRequests(MemoryTieredFile& file, IoDirection direction)
        : file_{file}, direction_{direction} {}

    [[nodiscard]] int depth() const noexcept override { return 16; }
    void submit(const ports::Request& request) override;
    std::size_t poll(std::span<ports::RequestCompletion> out) override {
        std::size_t count = 0;
        for (; count < out.size() && !done_.empty(); ++count) {
            out[count] = done_.front();
            done_.pop_front();
        }
        return count;
    }
    std::size_t wait(std::span<ports::RequestCompletion> out) override { return poll(out); }
    Result<void> sync() override { return {}; }
    [[nodiscard]] Result<ports::FileIdentity> identity() const override {
        return ports::FileIdentity{};
    }
    Result<void> close() override { return {}; }
    [[nodiscard]] const char* name() const noexcept override { return "memory"; }

private:
    MemoryTieredFile& file_;
    IoDirection direction_;
    std::deque<ports::RequestCompletion> done_;
};

class MemoryTieredFile final : public TieredFile {
public:
    MemoryTieredFile(std::shared_ptr<MemoryInode> inode, CutClock& clock, SideHooks& hooks,
                     FileStripes stripes = {})
        : inode_{std::move(inode)}, clock_{clock}, hooks_{hooks}, stripes_{stripes} {}

    [[nodiscard]] ports::FileStorage& storage(IoDirection direction) override {
        return direction == IoDirection::read ? reads_ : writes_;
    }
    [[nodiscard]] FileStripes stripes() const override { return stripes_; }
    [[nodiscard]] Result<VersionStamp> stamp() override {
        return VersionStamp{.file_system = 1,
                            .inode = inode_->number,
                            .bytes = std::ssize(inode_->now.bytes),
                            .modified_ns = inode_->now.modified_ns,
                            .changed_ns = inode_->now.changed_ns,
                            .taken_ns = clock_.now_ns()};
    }
    // Whole sectors of zeros are holes.
    [[nodiscard]] Result<std::optional<Extent>> next_data(Offset from) override {
        const Contents& bytes = inode_->now.bytes;
        std::int64_t begin = from.bytes();
        const std::int64_t size = std::ssize(bytes);
        while (begin < size && is_hole(begin)) {
            begin = sector_end(begin);
        }
        if (begin >= size) {
            return std::nullopt;
        }
        std::int64_t end = begin;
        while (end < size && !is_hole(end)) {
            end = std::min(sector_end(end), size);
        }
        return Extent{Offset{begin}, Length{end - begin}};
    }
    Result<void> make_hole(const Extent& extent) override {
        const bool cut = begin_change();
        const auto end = std::min(extent.end().bytes(), std::ssize(inode_->now.bytes));
        if (end > extent.begin.bytes() && !cut) {
            inode_->write(extent.begin.bytes(),
                          Contents(static_cast<std::size_t>(end - extent.begin.bytes())),
                          clock_.file_time());
        }
        return end_change(cut);
    }
    Result<void> set_length(Length bytes) override {
        const bool cut = begin_change();
        if (!cut) {
            inode_->set_length(bytes.bytes(), clock_.file_time());
        }
        return end_change(cut);
    }
    Result<void> set_modified(std::int64_t time_ns) override {
        const bool cut = begin_change();
        if (!cut) {
            inode_->touch(time_ns, clock_.file_time());
        }
        return end_change(cut);
    }
    Result<void> sync() override {
        const bool cut = begin_change();
        if (!cut) {
            inode_->sync();
        }
        return end_change(cut);
    }
    [[nodiscard]] Result<std::optional<Contents>> record() override { return inode_->now.record; }
    Result<void> set_record(std::span<const std::byte> bytes) override {
        return change_record(Contents(bytes.begin(), bytes.end()));
    }
    Result<void> remove_record() override { return change_record(std::nullopt); }

    [[nodiscard]] ports::RequestCompletion perform(const ports::Request& request) {
        ports::RequestCompletion done;
        done.ticket = request.ticket;
        for (const ports::Piece& piece : request.pieces) {
            done.bytes +=
                request.direction == IoDirection::read ? read(piece) : write(piece, done.system);
        }
        return done;
    }
    [[nodiscard]] MemoryInode& inode() noexcept { return *inode_; }

private:
    [[nodiscard]] static std::int64_t sector_end(std::int64_t at) noexcept {
        return (at / MemoryInode::sector_bytes + 1) * MemoryInode::sector_bytes;
    }
    [[nodiscard]] bool is_hole(std::int64_t at) const {
        const Contents& bytes = inode_->now.bytes;
        const std::int64_t begin = sector_end(at) - MemoryInode::sector_bytes;
        const std::int64_t end = std::min(sector_end(at), std::ssize(bytes));
        return std::all_of(bytes.begin() + begin, bytes.begin() + end,
                           [](std::byte one) { return one == std::byte{0}; });
    }
    bool begin_change() {
        if (hooks_.before) {
            hooks_.before();
        }
        return clock_.step();
    }
    static Result<void> end_change(bool cut) {
        if (cut) {
            CutClock::die();
        }
        return {};
    }
    Result<void> change_record(std::optional<Contents> record) {
        const bool cut = begin_change();
        if (!cut) {
            inode_->set_record(std::move(record), clock_.file_time());
        }
        return end_change(cut);
    }
    Length read(const ports::Piece& piece) {
        if (hooks_.reads) {
            hooks_.reads();
        }
        const Contents& bytes = inode_->now.bytes;
        const std::int64_t at = piece.at.bytes();
        const std::int64_t most =
            std::clamp<std::int64_t>(std::ssize(bytes) - at, 0, std::ssize(piece.bytes));
        std::copy_n(bytes.begin() + std::min(at, std::ssize(bytes)), most, piece.bytes.begin());
        return Length{most};
    }
    Length write(const ports::Piece& piece, int& error) {
        const bool cut = begin_change();
        if (hooks_.writes_left == 0) {
            error = hooks_.write_error;
            return Length{0};
        }
        hooks_.writes_left -= hooks_.writes_left > 0 ? 1 : 0;
        const auto most = static_cast<std::int64_t>(piece.bytes.size());
        const std::int64_t bytes = cut ? clock_.dice().draw(most + 1) : most;
        if (bytes > 0) {
            inode_->write(piece.at.bytes(), piece.bytes.first(static_cast<std::size_t>(bytes)),
                          clock_.file_time());
        }
        hooks_.written.push_back({piece.at, Length{bytes}});
        static_cast<void>(end_change(cut));
        return Length{bytes};
    }

    std::shared_ptr<MemoryInode> inode_;
    CutClock& clock_;
    SideHooks& hooks_;
    FileStripes stripes_;
    MemoryRequests reads_{*this, IoDirection::read};
    MemoryRequests writes_{*this, IoDirection::write};
};

inline void MemoryRequests::submit(const ports::Request& request) {
    done_.push_back(file_.perform(request));
    static_cast<void>(direction_);
}

// Both places, and the list. Changes of names are durable at once, as the port promises.
class MemoryPlaces final : public FastPlace, public GlobalFiles {
public:
    static constexpr std::uint64_t own = 0x1234;

    explicit MemoryPlaces(CutClock& clock) : clock_{clock} {}

    // A file of the parallel file system.
    ReplicaName add_file(const std::string& path) {
        const std::uint64_t number = ++inodes_;
        global[path] = std::make_shared<MemoryInode>(number, clock_.file_time());
        return {1, number};
    }
    std::unique_ptr<MemoryTieredFile> open_file(const std::string& path) {
        return std::make_unique<MemoryTieredFile>(global.at(path), clock_, global_hooks, stripes);
    }
    void lose_power() {
        for (auto* const side : {&replicas, &unpublished}) {
            for (auto& [name, inode] : *side) {
                inode->lose(clock_.dice());
            }
        }
        for (auto& [path, inode] : global) {
            inode->lose(clock_.dice());
        }
    }

    [[nodiscard]] std::uint64_t owner() const override { return own; }
    [[nodiscard]] const RecordKey& key() const override { return key_; }
    [[nodiscard]] Result<std::unique_ptr<TieredFile>> create(const ReplicaName& name) override {
        step();
        auto inode = std::make_shared<MemoryInode>(name.inode, clock_.file_time());
        unpublished[name] = inode;
        return std::make_unique<MemoryTieredFile>(inode, clock_, fast_hooks);
    }
    Result<void> discard(const ReplicaName& name) override {
        unpublished.erase(name);
        return {};
    }
    Result<void> publish(const ReplicaName& name) override {
        step();
        replicas[name] = unpublished.at(name);
        unpublished.erase(name);
        return {};
    }
    [[nodiscard]] Result<std::unique_ptr<TieredFile>> open(const ReplicaName& name) override {
        std::unique_ptr<TieredFile> file;
        if (replicas.contains(name)) {
            file = std::make_unique<MemoryTieredFile>(replicas.at(name), clock_, fast_hooks);
        }
        return file;
    }
    Result<void> remove(const ReplicaName& name) override {
        step();
        replicas.erase(name);
        return {};
    }
    [[nodiscard]] Result<std::vector<ReplicaName>> names() override {
        std::vector<ReplicaName> found;
        found.reserve(replicas.size());
        for (const auto& [name, inode] : replicas) {
            found.push_back(name);
        }
        return found;
    }
    Result<void> remove_unpublished() override {
        unpublished.clear();
        return {};
    }
    [[nodiscard]] Result<std::string> rescue(const ReplicaName& name,
                                             const std::string& note) override {
        step();
        rescued.push_back(replicas.at(name)->now.bytes);
        notes.push_back(note);
        replicas.erase(name);
        return std::string{"/rescue/1"};
    }
    [[nodiscard]] Result<std::unique_ptr<TieredFile>> open(const std::string& path,
                                                           const ReplicaName& name) override {
        std::unique_ptr<TieredFile> file;
        if (open_error != 0) {
            return failure(system_error(open_error, "open " + path));
        }
        if (global.contains(path) && global.at(path)->number == name.inode) {
            file = open_file(path);
        }
        return file;
    }

    std::map<ReplicaName, std::shared_ptr<MemoryInode>> replicas;
    std::map<ReplicaName, std::shared_ptr<MemoryInode>> unpublished;
    std::map<std::string, std::shared_ptr<MemoryInode>> global;
    std::vector<Contents> rescued;
    std::vector<std::string> notes;
    SideHooks fast_hooks;
    SideHooks global_hooks;
    FileStripes stripes;
    int open_error = 0;  // of files

private:
    void step() {
        if (clock_.step()) {
            CutClock::die();
        }
    }

    CutClock& clock_;
    RecordKey key_{std::byte{9}};
    std::uint64_t inodes_ = 100;
};

class MemoryList final : public ReplicaList {
public:
    Result<void> put(const ListedReplica& replica) override {
        rows[replica.name] = replica;
        return {};
    }
    Result<void> remove(const ReplicaName& name) override {
        rows.erase(name);
        return {};
    }
    [[nodiscard]] Result<std::optional<ListedReplica>> find(const ReplicaName& name) override {
        const auto found = rows.find(name);
        return found == rows.end() ? std::nullopt : std::optional{found->second};
    }
    Result<void> visit(const std::string& /*path*/,
                       const std::function<void(const ListedReplica&)>& visitor) override {
        for (const auto& [name, row] : rows) {
            visitor(row);
        }
        return {};
    }
    [[nodiscard]] Result<ListedSums> sums(const std::string& /*path*/) override {
        ListedSums sums;
        for (const auto& [name, row] : rows) {
            const bool waits = row.dirtied_ns != 0;
            ++sums.replicas;
            sums.bytes += row.bytes;
            sums.waiting += waits ? 1 : 0;
            sums.waiting_bytes += waits ? row.bytes : 0;
        }
        return sums;
    }
    Result<void> replace(const std::function<Result<void>()>& fill) override {
        rows.clear();
        return fill();
    }

    std::map<ReplicaName, ListedReplica> rows;
};

}  // namespace forebay::tier::check
