// One table lists a platform's keys with their units; everything else follows from it.
#include "worlds/simgrid/platform.hpp"

#include "foundation/base/byte_size.hpp"
#include "foundation/base/contracts.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <fstream>
#include <functional>
#include <sstream>
#include <string_view>
#include <toml++/toml.h>
#include <utility>

namespace forebay::adapters {

namespace {

// Parses a time in s, ms, us or ns: "2 ms".
Result<double> seconds_in(const std::string& text) {
    constexpr std::array<std::pair<std::string_view, double>, 4> units{
        {{"s", 1.0}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}}};
    char* end = nullptr;
    const double number = std::strtod(text.c_str(), &end);
    std::string_view rest{end};
    rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
    for (const auto& [unit, factor] : units) {
        if (end != text.c_str() && rest == unit) {
            return number * factor;
        }
    }
    return failure({});
}

tl::unexpected<Error> refuse(const std::string& path, std::string_view key, std::string_view why,
                             std::string_view next) {
    return failure({ErrorCode::argument, 0,
                    fmt::format("cannot use the platform {}: {} ({}). {}", path, key, why, next)});
}

constexpr NumberBounds counts{1, 65536, true};
constexpr NumberBounds free_of_charge{0, 1e6, true};
constexpr NumberBounds rates{1, 1e15};
constexpr NumberBounds times{0, 3600};
constexpr NumberBounds factors{0, 1000};
constexpr NumberBounds shares{0, 1};
constexpr NumberBounds amounts{0, 1125899906842624.0, true};
constexpr NumberBounds stripes{4096, 1099511627776.0, true};  // the engine uses no smaller stripes

// A key of the file, the bounds of its value, and the member that it sets. An empty unit means a
// plain number.
struct NumberKey {
    const char* section;
    const char* name;
    const char* unit;
    NumberBounds bounds;
    std::function<void(MachinePlatform&, double)> put;

