// Parses patterns.
#include "benchmarks/hpio/grammar.hpp"

#include "benchmarks/command_line/options.hpp"
#include "benchmarks/hpio/words.hpp"
#include "benchmarks/measure/byte_units.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <optional>

namespace forebay::hpio {

namespace {

using Keys = std::map<std::string, std::string, std::less<>>;

Result<Numbers> range(std::string_view text, std::size_t dots) {
    const std::size_t star = text.find('*', dots);
    const auto first = measure::parse_size(text.substr(0, dots));
    const auto last = measure::parse_size(text.substr(dots + 2, star - dots - 2));
    const auto factor = star == std::string_view::npos ? Result<std::int64_t>(2)
                                                       : measure::parse_size(text.substr(star + 1));
    if (!first || !last || !factor || *first < 1 || *factor < 2 || *last < *first) {
        return wrong(
            fmt::format("no such range \"{}\" (it is FIRST..LAST*FACTOR). Write 4..4096*4.", text));
    }
    Numbers numbers;
    for (std::int64_t value = *first; value <= *last; value *= *factor) {
        numbers.push_back(value);
        if (value > *last / *factor) {
            break;
        }
    }
    return numbers;
}

Result<Keys> keys_of(std::string_view text, const std::vector<std::string_view>& known) {
    Keys keys;
    if (text.empty()) {
        return keys;
    }
    for (const std::string& part : command_line::split(text, ',')) {
        const std::size_t equals = part.find('=');
        const std::string key = part.substr(0, equals);
        const bool is_known = std::find(known.begin(), known.end(), key) != known.end();
        if (equals == std::string::npos || !is_known || keys.contains(key)) {
            return wrong(
                fmt::format("the pattern's \"{}\" means nothing here (known once each: "
                            "{}). Write KEY=VALUE with one of them.",
                            part, fmt::join(known, ", ")));
        }
        keys[key] = part.substr(equals + 1);
    }
    return keys;
}

Result<Numbers> values_of(const Keys& keys, std::string_view key, std::int64_t initial) {
    const auto found = keys.find(key);
    return found == keys.end() ? Result<Numbers>(Numbers{initial}) : parse_values(found->second);
}

Result<std::vector<PatternShape>> shapes_of(const Keys& keys, std::string_view key) {
    const auto found = keys.find(key);
    std::vector<PatternShape> shapes;
    const std::string text = found == keys.end() ? "nc" : found->second;
    for (const std::string& word : command_line::split(text, '|')) {
        if (word != "c" && word != "nc") {
            return wrong(
                fmt::format("{} cannot be \"{}\" (c: contiguous, nc: non-contiguous). "
                            "Write c, nc or c|nc.",
                            key, word));
        }
        shapes.push_back(word == "c" ? PatternShape::contiguous : PatternShape::noncontiguous);
    }
    return shapes;
}

Result<std::vector<Pattern>> regions_of(std::string_view text) {
    const auto keys = keys_of(text, {"count", "size", "space", "mem", "file"});
    if (!keys) {
        return failure(keys.error());
    }
    const RegionPattern initial;
    const auto counts = values_of(*keys, "count", initial.count);
    const auto sizes = values_of(*keys, "size", initial.size_bytes);
    const auto spaces = values_of(*keys, "space", initial.spacing_bytes);
    for (const auto* numbers : {&counts, &sizes, &spaces}) {
        if (!*numbers) {
            return failure(numbers->error());
        }
    }
    const auto memories = shapes_of(*keys, "mem");
    const auto files = shapes_of(*keys, "file");
    if (!memories || !files) {
        return failure(memories ? files.error() : memories.error());
    }
    if (counts->size() * sizes->size() * spaces->size() * memories->size() * files->size() >
        points_max) {
        return wrong(
            fmt::format("too many points (more than {}). Sweep less at a time.", points_max));
    }
    std::vector<Pattern> patterns;
    for (const PatternShape memory : *memories) {
        for (const PatternShape file : *files) {
            for (const std::int64_t count : *counts) {
                for (const std::int64_t size : *sizes) {
                    for (const std::int64_t space : *spaces) {
                        patterns.emplace_back(RegionPattern{.count = count,
                                                            .size_bytes = size,
                                                            .spacing_bytes = space,
                                                            .memory = memory,
                                                            .file = file});
                    }
                }
            }
        }
    }
    return patterns;
}

// Parses a tuple such as "360x180x50"; nullopt if the key is not given.
Result<std::optional<Numbers>> tuple_of(const Keys& keys, std::string_view key,
                                        std::size_t dimensions) {
    const auto found = keys.find(key);
    if (found == keys.end()) {
        return std::nullopt;
    }
    Numbers numbers;
    for (const std::string& word : command_line::split(found->second, 'x')) {
        const auto number = measure::parse_size(word);
        if (!number || *number < 0) {
            return wrong(fmt::format("{}={} is no list of numbers (\"{}\"). Write {}=360x180x50.",
                                     key, found->second, word, key));
        }
        numbers.push_back(*number);
    }
    if (dimensions != 0 && numbers.size() != dimensions) {
        return wrong(
            fmt::format("{}={} has {} dimensions, the shape has {}. Give one number for "
                        "each.",
                        key, found->second, numbers.size(), dimensions));
    }
    return numbers;
}

Result<void> spread_over(std::vector<ArrayDimension>& dimensions, const Keys& keys,
                         std::string_view key, void (*put)(ArrayDimension&, std::int64_t)) {
    const auto numbers = tuple_of(keys, key, dimensions.size());
    if (!numbers) {
        return failure(numbers.error());
    }
    if (*numbers) {
        for (std::size_t at = 0; at < dimensions.size(); ++at) {
            put(dimensions[at], (**numbers)[at]);
        }
    }
    return {};
}

Result<std::vector<Pattern>> array_of(std::string_view kind, std::string_view text) {
    std::vector<std::string_view> known{"shape", "grid", "element"};
    if (kind != "block") {
        known.insert(known.end(), {"start", "part"});
        known.push_back(kind == "cyclic" ? "block" : "halo");
    }
    const auto keys = keys_of(text, known);
    if (!keys) {
        return failure(keys.error());
    }
    const auto shape = tuple_of(*keys, "shape", 0);
    if (!shape || !*shape) {
        return shape ? wrong(fmt::format("{} lacks its shape. Write {}:shape=360x180.", kind, kind))
                     : failure(shape.error());
    }
    ArrayPattern array;
    for (const std::int64_t size : **shape) {
        array.dimensions.push_back(
            {.size = size, .count = size, .block = kind == "cyclic" ? 1 : 0});
    }
    const auto element = values_of(*keys, "element", array.element_bytes);
    if (!element || element->size() != 1) {
        return wrong("no such element. Write the bytes of one, as in element=8.");
    }
    array.element_bytes = element->front();
    using Put = void (*)(ArrayDimension&, std::int64_t);
    const std::vector<std::pair<std::string_view, Put>> puts{
        {"grid",
         [](ArrayDimension& to, std::int64_t n) { to.ranks = static_cast<std::int32_t>(n); }},
        {"start",
         [](ArrayDimension& to, std::int64_t n) {
             to.start = n;
             to.count = to.size - n;
         }},
        {"part", [](ArrayDimension& to, std::int64_t n) { to.count = n; }},
        {"block", [](ArrayDimension& to, std::int64_t n) { to.block = n; }},
        {"halo", [](ArrayDimension& to, std::int64_t n) { to.halo = n; }},
    };
    for (const auto& [key, put] : puts) {
        if (auto fine = spread_over(array.dimensions, *keys, key, put); !fine) {
            return failure(fine.error());
        }
    }
    return std::vector<Pattern>{array};
}

}  // namespace

Result<Numbers> parse_values(std::string_view text) {
    Numbers all;
    for (const std::string& part : command_line::split(text, '|')) {
        const std::size_t dots = part.find("..");
        if (dots != std::string::npos) {
            const auto numbers = range(part, dots);
            if (!numbers) {
                return failure(numbers.error());
            }
            all.insert(all.end(), numbers->begin(), numbers->end());
            continue;
        }
        const auto number = measure::parse_size(part);
        if (!number) {
            return failure(number.error());
        }
        all.push_back(*number);
    }
    return all;
}

Result<std::vector<Pattern>> parse_patterns(std::string_view text) {
    const std::size_t colon = text.find(':');
    const std::string_view kind = text.substr(0, colon);
    const std::string_view keys =
        colon == std::string_view::npos ? std::string_view{} : text.substr(colon + 1);
    if (kind == "hpio") {
        return regions_of(keys);
    }
    if (kind == "block" || kind == "subarray" || kind == "cyclic") {
        return array_of(kind, keys);
    }
    return wrong(
        fmt::format("unknown pattern \"{}\" (known: hpio, block, subarray, cyclic). Write "
                    "hpio:count=1024,size=1k,space=128 or block:shape=360x180.",
                    kind));
}

}  // namespace forebay::hpio
