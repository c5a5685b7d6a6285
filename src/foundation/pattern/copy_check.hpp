// For tests and fuzzers only: compares WindowedTransfer on arbitrary nests, window by window, with
// a byte-by-byte oracle.
#pragma once

#include "foundation/pattern/copy.hpp"
#include "foundation/pattern/oracle.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>

namespace forebay::pattern::oracle {

// A request, with the file offset and the index in `arena` of each of its bytes.
struct Case {
    View view;
    ViewRange request;
    Nest memory_nest;
    RankMemory memory;
    std::vector<std::byte> arena;
    std::vector<std::int64_t> offsets;
    std::vector<std::size_t> places;
};

inline std::byte value_of(std::size_t i) { return static_cast<std::byte>(1 + i * 7 % 251); }

inline std::optional<View> view_of(Choices& choices, const Sample& type) {
    const std::int64_t extent =
        type.nest.high() - type.nest.low() + (choices.below(2) == 0 ? 0 : choices.below(30));
    const std::int64_t displacement =
        std::max<std::int64_t>(0, -type.nest.low()) + choices.below(40);
    const auto view = View::make(Offset{displacement}, type.nest, Length{extent}, Length{1});
    return view.has_value() ? std::optional<View>{*view} : std::nullopt;
}

// Returns nullopt if the choices lead to an empty request.
inline std::optional<Case> make_case(Choices& choices, Order memory_order) {
    const Sample type = sample(choices, static_cast<int>(choices.below(6)), Order::ascending);
    const Sample memory = sample(choices, static_cast<int>(choices.below(6)), memory_order);
    if (type.bytes.empty() || memory.bytes.empty()) {
        return std::nullopt;
    }
    Case made;
    made.view = view_of(choices, type).value();
    made.request = ViewRange{choices.below(500), choices.below(3000)};
    for (std::int64_t i = 0; i < made.request.length; ++i) {
        made.offsets.push_back(made.view.offset_of(made.request.position + i).bytes());
    }
    const std::int64_t span = memory.nest.high() - memory.nest.low();
    made.memory.extent = memory_order == Order::any && choices.below(3) == 0
                             ? choices.between(-20, 40)
                             : span + (choices.below(2) == 0 ? 0 : choices.below(30));
    std::vector<std::int64_t> places;
    for (std::int64_t i = 0; i < made.request.length; ++i) {
        const auto size = static_cast<std::int64_t>(memory.bytes.size());
        places.push_back(i / size * made.memory.extent +
                         memory.bytes[static_cast<std::size_t>(i % size)]);
    }
    const std::int64_t low = places.empty() ? 0 : std::ranges::min(places);
    const std::int64_t high = places.empty() ? 0 : std::ranges::max(places) + 1;
    made.arena.resize(static_cast<std::size_t>(high - low) + 32);
    for (const std::int64_t place : places) {
        made.places.push_back(static_cast<std::size_t>(place - low) + 16);
    }
    // Absolute displacements (MPI_BOTTOM), or relative ones that may be negative.
    const auto base = reinterpret_cast<std::intptr_t>(made.arena.data()) + 16 - low;
    const bool absolute = choices.below(2) == 0;
    made.memory_nest = absolute ? Nest::shifted(memory.nest, base) : memory.nest;
    made.memory.base = absolute ? nullptr : reinterpret_cast<std::byte*>(base);
    return made;
}

// Cuts the file into windows at arbitrary places; each byte is in exactly one. Their order is
// arbitrary.
inline std::vector<Extent> windows_of(const Case& made, Choices& choices) {
    const std::int64_t end = made.offsets.empty() ? 10 : made.offsets.back() + 20;
    std::vector<Extent> windows;
    for (std::int64_t at = 0; at < end;) {
        const std::int64_t length =
            choices.below(3) == 1 ? choices.between(1, 64) : choices.between(300, 4000);
        windows.push_back(Extent{Offset{at}, Length{length}});
        at += length;
    }
    if (choices.below(2) == 0) {
        std::ranges::reverse(windows);
    }
    return windows;
}

inline std::int64_t unit_of(const Case& made, const Extent& window) {
    const auto cut = static_cast<std::uint64_t>(window.begin.bytes() | window.length.bytes());
    return std::min(made.view.granularity(made.request),
                    std::int64_t{1} << std::min(30, std::countr_zero(cut)));
}

// Gathers the window and compares image, gaps and coverage byte by byte with the oracle.
inline const char* wrong_with_gather(const Case& made, const Extent& window) {
    RankMemory memory = made.memory;
    memory.nest = &made.memory_nest;
    const WindowedTransfer transfer(made.view, made.request, memory);
    const auto size = window.length.size();
    std::vector<std::byte> expected(size, std::byte{0});
    std::vector<char> flags(size, 0);
    std::int64_t bytes = 0;
    for (std::size_t i = 0; i < made.offsets.size(); ++i) {
        const std::int64_t at = made.offsets[i] - window.begin.bytes();
        if (at >= 0 && at < window.length.bytes()) {
            expected[static_cast<std::size_t>(at)] = made.arena[made.places[i]];
            flags[static_cast<std::size_t>(at)] = 1;
            ++bytes;
        }
    }
    const std::int64_t unit = unit_of(made, window);
    const std::int64_t before = unit * 3;
    std::vector<Coverage::Bits> words(Coverage::words_for(before + window.length.bytes(), unit));
    Coverage coverage(words, before + window.length.bytes(), unit);
    coverage.clear();
    std::vector<std::byte> image(size, std::byte{0});
    if (transfer.gather(window, image, &coverage, before) != bytes || image != expected) {
        return "gather";
    }
    for (std::int64_t i = 0; i < window.length.bytes(); ++i) {
        const bool covered = coverage.next_run(before + i).begin == before + i &&
                             coverage.next_run(before + i).length > 0;
        if (covered != (flags[static_cast<std::size_t>(i)] != 0)) {
            return "coverage of gather";
        }
    }
    const std::int64_t covered = coverage.covered_bytes();
    coverage.clear();
    return transfer.mark(window, coverage, before) != bytes || coverage.covered_bytes() != covered
               ? "mark"
               : nullptr;
}

// Scatters an image that may be shorter than the window.
inline const char* wrong_with_scatter(const Case& made, const Extent& window,
                                      std::size_t image_bytes) {
    RankMemory memory = made.memory;
    memory.nest = &made.memory_nest;
    const WindowedTransfer transfer(made.view, made.request, memory);
    std::vector<std::byte> image(image_bytes);
    for (std::size_t i = 0; i < image.size(); ++i) {
        image[i] = value_of(i);
    }
    const std::vector<std::byte> before = made.arena;
    std::vector<std::byte> expected = before;
    const std::int64_t end =
        std::min(window.length.bytes(), static_cast<std::int64_t>(image_bytes));
    std::int64_t bytes = 0;
    for (std::size_t i = 0; i < made.offsets.size(); ++i) {
        const std::int64_t at = made.offsets[i] - window.begin.bytes();
        if (at >= 0 && at < end) {
            expected[made.places[i]] = image[static_cast<std::size_t>(at)];
            ++bytes;
        }
    }
    const bool right = transfer.scatter(window, image) == bytes && made.arena == expected;
    return right ? nullptr : "scatter";
}

// Compares all runs of the window byte by byte with the oracle.
inline const char* wrong_with_runs(const Case& made, const Extent& window) {
    RankMemory memory = made.memory;
    memory.nest = &made.memory_nest;
    const WindowedTransfer transfer(made.view, made.request, memory);
    std::array<MemoryRun, 3> runs;
    Extent rest = window;
    auto byte = static_cast<std::size_t>(
        std::ranges::lower_bound(made.offsets, window.begin.bytes()) - made.offsets.begin());
    while (const std::size_t count = transfer.runs(rest, runs)) {
        for (std::size_t i = 0; i < count; ++i) {
            for (std::int64_t k = 0; k < runs[i].length; ++k, ++byte) {
                if (byte >= made.offsets.size() || runs[i].at.bytes() + k != made.offsets[byte] ||
                    runs[i].bytes + k != made.arena.data() + made.places[byte]) {
                    return "runs";
                }
            }
        }
        const Offset begin = runs[count - 1].at + Length{runs[count - 1].length};
        rest = Extent{begin, window.end() - begin};
    }
    const bool all = byte == made.offsets.size() || made.offsets[byte] >= window.end().bytes();
    return all ? nullptr : "runs end early";
}

// The name of the first check that fails, or null.
inline const char* wrong_with(Case& made, Choices& choices) {
    for (std::size_t i = 0; i < made.arena.size(); ++i) {
        made.arena[i] = value_of(i);
    }
    for (const Extent& window : windows_of(made, choices)) {
        const std::int64_t image = choices.below(3) == 0 ? choices.between(0, window.length.bytes())
                                                         : window.length.bytes() + 5;
        const char* wrong = wrong_with_gather(made, window);
        wrong = wrong != nullptr ? wrong : wrong_with_runs(made, window);
        wrong = wrong != nullptr
                    ? wrong
                    : wrong_with_scatter(made, window, static_cast<std::size_t>(image));
        if (wrong != nullptr) {
            return wrong;
        }
    }
    return nullptr;
}

}  // namespace forebay::pattern::oracle
