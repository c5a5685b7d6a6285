// Every key is a row of a table.
#include "simulate/options.hpp"

#include "plan/plan.hpp"
#include "simulate/variants.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <fmt/format.h>
#include <functional>

namespace forebay::sim {

namespace {

using adapters::Bounds;

tl::unexpected<Error> refuse(const std::string& word, const std::string& why) {
    return failure(
        {ErrorCode::argument, 0,
         fmt::format("cannot use \"{}\" ({}). See forebay simulate --help.", word, why)});
}

Result<double> number(const std::string& text, const std::string& unit) {
    double value = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (code == std::errc{} && end == text.data() + text.size()) {
        return value;
    }
    if (unit.empty()) {
        return failure({ErrorCode::argument, 0, "it is no number"});
    }
    return adapters::parse_quantity(text, unit);
}

// A word that changes a number of the platform, and that number's name there.
struct PlatformKey {
    const char* name;
    const char* number;
    const char* meaning;
};

constexpr std::array<PlatformKey, 19> platform_keys{{
    {"nodes", "node.count", "nodes that compute"},
    {"ranks_per_node", "node.ranks", "ranks on each"},
    {"link_rate", "node.link_rate", "of a node's interface, as in 2GB/s"},
    {"memory_rate", "node.memory_rate", "copying by all ranks of a node together"},
    {"copy_rate", "node.copy_rate", "copying by one rank"},
    {"message_time", "node.message_time", "a message costs so much at both ends, as in 3us"},
    {"rank_send_rate", "node.rank_send_rate", "sending by one rank where every rank is alone"},
    {"rank_receive_rate", "node.rank_receive_rate", "taking in by one rank, likewise"},
    {"client_rate", "node.client_rate", "writing by one rank into the file system's client"},
    {"servers", "server.count", "storage servers"},
    {"targets", "target.count", "storage targets, over all servers"},
    {"target_rate", "target.rate", "of a target, as in 500MB/s"},
    {"request_time", "target.request_time", "a request costs a target so much"},
    {"interference_per_stream", "target.interference_per_stream",
     "slows a target for each client past streams_free"},
    {"streams_free", "target.streams_free", "clients that a target serves at full speed"},
    {"interference_per_queued", "target.interference_per_queued",
     "slows a target for each request past queued_free"},
    {"queued_free", "target.queued_free", "requests that may wait at a target at full speed"},
    {"jitter", "target.jitter", "a target's times vary by this share, 0 to 1"},
    {"stripe_bytes", "target.stripe", "stripe size of the file, as in 1MiB"},
}};

struct Named {
    const char* name;
    const char* meaning;
};

// Any other word.
struct Key {
    Named named;
    const char* unit;
    Bounds bounds;
    std::function<void(Experiment&, double)> put;
};

template <class Place>
Key plain(const Named& named, const Bounds& bounds, Place place) {
    return {named, "", bounds, [place](Experiment& experiment, double value) {
                using Number = std::remove_reference_t<decltype(place(experiment))>;
                place(experiment) = static_cast<Number>(value);
            }};
}

template <class Place>
Key bytes(const Named& named, const Bounds& bounds, Place place) {
    Key key = plain(named, bounds, place);
    key.unit = "B";
    return key;
}

constexpr double kibibyte = 1024;
constexpr double gibibyte = 1024 * 1024 * kibibyte;
constexpr double tebibyte = 1024 * gibibyte;

// Settings have the bounds of schema/settings.toml, but for buffers: the published have one.
std::vector<Key> keys() {
    using E = Experiment;
    constexpr Bounds yes_or_no{0, 1, true};
    constexpr Bounds lengths{0, tebibyte, true};
    constexpr Bounds windows{64 * kibibyte, gibibyte, true};
    constexpr Bounds staging{4096 * kibibyte, 64 * gibibyte, true};
    return {
        plain({"aggregators_per_target", "aggregators that share a target"}, {1, 1024, true},
              [](E& e) -> auto& { return e.tuning.aggregators_per_target; }),
        plain({"cb_nodes", "aggregators at most; 0: as many as fit"}, {0, 1048576, true},
              [](E& e) -> auto& { return e.tuning.aggregators_max; }),
        bytes({"cb_buffer_size", "an aggregator's window, as in 4MiB"}, windows,
              [](E& e) -> auto& { return e.tuning.window_bytes; }),
        plain({"buffers", "windows that an aggregator has"}, {1, 64, true},
              [](E& e) -> auto& { return e.tuning.buffers; }),
        bytes({"staging_bytes_max", "memory for staging on each node"}, staging,
              [](E& e) -> auto& { return e.tuning.staging_bytes_max; }),
        plain({"requests_in_flight", "requests a target has at a time (k); 0: found"},
              {0, plan::unlimited_requests_in_flight, true},
              [](E& e) -> auto& { return e.tuning.requests_in_flight; }),
        bytes({"request_bytes_max", "largest request"}, windows,
              [](E& e) -> auto& { return e.tuning.request_bytes_max; }),
        plain({"per_node", "aggregators on a node at most"}, {1, 65536, true},
              [](E& e) -> auto& { return e.per_node; }),
        plain({"region_count", "regions of each rank a call"}, {0, 1e12, true},
              [](E& e) -> auto& { return e.regions.count; }),
        bytes({"region_bytes", "bytes of a region"}, {1, tebibyte, true},
              [](E& e) -> auto& { return e.regions.bytes; }),
        bytes({"region_spacing", "bytes between regions that nobody writes"}, lengths,
              [](E& e) -> auto& { return e.regions.spacing; }),
        plain({"calls", "collective calls, one after the other"}, {1, 1e6, true},
              [](E& e) -> auto& { return e.calls; }),
        plain({"seed", "of what is random; the same gives the same times"}, {0, 1e15, true},
              [](E& e) -> auto& { return e.seed; }),
        plain({"sick_target", "the target that is ill, from 0; -1: none"}, {-1, 65535, true},
              [](E& e) -> auto& { return e.sickness.target; }),
        plain({"sick_slower", "its requests take so many times as long"}, {1, 1e6},
              [](E& e) -> auto& { return e.sickness.slower; }),
        plain({"sick_error_from", "it fails from this second on; -1: never"}, {-1, 1e9},
              [](E& e) -> auto& { return e.sickness.error_from; }),
        plain({"ranks_alone", "1: every rank is a node of its own"}, yes_or_no,
              [](E& e) -> auto& { return e.ranks_alone; }),
        plain({"blocking", "1: a rank does nothing else while it writes, as in pwrite"}, yes_or_no,
              [](E& e) -> auto& { return e.blocking; }),
        plain({"read", "1: reads instead of writing"}, yes_or_no,
              [](E& e) -> auto& { return e.read; }),
        plain({"verify", "1: writes real bytes, reads them back, compares"}, yes_or_no,
              [](E& e) -> auto& { return e.verify; }),
    };
}

Result<void> put(const std::string& name, const std::string& text, Experiment& experiment) {
    const auto* of_platform = std::ranges::find(platform_keys, name, &PlatformKey::name);
    if (of_platform != platform_keys.end()) {
        return number(text, adapters::unit_of(of_platform->number)).and_then([&](double value) {
            return adapters::set_number(experiment.platform, of_platform->number, value);
        });
    }
    const std::vector<Key> known = keys();
    const auto found =
        std::ranges::find(known, name, [](const Key& key) { return key.named.name; });
    if (found == known.end()) {
        return failure({ErrorCode::argument, 0, "there is no such key"});
    }
    return number(text, found->unit).and_then([&](double value) {
        return found->bounds.check(value).map([&] { found->put(experiment, value); });
    });
}

Result<void> take(const std::string& word, Experiment& experiment) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos) {
        return refuse(word, "it is not key=value");
    }
    const std::string name = word.substr(0, equals);
    const std::string text = word.substr(equals + 1);
    if (name == "variant") {
        return apply_variant(text, experiment);
    }
    const auto done = put(name, text, experiment);
    return done ? done : refuse(word, done.error().message);
}

