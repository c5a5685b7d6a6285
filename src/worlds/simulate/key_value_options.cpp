#include "worlds/simulate/key_value_options.hpp"

#include <array>
#include <charconv>
#include <fmt/format.h>
#include <string_view>

namespace forebay::sim {

namespace {

// A word that changes a number of the platform, and that number's name there.
struct PlatformKey {
    const char* name;
    const char* number;
    const char* meaning;
};

constexpr std::array<PlatformKey, 28> platform_keys{{
    {"nodes", "node.count", "nodes that compute"},
    {"ranks_per_node", "node.ranks", "ranks on each"},
    {"link_rate", "node.link_rate", "of a node's interface, as in 2GB/s"},
    {"memory_rate", "node.memory_rate", "copying by all ranks of a node together"},
    {"copy_rate", "node.copy_rate", "copying by one rank"},
    {"message_time", "node.message_time", "a message costs so much at both ends, as in 3us"},
    {"rank_send_rate", "node.rank_send_rate", "sending by one rank where every rank is alone"},
    {"rank_receive_rate", "node.rank_receive_rate", "taking in by one rank, likewise"},
    {"client_rate", "node.client_rate", "writing by one rank into the file system's client"},
    {"rpc_bytes", "client.rpc", "largest request of a node's client, as in 4MiB"},
    {"rpcs_in_flight", "client.rpcs_in_flight", "of a node's client at a target"},
    {"dirty_bytes", "client.dirty", "that a node's client holds back for a target"},
    {"read_ahead", "client.read_ahead", "by a node's client, for all its ranks together"},
    {"call_time", "client.call_time", "of a node's client, a call and each stripe of it"},
    {"servers", "server.count", "storage servers"},
    {"server_memory", "server.memory", "of each, for what nodes' clients have read"},
    {"targets", "target.count", "storage targets, over all servers"},
    {"target_rate", "target.rate", "of a target, as in 500MB/s"},
    {"request_time", "target.request_time", "a request costs a target so much"},
    {"interference_per_stream", "target.interference_per_stream",
     "slows a target for each client past streams_free"},
    {"streams_free", "target.streams_free", "clients that a target serves at full speed"},
    {"interference_per_queued", "target.interference_per_queued",
     "slows a target for each request past queued_free"},
    {"queued_free", "target.queued_free", "requests that may wait at a target at full speed"},
    {"lock_time", "target.lock_time", "a lock that another one has costs so much, as in 1ms"},
    {"grant_time", "target.grant_time", "a node's client waits so long for a lock that is free"},
    {"jitter", "target.jitter", "a target's times vary by this share, 0 to 1"},
    {"stripe_bytes", "target.stripe", "stripe size of the file, as in 1MiB"},
    {"object_time", "metadata.object_time", "making a file costs so much for each of its stripes"},
}};

}  // namespace

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

std::vector<Named> platform_words() {
    std::vector<Named> words;
    words.reserve(platform_keys.size());
    for (const PlatformKey& key : platform_keys) {
        words.push_back({key.name, key.meaning});
    }
    return words;
}

std::optional<Result<void>> put_platform(const std::string& name, const std::string& text,
                                         adapters::Platform& platform) {
    const auto* key = std::ranges::find(platform_keys, name, &PlatformKey::name);
    if (key == platform_keys.end()) {
        return std::nullopt;
    }
    return number(text, adapters::unit_of(key->number)).and_then([&](double value) {
        return adapters::set_number(platform, key->number, value);
    });
}

Result<Word> split(const std::string& word) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos) {
        return refuse(word, "it is not key=value");
    }
    return Word{word.substr(0, equals), word.substr(equals + 1)};
}

Result<adapters::Platform> first_word(const std::vector<std::string>& words) {
    constexpr std::string_view first = "platform=";
    if (words.empty() || !words.front().starts_with(first)) {
        return refuse(words.empty() ? "" : words.front(), "the first word names the platform");
    }
    return adapters::read_platform(words.front().substr(first.size()));
}

std::string listed(const std::vector<Named>& words) {
    std::string text;
    for (const Named& word : words) {
        text += fmt::format("  {:<25}{}\n", word.name, word.meaning);
    }
    return text;
}

}  // namespace forebay::sim
