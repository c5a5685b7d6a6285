// Tests the heap against a sorted set, and how many keys a change of it looks at.
#include "tier/live/indexed_heap.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <gtest/gtest.h>
#include <memory>
#include <rapidcheck/gtest.h>
#include <set>
#include <utility>
#include <vector>

namespace forebay::tier {
namespace {

struct Numbered {
    int key = 0;
    std::uint32_t place = 0;
};

struct ByNumber {
    static inline thread_local int keys_read = 0;
    static int key(const Numbered& item) noexcept {
        ++keys_read;
        return item.key;
    }
    static std::uint32_t& place(Numbered& item) noexcept { return item.place; }
};

using Heap = IndexedHeap<Numbered, ByNumber>;

void ensure_order(Heap& heap) {
    for (std::size_t i = 0; i < heap.size(); ++i) {
        RC_ASSERT(heap[i].place == i);
        const std::size_t end = std::min(Heap::first_child(i) + 2, heap.size());
        for (std::size_t child = Heap::first_child(i); child < end; ++child) {
            RC_ASSERT(heap[i].key <= heap[child].key);
        }
    }
}

RC_GTEST_PROP(IndexedHeapProperties, HasTheLeastKeyOnTopWhateverChanges, ()) {
    std::vector<std::unique_ptr<Numbered>> items;
    std::multiset<int> keys;
    Heap heap;
    const auto steps = *rc::gen::inRange(0, 60);
    for (int i = 0; i < steps; ++i) {
        const int key = *rc::gen::inRange(0, 20);
        const auto at = items.empty() ? 0 : *rc::gen::inRange<std::size_t>(0, items.size());
        const int what = items.empty() ? 0 : *rc::gen::inRange(0, 4);
        if (what < 2) {
            items.push_back(std::make_unique<Numbered>(Numbered{.key = key}));
            keys.insert(key);
            heap.insert(*items.back());
        } else if (what == 2) {
            keys.erase(keys.find(std::exchange(items[at]->key, key)));
            keys.insert(key);
            heap.update(*items[at]);
        } else {
            keys.erase(keys.find(items[at]->key));
            heap.remove(*items[at]);
            std::swap(items[at], items.back());
            items.pop_back();
        }
        RC_ASSERT(heap.size() == items.size());
        if (!heap.empty()) {
            RC_ASSERT(heap[0].key == *keys.begin());
        }
        ensure_order(heap);
    }
}

TEST(IndexedHeap, AChangeReadsFewKeysOfMany) {
    constexpr int count = 1 << 14;
    std::vector<Numbered> items(count);
    Heap heap;
    for (int i = 0; i < count; ++i) {
        items[static_cast<std::size_t>(i)].key = i;
        heap.insert(items[static_cast<std::size_t>(i)]);
    }
    const auto keys_of = [&](int key) {
        ByNumber::keys_read = 0;
        items[0].key = key;
        heap.update(items[0]);
        return ByNumber::keys_read;
    };
    constexpr int levels = 14;
    EXPECT_LE(keys_of(count), 3 * levels + 3) << "all the way down";
    EXPECT_LE(keys_of(-1), levels + 6) << "and up again";
    EXPECT_EQ(&heap[0], items.data());
}

}  // namespace
}  // namespace forebay::tier