    [[nodiscard]] std::string full_name() const { return fmt::format("{}.{}", section, name); }
};

template <class Part>
std::function<void(MachinePlatform&, double)> into(Part MachinePlatform::* part,
                                                   double Part::* member) {
    return
        [part, member](MachinePlatform& platform, double value) { platform.*part.*member = value; };
}

template <class Part>
std::function<void(MachinePlatform&, double)> into(Part MachinePlatform::* part,
                                                   std::int64_t Part::* member) {
    return [part, member](MachinePlatform& platform, double value) {
        platform.*part.*member = std::llround(value);
    };
}

std::vector<NumberKey> keys() {
    using P = MachinePlatform;
    using N = NodePlatform;
    using C = ClientPlatform;
    using T = TargetPlatform;
    using M = MetadataPlatform;
    return {
        {"node", "count", "", counts, into(&P::node, &N::count)},
        {"node", "ranks", "", counts, into(&P::node, &N::ranks)},
        {"node", "link_rate", "B/s", rates, into(&P::node, &N::link_rate)},
        {"node", "link_latency", "s", times, into(&P::node, &N::link_latency)},
        {"node", "memory_rate", "B/s", rates, into(&P::node, &N::memory_rate)},
        {"node", "copy_rate", "B/s", rates, into(&P::node, &N::copy_rate)},
        {"node", "piece_time", "s", times, into(&P::node, &N::piece_time)},
        {"node", "message_time", "s", times, into(&P::node, &N::message_time)},
        {"node", "client_rate", "B/s", rates, into(&P::node, &N::client_rate)},
        {"node", "rank_send_rate", "B/s", rates, into(&P::node, &N::rank_send_rate)},
        {"node", "rank_receive_rate", "B/s", rates, into(&P::node, &N::rank_receive_rate)},
        {"client", "rpc", "B", stripes, into(&P::client, &C::rpc_bytes)},
        {"client", "rpcs_in_flight", "", counts, into(&P::client, &C::rpcs_in_flight)},
        {"client", "dirty", "B", stripes, into(&P::client, &C::dirty_bytes)},
        {"client", "read_ahead", "B", amounts, into(&P::client, &C::read_ahead)},
        {"client", "call_time", "s", times, into(&P::client, &C::call_time)},
        {"server", "count", "", counts, into(&P::server, &ServerPlatform::count)},
        {"server", "link_rate", "B/s", rates, into(&P::server, &ServerPlatform::link_rate)},
        {"server", "memory", "B", amounts, into(&P::server, &ServerPlatform::memory)},
        {"target", "count", "", counts, into(&P::target, &T::count)},
        {"target", "rate", "B/s", rates, into(&P::target, &T::rate)},
        {"target", "request_time", "s", times, into(&P::target, &T::request_time)},
        {"target", "interference_per_stream", "", factors,
         into(&P::target, &T::interference_per_stream)},
        {"target", "streams_free", "", free_of_charge, into(&P::target, &T::streams_free)},
        {"target", "interference_per_queued", "", factors,
         into(&P::target, &T::interference_per_queued)},
        {"target", "queued_free", "", free_of_charge, into(&P::target, &T::queued_free)},
        {"target", "lock_time", "s", times, into(&P::target, &T::lock_time)},
        {"target", "grant_time", "s", times, into(&P::target, &T::grant_time)},
        {"target", "jitter", "", shares, into(&P::target, &T::jitter)},
        {"target", "stripe", "B", stripes,
         [](MachinePlatform& platform, double value) {
             platform.stripe_bytes = std::llround(value);
         }},
        {"metadata", "threads", "", counts, into(&P::metadata, &M::threads)},
        {"metadata", "open_time", "s", times, into(&P::metadata, &M::open_time)},
        {"metadata", "close_time", "s", times, into(&P::metadata, &M::close_time)},
        {"metadata", "crowding", "", factors, into(&P::metadata, &M::crowding)},
        {"metadata", "object_time", "s", times, into(&P::metadata, &M::object_time)},
    };
}

NumberKey key_named(std::string_view name) {
    const std::vector<NumberKey> known = keys();
    const auto found = std::ranges::find(known, name, &NumberKey::full_name);
    expects(found != known.end(), "a platform has such a key");
    return *found;
}

Result<double> number_of(const toml::node& node, const char* unit) {
    if (*unit == '\0') {
        if (const auto number = node.value<double>(); number && node.is_number()) {
            return *number;
        }
        return failure({ErrorCode::argument, 0, "it has no unit: write a plain number"});
    }
    if (const auto text = node.value_exact<std::string>()) {
        return parse_quantity(*text, unit);
    }
    return failure(
        {ErrorCode::argument, 0, fmt::format("it is an amount: write it in quotes, in {}", unit)});
}

Result<void> take(const toml::table& file, const NumberKey& key, const std::string& path,
                  MachinePlatform& platform) {
    const std::string name = key.full_name();
    const toml::node* node = file[key.section][key.name].node();
    if (node == nullptr) {
        return refuse(path, name, "the key is missing",
                      R"(Write it as { value = …, source = "…" }.)");
    }
    const toml::table* entry = node->as_table();
    if (entry == nullptr || !entry->contains("value") || !entry->contains("source")) {
        return refuse(path, name, "it has no value or no source",
                      R"(Write { value = …, source = "…" }; the source may be "assumed: why".)");
    }
    for (const auto& [attribute, ignored] : *entry) {
        if (attribute.str() != "value" && attribute.str() != "source") {
            return refuse(path, fmt::format("{}.{}", name, attribute.str()), "there is no such key",
                          "Remove it or correct its name.");
        }
    }
    const Result<double> number = number_of(*entry->get("value"), key.unit);
    if (!number) {
        return refuse(path, name, number.error().message, "Correct the value.");
    }
    if (const auto right = key.bounds.check(*number); !right) {
        return refuse(path, name, right.error().message, "Correct the value.");
    }
    const auto source = entry->get("source")->value_or(std::string{});
    if (source.find_first_not_of(" \t") == std::string::npos) {
        return refuse(path, name, "its source is empty", R"(Name it, or write "assumed".)");
    }
    if (source.starts_with("assumed")) {
        platform.assumed.push_back(name);
    }
    key.put(platform, *number);
    return {};
}

// Reports unknown keys, which are mistakes.
Result<void> find_strangers(const toml::table& file, const std::string& path) {
    const std::vector<NumberKey> known = keys();
    constexpr std::array about{"schema", "name", "about"};
    for (const auto& [section, node] : file) {
        const toml::table* table = node.as_table();
        const bool of_file = std::ranges::find(about, section.str()) != about.end();
        const bool of_machine =
            std::ranges::find(known, section.str(), &NumberKey::section) != known.end();
        if (!of_file && !of_machine) {
            return refuse(path, std::string{section.str()}, "there is no such key",
                          "Remove it or correct its name.");
        }
        for (const auto& [name, value] : table == nullptr ? toml::table{} : *table) {
            const bool found = std::ranges::any_of(known, [&](const NumberKey& key) {
                return section.str() == key.section && name.str() == key.name;
            });
            if (!found) {
                return refuse(path, fmt::format("{}.{}", section.str(), name.str()),
                              "there is no such key", "Remove it or correct its name.");
            }
        }
    }
    return {};
}

}  // namespace