// Numbers may be right alone and not together.
Result<void> check_ranks(const Experiment& experiment) {
    constexpr std::int64_t ranks_max = 65536;
    constexpr std::int64_t nodes_max = 8192;  // each holds 192 bytes of each: together 13 GB
    const adapters::NodePlatform& node = experiment.platform.node;
    const std::int64_t ranks = ranks_of(experiment);
    const bool too_many = (experiment.ranks_alone ? ranks : node.count) > nodes_max;
    if (ranks > ranks_max || too_many) {
        return refuse(fmt::format("nodes={} ranks_per_node={}", node.count, node.ranks),
                      fmt::format("there may be {} ranks on {} nodes, or {} that are alone",
                                  ranks_max, nodes_max, nodes_max));
    }
    if (!experiment.ranks_alone && experiment.mapping != adapters::RankMapping::by_block) {
        return refuse("ranks_alone=0",
                      fmt::format("in variant={} every rank is alone", experiment.variant));
    }
    return {};
}

Result<void> check_targets(const Experiment& experiment) {
    const std::int64_t targets = experiment.platform.target.count;
    const adapters::Sickness& sickness = experiment.sickness;
    if (sickness.target >= targets) {
        return refuse(fmt::format("sick_target={}", sickness.target),
                      fmt::format("there are {}, and the first is 0", targets));
    }
    if (sickness.target < 0 && sickness.slower != 1) {
        return refuse(fmt::format("sick_slower={}", sickness.slower), "sick_target is missing");
    }
    if (sickness.target < 0 && sickness.error_from >= 0) {
        return refuse(fmt::format("sick_error_from={}", sickness.error_from),
                      "sick_target is missing");
    }
    return {};
}

