// Encodes the record's lines as JSON and appends them to its file.
#include "foundation/record/lines.hpp"

#include "foundation/base/own_fd.hpp"
#include "foundation/kernel/calls.hpp"
#include "foundation/kernel/own_files.hpp"

#include <cerrno>
#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace forebay::record {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* schema = "forebay.record/1";

double seconds(std::int64_t nanoseconds) noexcept {
    return static_cast<double>(nanoseconds) * 1e-9;
}

Json json_of(const FileTraffic& traffic) {
    return {{"calls", traffic.calls},
            {"bytes", traffic.bytes},
            {"rounds", traffic.rounds},
            {"requests", traffic.requests},
            {"bypassed_calls", traffic.bypassed_calls},
            {"lent_bytes", traffic.lent_bytes},
            {"seconds", seconds(traffic.total_ns)},
            {"seconds_exchange", seconds(traffic.exchange_ns)},
            {"seconds_storage", seconds(traffic.storage_ns)},
            {"seconds_wait", seconds(traffic.wait_ns)},
            {"found_requests_in_flight", traffic.found_limit}};
}

Json json_of(const SlowTargetLine& slow) {
    return {{"target", slow.target},
            {"direction", slow.writes ? "write" : "read"},
            {"bytes_per_second", slow.rate},
            {"usual_bytes_per_second", slow.usual_rate},
            {"found_requests_in_flight", slow.limit}};
}

Json json_of(const PassedThrough& passed) {
    return {{"call", passed.call},
            {"calls", passed.calls},
            {"bytes", passed.bytes},
            {"reason", passed.reason}};
}

Json json_of(const ErrorNote& note) {
    return {{"call", note.call}, {"class", note.error_class}, {"message", note.message}};
}

template <class Item>
Json list_of(const std::vector<Item>& items) {
    Json list = Json::array();
    for (const Item& item : items) {
        list.push_back(json_of(item));
    }
    return list;
}

// Paths and messages may not be valid UTF-8; invalid bytes are replaced rather than losing the
// line.
std::string text_of(const Json& json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::string to_json(const JobLine& line) {
    return text_of({{"schema", schema},
                    {"kind", "job"},
                    {"forebay", line.forebay},
                    {"mpi", line.mpi},
                    {"family", line.family},
                    {"ranks", line.ranks},
                    {"rank", line.rank},
                    {"nodes", line.nodes},
                    {"pid", line.pid},
                    {"host", line.host},
                    {"command", line.command},
                    {"started", line.started}});
}

std::string to_json(const FileLine& line) {
    Json settings = Json::object();
    for (const auto& [name, value] : line.settings) {
        settings[name] = value;
    }
    return text_of({{"schema", schema},
                    {"kind", "file"},
                    {"path", line.path},
                    {"closed", line.closed},
                    {"ranks", line.ranks},
                    {"nodes", line.nodes},
                    {"aggregators", line.aggregators},
                    {"targets", line.targets},
                    {"stripe_bytes", line.stripe_bytes},
                    {"seconds_open", seconds(line.open_ns)},
                    {"settings", settings},
                    {"write", json_of(line.write)},
                    {"read", json_of(line.read)},
                    {"passed_through", list_of(line.passed_through)},
                    {"errors", list_of(line.errors)},
                    {"slow_targets", list_of(line.slow_targets)},
                    {"warnings", line.warnings}});
}

std::string to_json(const EndLine& line) {
    return text_of({{"schema", schema},
                    {"kind", "end"},
                    {"rank", line.rank},
                    {"pid", line.pid},
                    {"host", line.host},
                    {"seconds", seconds(line.process_ns)}});
}

Result<void> append_line(const std::string& path, std::string line) {
    constexpr mode_t everyone_reads = 0644;
    line += '\n';
    const OwnFd file(kernel::open_named(path, O_WRONLY | O_APPEND | O_CREAT, everyone_reads));
    if (!file.valid()) {
        return failure(system_error(errno, "append to the record " + path));
    }
    if (kernel::write(file.get(), line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
        return failure(system_error(errno, "append to the record " + path));
    }
    return {};
}

}  // namespace forebay::record