Result<void> NumberBounds::check(double value) const {
    const bool inside = value >= minimum && value <= maximum;  // false for nan
    if (inside && (!whole || std::trunc(value) == value)) {
        return {};
    }
    return failure({ErrorCode::argument, 0,
                    fmt::format("it must be a {} from {} to {}", whole ? "whole number" : "number",
                                minimum, maximum)});
}

Result<void> set_number(MachinePlatform& platform, std::string_view key, double value) {
    const NumberKey one = key_named(key);
    return one.bounds.check(value).map([&] { one.put(platform, value); });
}

std::string unit_of(std::string_view key) { return key_named(key).unit; }

Result<double> parse_quantity(const std::string& text, const std::string& unit) {
    const auto by_unit =
        unit == "B/s" ? parse_rate(text)
        : unit == "B"
            ? parse_size(text).map([](std::int64_t bytes) { return static_cast<double>(bytes); })
            : seconds_in(text);
    if (by_unit) {
        return by_unit;
    }
    const char* prefix = unit == "s" ? "m" : "M";
    return failure({ErrorCode::argument, 0,
                    fmt::format("\"{}\" is no amount in {}: write for example \"2 {}{}\"", text,
                                unit, prefix, unit)});
}

Result<MachinePlatform> parse_platform(const std::string& text, const std::string& path) {
    const toml::parse_result parsed = toml::parse(std::string_view{text});
    if (!parsed) {
        return refuse(path, fmt::format("line {}", parsed.error().source().begin.line),
                      parsed.error().description(), "Correct the TOML.");
    }
    const toml::table& file = parsed.table();
    if (file["schema"].value_or(std::string{}) != "forebay.platform/1") {
        return refuse(path, "schema", "it is not \"forebay.platform/1\"",
                      "This version reads no other.");
    }
    MachinePlatform platform;
    platform.name = file["name"].value_or(std::string{"nameless"});
    platform.about = file["about"].value_or(std::string{});
    for (const NumberKey& key : keys()) {
        if (const auto taken = take(file, key, path, platform); !taken) {
            return failure(taken.error());
        }
    }
    if (const auto none = find_strangers(file, path); !none) {
        return failure(none.error());
    }
    return platform;
}

Result<MachinePlatform> read_platform(const std::string& path) {
    std::ifstream file{path};
    if (!file) {
        return failure({ErrorCode::no_such_file, 0,
                        fmt::format("cannot read the platform {} (no such file, or no right to "
                                    "read it). Name one of platforms/*.toml.",
                                    path)});
    }
    std::ostringstream text;
    text << file.rdbuf();
    return parse_platform(text.str(), path);
}

}  // namespace forebay::adapters
