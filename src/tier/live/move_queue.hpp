// The files that wait to be moved, in the orders in which they may be chosen. next_to_move() says
// which one of all is next; this finds the same one without a look at the others.
#pragma once

#include "tier/catalogue/replica_list.hpp"
#include "tier/live/indexed_heap.hpp"
#include "tier/policy/move_order.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>

namespace forebay::tier {

class MoveQueue {
public:
    MoveQueue() = default;
    MoveQueue(const MoveQueue&) = delete;
    MoveQueue& operator=(const MoveQueue&) = delete;
    ~MoveQueue() = default;

    // Adds a file, or replaces what is known of it. Takes time logarithmic in the number of files.
    void put(const ReplicaName& name, const MoveCandidate& candidate);
    void remove(const ReplicaName& name);
    // As next_to_move() chooses of all candidates. Takes time for those that have become due since
    // the last call, at CLOCK_MONOTONIC times that only grow.
    [[nodiscard]] std::optional<ReplicaName> first(const MoveSituation& situation);

    [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }
    // How many candidates all calls together have put in order.
    [[nodiscard]] std::uint64_t looked_at() const noexcept { return looked_at_; }

private:
    struct Places {
        std::uint32_t asked = none;
        std::uint32_t due = none;
        std::uint32_t largest = none;
        std::uint32_t oldest = none;
        std::uint32_t triggered = none;
    };
    static constexpr std::uint32_t none = 0xffffffff;
    struct Entry {
        MoveCandidate candidate{};
        std::int64_t due_ns = 0;  // when time alone makes it another candidate
        Places places{};          // in the heaps below; none: it is not in that heap
    };
    struct NameHash {
        std::size_t operator()(const ReplicaName& name) const noexcept;
    };
    using Row = std::pair<const ReplicaName, Entry>;
    template <std::uint32_t Places::* Which>
    struct ByAge {
        using Key = std::pair<std::int64_t, ReplicaName>;
        [[nodiscard]] static Key key(const Row& row) noexcept {
            return {row.second.candidate.dirtied_ns, row.first};
        }
        [[nodiscard]] static std::uint32_t& place(Row& row) noexcept {
            return row.second.places.*Which;
        }
    };
    struct ByDueTime {
        [[nodiscard]] static std::int64_t key(const Row& row) noexcept { return row.second.due_ns; }
        [[nodiscard]] static std::uint32_t& place(Row& row) noexcept {
            return row.second.places.due;
        }
    };
    struct BySize {
        using Key = std::pair<std::int64_t, ByAge<&Places::largest>::Key>;
        [[nodiscard]] static Key key(const Row& row) noexcept {
            return {-row.second.candidate.bytes, ByAge<&Places::largest>::key(row)};
        }
        [[nodiscard]] static std::uint32_t& place(Row& row) noexcept {
            return row.second.places.largest;
        }
    };

    void enter(Row& row, std::int64_t now_ns);
    void leave(Row& row);

    std::unordered_map<ReplicaName, Entry, NameHash> entries_;
    IndexedHeap<Row, ByAge<&Places::asked>> asked_;
    IndexedHeap<Row, ByDueTime> due_;
    // The following have those that may be moved, since no attempt has failed lately.
    IndexedHeap<Row, BySize> largest_;
    IndexedHeap<Row, ByAge<&Places::oldest>> oldest_;  // without those that a user moves
    IndexedHeap<Row, ByAge<&Places::triggered>> triggered_;
    std::int64_t now_ns_ = 0;
    std::uint64_t looked_at_ = 0;
};

}  // namespace forebay::tier
