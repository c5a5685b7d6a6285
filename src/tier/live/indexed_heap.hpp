// A binary heap whose items know their places in it, so that one is taken out, or moved when its
// key has changed, in time logarithmic in how many there are (an indexed, or addressable, heap).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace forebay::tier {

// `Order` has key(item), which `<` compares, and place(item), a number of the item that belongs to
// the heap. Items stay where they are in memory while they are in it.
template <typename Item, typename Order>
class IndexedHeap {
public:
    [[nodiscard]] std::size_t size() const noexcept { return items_.size(); }
    [[nodiscard]] bool empty() const noexcept { return items_.empty(); }
    // The item at 0 has the least key; those at 2 i + 1 and 2 i + 2 have none less than that at i.
    [[nodiscard]] const Item& operator[](std::size_t place) const { return *items_[place]; }
    [[nodiscard]] static std::size_t first_child(std::size_t place) noexcept {
        return 2 * place + 1;
    }

    void insert(Item& item) {
        if (items_.size() == items_.capacity()) {
            items_.reserve(items_.size() + items_.size() / 4 + 1);  // there may be millions
        }
        items_.push_back(&item);
        rise(items_.size() - 1);
    }
    void remove(Item& item) {
        const std::size_t place = Order::place(item);
        Item* const last = items_.back();
        items_.pop_back();
        if (place < items_.size()) {
            items_[place] = last;
            settle(place);
        }
    }
    // After its key has changed, and no other's.
    void update(Item& item) { settle(Order::place(item)); }
    void clear() noexcept { items_.clear(); }

private:
    void put(Item& item, std::size_t place) {
        items_[place] = &item;
        Order::place(item) = static_cast<std::uint32_t>(place);
    }
    void settle(std::size_t place) { sink(rise(place)); }
    std::size_t rise(std::size_t place) {
        Item& item = *items_[place];
        const auto key = Order::key(item);
        while (place > 0 && key < Order::key(*items_[(place - 1) / 2])) {
            put(*items_[(place - 1) / 2], place);
            place = (place - 1) / 2;
        }
        put(item, place);
        return place;
    }
    void sink(std::size_t place) {
        Item& item = *items_[place];
        const auto key = Order::key(item);
        for (std::size_t child = first_child(place); child < items_.size();
             child = first_child(place)) {
            const bool second = child + 1 < items_.size() &&
                                Order::key(*items_[child + 1]) < Order::key(*items_[child]);
            child += second ? 1 : 0;
            if (!(Order::key(*items_[child]) < key)) {
                break;
            }
            put(*items_[child], place);
            place = child;
        }
        put(item, place);
    }

    std::vector<Item*> items_;
};

}  // namespace forebay::tier
