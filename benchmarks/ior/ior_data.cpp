// Generates IOR's data, and recognises it.
#include "benchmarks/ior/ior_data.hpp"

#include <algorithm>
#include <cstring>

namespace forebay::ior {

namespace {

using Word = std::uint64_t;

// Words: every 512th, that is one in 4 KiB, encodes the offset.
constexpr std::size_t marked_every = 512;
constexpr Word random_factor = 0x9e37fffffffc0001U;

// The next number of glibc's rand_r: the high 11, 10 and 10 bits of three steps of the C standard's
// linear congruential generator.
Word drawn(std::uint32_t& seed) noexcept {
    const auto step = [&seed](std::uint32_t bits) {
        seed = seed * 1103515245U + 12345U;
        return (seed >> 16U) % (1U << bits);
    };
    std::uint32_t number = step(11);
    number = (number << 10U) ^ step(10);
    return (number << 10U) ^ step(10);
}

Word signed_word(std::int32_t number) noexcept {
    return static_cast<Word>(static_cast<std::int64_t>(number));
}

std::uint32_t low(std::int64_t number) noexcept {
    return static_cast<std::uint32_t>(static_cast<Word>(number));
}

// Generates the words of a transfer in sequence.
class TransferWords {
public:
    TransferWords(const IorKey& key, Offset at) noexcept
        : key_(key), at_(at), task_(static_cast<Word>(key.task) << 32U) {
        auto seed = static_cast<std::uint32_t>(key.signature) + low(key.task);
        if (key.type == PacketType::incompressible) {
            const Word high = drawn(seed) << 32U;
            word_ = high | drawn(seed);
        } else if (key.type == PacketType::random) {
            seed += low(at.bytes());
            word_ = drawn(seed);
        }
    }

    Word next() noexcept {
        const Word index = index_++;
        if (key_.type == PacketType::random) {
            word_ = (word_ * random_factor) >> 3U;
            return word_;
        }
        if (key_.type != PacketType::timestamp && index % marked_every == 0) {
            const auto number = static_cast<std::uint32_t>(index / marked_every + 1);
            return task_ | (low(at_.bytes()) * number);
        }
        return key_.type == PacketType::incompressible
                   ? word_
                   : task_ | (signed_word(key_.signature) + index);
    }

private:
    IorKey key_;
    Offset at_;
    Word task_;
    Word word_ = 0;
    Word index_ = 0;
};

bool is_of(const IorKey& key, Offset at, std::span<const std::byte> got) noexcept {
    TransferWords words(key, at);
    for (; got.size() >= sizeof(Word); got = got.subspan(sizeof(Word))) {
        const Word word = words.next();
        if (std::memcmp(got.data(), &word, sizeof word) != 0) {
            return false;
        }
    }
    return true;
}

Word word_of(std::span<const std::byte> got, std::size_t index) noexcept {
    Word word = 0;
    std::memcpy(&word, got.data() + index * sizeof word, sizeof word);
    return word;
}

// In random data each word determines the next one, so the check needs no seed.
bool is_random(std::span<const std::byte> got) noexcept {
    Word word = word_of(got, 0);
    for (std::size_t i = 1; i < got.size() / sizeof word; ++i) {
        word = (word * random_factor) >> 3U;
        if (word != word_of(got, i)) {
            return false;
        }
    }
    return word != 0;
}

// In incompressible data all words but the marked ones are equal.
bool is_incompressible(std::int64_t task, Offset at, std::span<const std::byte> got) noexcept {
    TransferWords marks({PacketType::offset, 0, task}, at);
    const Word same = word_of(got, 1);
    for (std::size_t i = 0; i < got.size() / sizeof same; ++i) {
        const Word mark = marks.next();
        if (word_of(got, i) != (i % marked_every == 0 ? mark : same)) {
            return false;
        }
    }
    return same != 0;
}

}  // namespace

void fill_as_ior(const IorKey& key, Offset at, std::span<std::byte> to) noexcept {
    TransferWords words(key, at);
    while (!to.empty()) {
        const Word word = words.next();
        const std::size_t count = std::min(to.size(), sizeof word);
        std::memcpy(to.data(), &word, count);
        to = to.subspan(count);
    }
}

std::optional<IorKey> ior_key_of(std::int64_t task, Offset at,
                                 std::span<const std::byte> got) noexcept {
    got = got.first(std::min(got.size(), 2 * marked_every * sizeof(Word)));
    if (got.size() < 4 * sizeof(Word)) {
        return std::nullopt;
    }
    const auto signature =
        static_cast<std::int32_t>(low(static_cast<std::int64_t>(word_of(got, 1))) - 1U);
    for (const PacketType type : {PacketType::timestamp, PacketType::offset}) {
        const IorKey key{type, signature, task};
        if (is_of(key, at, got)) {
            return key;
        }
    }
    if (is_random(got)) {
        return IorKey{PacketType::random, 0, task};
    }
    return is_incompressible(task, at, got)
               ? std::optional(IorKey{PacketType::incompressible, 0, task})
               : std::nullopt;
}

}  // namespace forebay::ior
