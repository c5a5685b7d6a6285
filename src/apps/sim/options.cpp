// Every key is a row of a table.
#include "apps/sim/options.hpp"

#include "apps/sim/variants.hpp"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <functional>

namespace forebay::sim {

namespace {

tl::unexpected<Error> refuse(const std::string& word, const std::string& why) {
    return failure(
        {ErrorCode::argument, 0,
         fmt::format("cannot use \"{}\" ({}). See forebay simulate --help.", word, why)});
}

Result<double> number(const std::string& text) {
    double value = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (code == std::errc{} && end == text.data() + text.size() && value >= 0) {
        return value;
    }
    return adapters::parse_quantity(text, "B");
}

struct Key {
    const char* name;
    std::function<void(Experiment&, double)> put;
};

template <class Place>
Key whole(const char* name, Place place) {
    return {name, [place](Experiment& experiment, double value) {
                using Number = std::remove_reference_t<decltype(place(experiment))>;
                place(experiment) = static_cast<Number>(value);
            }};
}

std::vector<Key> keys() {
    using E = Experiment;
    return {
        whole("nodes", [](E& e) -> auto& { return e.platform.node.count; }),
        whole("ranks_per_node", [](E& e) -> auto& { return e.platform.node.ranks; }),
        whole("targets", [](E& e) -> auto& { return e.platform.target.count; }),
        whole("servers", [](E& e) -> auto& { return e.platform.server.count; }),
        whole("stripe_bytes", [](E& e) -> auto& { return e.platform.stripe_bytes; }),
        whole("interference_per_stream",
              [](E& e) -> auto& { return e.platform.target.interference_per_stream; }),
        whole("interference_per_queued",
              [](E& e) -> auto& { return e.platform.target.interference_per_queued; }),
        whole("jitter", [](E& e) -> auto& { return e.platform.target.jitter; }),
        whole("message_time", [](E& e) -> auto& { return e.platform.node.message_time; }),
        whole("rank_message_time", [](E& e) -> auto& { return e.platform.node.rank_message_time; }),
        whole("request_time", [](E& e) -> auto& { return e.platform.target.request_time; }),
        whole("copy_rate", [](E& e) -> auto& { return e.platform.node.copy_rate; }),
        whole("aggregators_per_target",
              [](E& e) -> auto& { return e.tuning.aggregators_per_target; }),
        whole("memory_rate", [](E& e) -> auto& { return e.platform.node.memory_rate; }),
        whole("link_rate", [](E& e) -> auto& { return e.platform.node.link_rate; }),
        whole("target_rate", [](E& e) -> auto& { return e.platform.target.rate; }),
        whole("streams_free", [](E& e) -> auto& { return e.platform.target.streams_free; }),
        whole("queued_free", [](E& e) -> auto& { return e.platform.target.queued_free; }),
        whole("cb_nodes", [](E& e) -> auto& { return e.tuning.aggregators_max; }),
        whole("cb_buffer_size", [](E& e) -> auto& { return e.tuning.window_bytes; }),
        whole("buffers", [](E& e) -> auto& { return e.tuning.buffers; }),
        whole("staging_bytes_max", [](E& e) -> auto& { return e.tuning.staging_bytes_max; }),
        whole("requests_in_flight", [](E& e) -> auto& { return e.tuning.requests_in_flight; }),
        whole("request_bytes_max", [](E& e) -> auto& { return e.tuning.request_bytes_max; }),
        whole("per_node", [](E& e) -> auto& { return e.per_node; }),
        whole("region_count", [](E& e) -> auto& { return e.regions.count; }),
        whole("region_bytes", [](E& e) -> auto& { return e.regions.bytes; }),
        whole("region_spacing", [](E& e) -> auto& { return e.regions.spacing; }),
        whole("calls", [](E& e) -> auto& { return e.calls; }),
        whole("seed", [](E& e) -> auto& { return e.seed; }),
        whole("sick_target", [](E& e) -> auto& { return e.sickness.target; }),
        whole("sick_slower", [](E& e) -> auto& { return e.sickness.slower; }),
        whole("sick_error_from", [](E& e) -> auto& { return e.sickness.error_from; }),
        whole("ranks_alone", [](E& e) -> auto& { return e.ranks_alone; }),
        whole("read", [](E& e) -> auto& { return e.read; }),
        whole("verify", [](E& e) -> auto& { return e.verify; }),
    };
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
    const std::vector<Key> known = keys();
    const auto key = std::ranges::find(known, name, [](const Key& one) { return one.name; });
    if (key == known.end()) {
        return refuse(word, "there is no such key");
    }
    const Result<double> value = number(text);
    if (!value) {
        return refuse(word, value.error().message);
    }
    key->put(experiment, *value);
    return {};
}

}  // namespace

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
    return experiment;
}

}  // namespace forebay::sim