Result<void> check_verify(const Experiment& experiment) {
    return experiment.verify && experiment.read
               ? refuse("verify=1 read=1",
                        "only what was written before can be compared: without "
                        "read=1 it is written and read back")
               : Result<void>{};
}

Result<void> check_staging(const Experiment& experiment) {
    constexpr double mapped_bytes_max = 64 * tebibyte;       // half of a process's addresses
    constexpr std::int64_t staged_for_a_window = 128 << 10;  // the smallest window, with its marks
    const plan::Tuning& tuning = experiment.tuning;
    const std::int64_t locals = experiment.ranks_alone ? 1 : experiment.platform.node.ranks;
    const std::int64_t windows =
        std::min<std::int64_t>(locals, experiment.per_node) * std::min(tuning.buffers, 3) +
        plan::staged_for_others;
    const Bounds bounds{
        static_cast<double>(windows * staged_for_a_window),
        mapped_bytes_max * static_cast<double>(locals) / static_cast<double>(ranks_of(experiment)),
        true};
    const auto right = bounds.check(static_cast<double>(tuning.staging_bytes_max));
    return right ? right
                 : refuse(fmt::format("staging_bytes_max={}", tuning.staging_bytes_max),
                          fmt::format("with these nodes and per_node={} {}", experiment.per_node,
                                      right.error().message));
}

Result<void> check_file(const Experiment& experiment) {
    constexpr double file_bytes_max = 1024 * tebibyte;
    constexpr double verified_bytes_max = gibibyte;  // they are in this machine's memory, twice
    const Regions& regions = experiment.regions;
    const double bytes = static_cast<double>(regions.bytes + regions.spacing) *
                         static_cast<double>(regions.count) * experiment.calls *
                         static_cast<double>(ranks_of(experiment));
    const double most = experiment.verify ? verified_bytes_max : file_bytes_max;
    if (bytes > most) {
        return refuse(fmt::format("region_count={} region_bytes={} region_spacing={}",
                                  regions.count, regions.bytes, regions.spacing),
                      fmt::format("the file would have {} bytes; {} are the most{}", bytes, most,
                                  experiment.verify ? " with verify=1" : ""));
    }
    return {};
}

}  // namespace

std::string help() {
    std::string text =
        "forebay_sim platform=FILE [variant=NAME] [KEY=VALUE]...\n"
        "Simulates one experiment and prints it as JSON; `forebay simulate` shows it.\n\n";
    const auto add = [&](const char* name, const char* meaning) {
        text += fmt::format("  {:<25}{}\n", name, meaning);
    };
    for (const PlatformKey& key : platform_keys) {
        add(key.name, key.meaning);
    }
    for (const Key& key : keys()) {
        add(key.named.name, key.named.meaning);
    }
    return text;
}

Result<Experiment> parse_options(const std::vector<std::string>& words) {
    constexpr std::string_view first = "platform=";
    if (words.empty() || !words.front().starts_with(first)) {
        return refuse(words.empty() ? "" : words.front(), "the first word names the platform");
    }
    auto platform = adapters::read_platform(words.front().substr(first.size()));
    if (!platform) {
        return failure(platform.error());
    }
    Experiment experiment;
    experiment.platform = *std::move(platform);
    for (std::size_t i = 1; i < words.size(); ++i) {
        if (const auto taken = take(words[i], experiment); !taken) {
            return failure(taken.error());
        }
    }
    return check_ranks(experiment)
        .and_then([&] { return check_targets(experiment); })
        .and_then([&] { return check_verify(experiment); })
        .and_then([&] { return check_staging(experiment); })
        .and_then([&] { return check_file(experiment); })
        .map([&] { return std::move(experiment); });
}

}  // namespace forebay::sim
