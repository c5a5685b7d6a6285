// Marking does one atomic OR for each 64-bit word that changes, and none if its bits are set
// already.
#include "foundation/pattern/coverage.hpp"

#include "foundation/pattern/words.hpp"

#include <algorithm>
#include <bit>

namespace forebay::pattern {

namespace {

// The bits [from, to) of a word, 0 ≤ from < to ≤ 64.
constexpr std::uint64_t bits_between(std::int64_t from, std::int64_t to) noexcept {
    return (all_bits << from) & (all_bits >> (bits_per_word - to));
}

void set(Coverage::Bits& word, std::uint64_t bits) noexcept {
    if (bits == all_bits) {
        word.store(bits, std::memory_order_relaxed);
    } else if ((word.load(std::memory_order_relaxed) & bits) != bits) {
        word.fetch_or(bits, std::memory_order_relaxed);
    }
}

}  // namespace

// Collects the bits of one word before it ORs them into memory that other ranks write, too.
class Coverage::Marker {
public:
    explicit Marker(std::span<Bits> words) noexcept : words_(words) {}
    ~Marker() { flush(); }
    Marker(const Marker&) = delete;
    Marker& operator=(const Marker&) = delete;

    // Adds units [from, to).
    void add(std::int64_t from, std::int64_t to) noexcept {
        while (true) {
            const std::int64_t word = from >> 6;
            if (word != word_) {
                flush();
                word_ = word;
            }
            const std::int64_t first = word * bits_per_word;
            if (to <= first + bits_per_word) {
                bits_ |= bits_between(from - first, to - first);
                return;
            }
            bits_ |= bits_between(from - first, bits_per_word);
            from = first + bits_per_word;
        }
    }

private:
    void flush() noexcept {
        if (bits_ != 0) {
            set(words_[static_cast<std::size_t>(word_)], bits_);
        }
        bits_ = 0;
    }

    std::span<Bits> words_;
    std::int64_t word_ = 0;
    std::uint64_t bits_ = 0;
};

std::size_t Coverage::words_for(std::int64_t image_bytes, std::int64_t granularity) {
    expects(image_bytes >= 0, "an image has no negative size");
    expects(granularity > 0 && std::has_single_bit(static_cast<std::uint64_t>(granularity)),
            "a granularity is a power of two");
    const std::int64_t units = image_bytes / granularity + (image_bytes % granularity != 0 ? 1 : 0);
    return static_cast<std::size_t>(units / bits_per_word + (units % bits_per_word != 0 ? 1 : 0));
}

Coverage::Coverage(std::span<Bits> words, std::int64_t image_bytes, std::int64_t granularity)
    : image_bytes_(image_bytes), shift_(std::countr_zero(static_cast<std::uint64_t>(granularity))) {
    const std::size_t needed = words_for(image_bytes, granularity);
    expects(needed <= words.size(), "the coverage of the image fits its words");
    words_ = words.first(needed);
}

std::int64_t Coverage::granularity() const noexcept { return std::int64_t{1} << shift_; }

std::int64_t Coverage::image_bytes() const noexcept { return image_bytes_; }

void Coverage::clear() noexcept {
    for (Bits& word : words_) {
        word.store(0, std::memory_order_relaxed);
    }
}

// The number of units in [0, bytes); the end of the image may cut the last one.
std::int64_t Coverage::units(std::int64_t bytes) const noexcept {
    expects((bytes & (granularity() - 1)) == 0 || bytes == image_bytes_,
            "what is marked begins and ends at multiples of the granularity");
    return (bytes + granularity() - 1) >> shift_;
}

void Coverage::mark(std::int64_t at, std::int64_t length) noexcept {
    mark_strided(at, length, length, 1);
}

void Coverage::mark_strided(std::int64_t at, std::int64_t length, std::int64_t stride,
                            std::int64_t count) noexcept {
    if (length <= 0 || count <= 0) {
        return;
    }
    expects(at >= 0 && stride >= 0 && length <= image_bytes_ &&
                at <= image_bytes_ - length - stride * (count - 1),
            "what is marked lies in the image");
    Marker marker(words_);
    if (count == 1 || length == stride) {
        marker.add(units(at), units(at + length + stride * (count - 1)));
        return;
    }
    const std::int64_t step = units(stride);
    const std::int64_t from = units(at);
    const std::int64_t last = from + step * (count - 1);
    const std::int64_t width = units(at + length) - from;
    expects((stride & (granularity() - 1)) == 0, "a stride is a multiple of the granularity");
    if (width < step && step < bits_per_word && bits_per_word % step == 0) {
        mark_periodic(from, units(at + length + stride * (count - 1)), width, step);
        return;
    }
    for (std::int64_t unit = from; unit < last; unit += step) {
        marker.add(unit, unit + width);
    }
    marker.add(last, units(at + length + stride * (count - 1)));
}

// Marks units [from, from + width), repeated every `step` units up to `end`. `step` divides 64, so
// every word has the same pattern.
void Coverage::mark_periodic(std::int64_t from, std::int64_t end, std::int64_t width,
                             std::int64_t step) noexcept {
    std::uint64_t pattern = bits_between(0, width);
    for (std::int64_t period = step; period < bits_per_word; period *= 2) {
        pattern |= pattern << period;
    }
    pattern = std::rotl(pattern, static_cast<int>(from % step));
    for (std::int64_t word = from / bits_per_word; word * bits_per_word < end; ++word) {
        const std::int64_t first = word * bits_per_word;
        set(words_[static_cast<std::size_t>(word)],
            pattern & bits_between(std::max<std::int64_t>(from - first, 0),
                                   std::min(end - first, bits_per_word)));
    }
}

void Coverage::mark_pieces(std::span<const std::int64_t> addresses, std::int64_t length) noexcept {
    if (addresses.empty()) {
        return;
    }
    // Checks all addresses before the first bit is set, so that the marking loop need not check.
    std::int64_t lowest = addresses[0];
    std::int64_t highest = addresses[0];
    std::int64_t bits = length;
    for (const std::int64_t address : addresses) {
        lowest = std::min(lowest, address);
        highest = std::max(highest, address);
        bits |= address;
    }
    expects(lowest >= 0 && length > 0 && length <= image_bytes_ && highest <= image_bytes_ - length,
            "what is marked lies in the image");
    if ((bits & (granularity() - 1)) != 0) {  // the image's end may cut a unit, nothing else may
        for (const std::int64_t address : addresses) {
            mark(address, length);
        }
        return;
    }
    Marker marker(words_);
    const std::int64_t width = length >> shift_;
    for (const std::int64_t address : addresses) {
        const std::int64_t from = address >> shift_;
        marker.add(from, from + width);
    }
}

void Coverage::mark_pieces(std::span<const std::int64_t> addresses,
                           std::span<const std::int64_t> lengths) noexcept {
    expects(addresses.size() == lengths.size(), "every piece has a length");
    Marker marker(words_);
    for (std::size_t i = 0; i < addresses.size(); ++i) {
        expects(addresses[i] >= 0 && lengths[i] > 0 && lengths[i] <= image_bytes_ - addresses[i],
                "what is marked lies in the image");
        marker.add(units(addresses[i]), units(addresses[i] + lengths[i]));
    }
}

namespace {

// The first unit at or after `from` whose bit is `wanted`; `units` if there is none before that.
std::int64_t find(std::span<Coverage::Bits> words, std::int64_t from, std::int64_t units,
                  bool wanted) noexcept {
    std::uint64_t mask = all_bits << (from % bits_per_word);
    for (std::int64_t word = from / bits_per_word; word * bits_per_word < units; ++word) {
        const std::uint64_t value =
            words[static_cast<std::size_t>(word)].load(std::memory_order_relaxed);
        const std::uint64_t bits = (wanted ? value : ~value) & mask;
        if (bits != 0) {
            return std::min(units, word * bits_per_word + std::countr_zero(bits));
        }
        mask = all_bits;
    }
    return units;
}

}  // namespace

Coverage::Run Coverage::next_run(std::int64_t from) const noexcept {
    from = std::max<std::int64_t>(from, 0);
    if (from >= image_bytes_) {
        return Run{image_bytes_, 0};
    }
    const std::int64_t end = units(image_bytes_);
    const std::int64_t first = find(words_, from >> shift_, end, true);
    if (first == end) {
        return Run{image_bytes_, 0};
    }
    const std::int64_t last = find(words_, first, end, false);
    const std::int64_t begin = std::max(from, first << shift_);
    return Run{begin, std::min(last << shift_, image_bytes_) - begin};
}

bool Coverage::full() const noexcept {
    return image_bytes_ == 0 || find(words_, 0, units(image_bytes_), false) == units(image_bytes_);
}

std::int64_t Coverage::covered_bytes() const noexcept {
    std::int64_t bits = 0;
    for (const Bits& word : words_) {
        bits += std::popcount(word.load(std::memory_order_relaxed));
    }
    const std::int64_t end = units(image_bytes_);
    const bool last = end > 0 && find(words_, end - 1, end, true) < end;
    const std::int64_t beyond = (end << shift_) - image_bytes_;
    return (bits << shift_) - (last ? beyond : 0);
}

}  // namespace forebay::pattern
