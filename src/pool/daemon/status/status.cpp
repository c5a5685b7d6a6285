// The status report of the pool as JSON.
#include "pool/daemon/status/status.hpp"

#include "foundation/base/atomics.hpp"
#include "foundation/base/host_name.hpp"

#include <nlohmann/json.hpp>
#include <system_error>

namespace forebay::daemon {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* status_schema = "forebay.pool/1";

const char* name_of(pool::FileState state) noexcept {
    switch (state) {
        case pool::FileState::pooled: return "pooled";
        case pool::FileState::leaving: return "leaving";
        case pool::FileState::through: return "through";
        case pool::FileState::free: break;
    }
    return "closed";
}

const char* name_of(pool::ThroughReason reason) noexcept {
    switch (reason) {
        case pool::ThroughReason::mapped: return "mapped";
        case pool::ThroughReason::stream: return "stream";
        case pool::ThroughReason::append: return "append";
        case pool::ThroughReason::direct: return "direct";
        case pool::ThroughReason::copied: return "copied";
        case pool::ThroughReason::inherited: return "inherited";
        case pool::ThroughReason::sent: return "sent";
        case pool::ThroughReason::async: return "async";
        case pool::ThroughReason::asked: return "asked";
        case pool::ThroughReason::switched: return "switched";
        case pool::ThroughReason::no_room: return "no_room";
        case pool::ThroughReason::closing: return "closing";
        case pool::ThroughReason::no_memory: return "no_memory";
        case pool::ThroughReason::read_and_written: return "read_and_written";
        case pool::ThroughReason::job_ends: return "job_ends";
        case pool::ThroughReason::other_nodes: return "other_nodes";
        case pool::ThroughReason::node_lost: return "node_lost";
        case pool::ThroughReason::no_journal: return "no_journal";
        case pool::ThroughReason::full: return "full";
        case pool::ThroughReason::no_descriptor: return "no_descriptor";
        case pool::ThroughReason::unmapped: return "unmapped";
        case pool::ThroughReason::uncaptured: return "uncaptured";
        case pool::ThroughReason::tables: return "tables";
        case pool::ThroughReason::flags: return "flags";
        case pool::ThroughReason::stuck_log: return "stuck_log";
        case pool::ThroughReason::none: break;
    }
    return "";
}

const char* name_of(WaitKind kind) noexcept {
    switch (kind) {
        case WaitKind::open: return "open";
        case WaitKind::sync: return "sync";
        case WaitKind::drain: break;
    }
    return "drain";
}

double seconds(std::int64_t ns) noexcept { return static_cast<double>(ns) / 1e9; }

std::string text_of_error(int error) {
    return error == 0 ? "" : std::generic_category().message(error);
}

Json json_of(const FileTotals& totals) {
    const double storage = seconds(totals.storage_ns);
    const double rate = storage > 0 ? static_cast<double>(totals.storage_bytes) / storage : 0;
    return {{"path", totals.path},
            {"state", name_of(totals.state)},
            {"reason", name_of(totals.reason)},
            {"error", totals.error},
            {"error_text", text_of_error(totals.error)},
            {"taken", totals.taken},
            {"drained", totals.drained},
            {"outstanding", totals.outstanding()},
            {"window", totals.window},
            {"high", totals.high},
            {"extents", totals.extents},
            {"oldest_seconds", seconds(totals.oldest_ns)},
            {"silent_seconds", seconds(totals.silent_ns)},
            {"waited_seconds", seconds(totals.waited_ns)},
            {"opening_seconds", seconds(totals.opening_ns)},
            {"syncing_seconds", seconds(totals.syncing_ns)},
            {"draining_seconds", seconds(totals.draining_ns)},
            {"syncs", totals.syncs},
            {"storage_seconds", storage},
            {"storage_bytes", totals.storage_bytes},
            {"requests", totals.requests},
            {"rate", rate},
            {"times", totals.times}};
}

Json json_of(const RescuedFile& one) {
    return {{"path", one.path},   {"error", one.error}, {"error_text", text_of_error(one.error)},
            {"bytes", one.bytes}, {"file", one.file},   {"problem", one.problem}};
}

Json json_of(const CountSample& one) {
    const auto milliseconds = one.since_ns / 1'000'000;
    return {{"seconds", static_cast<double>(milliseconds) / 1e3},
            {"taken", one.counts.taken},
            {"stored", one.counts.stored},
            {"outstanding", one.counts.outstanding},
            {"waited_seconds", seconds(one.counts.waited_ns)}};
}

Json json_of(const WaitHistograms& waits) {
    Json kinds = Json::array();
    for (const WaitKind kind : wait_kinds) {
        const WaitHistogram& one = waits.of(kind);
        kinds.push_back(
            {{"kind", name_of(kind)}, {"seconds", seconds(one.total_ns)}, {"counts", one.counts}});
    }
    return kinds;
}

Json wait_bounds() {
    Json bounds = Json::array();
    for (const std::int64_t ns : wait_bounds_ns) {
        bounds.push_back(seconds(ns));
    }
    return bounds;
}

}  // namespace

std::string status_document(const pool::Directory& directory, const SharedLogMemory& memory,
                            const FileStatistics& statistics, const StatusMoment& moment,
                            const std::vector<RescuedFile>& rescued) {
    const pool::DirectoryHeader& header = directory.header;
    Json clients = Json::array();
    std::int64_t lag = 0;
    for (std::uint32_t client = 0; client < pool::clients_max; ++client) {
        const pool::ClientSlot& slot = directory.clients[client];
        if (slot.used.load(relaxed) == 0 || slot.admission.load(relaxed) == 0) {
            continue;
        }
        const std::uint64_t taken = slot.commits.load(relaxed);
        std::uint64_t committed = taken;
        if (memory.segment(client).made()) {
            const pool::Log log{memory.segment(client).base()};
            committed = log.header().commits.load(relaxed);
        }
        lag += committed > taken ? static_cast<std::int64_t>(committed - taken) : 0;
        clients.push_back({{"process", slot.used.load(relaxed)}, {"commits", taken}});
    }
    Json files = Json::array();
    double oldest = 0;
    for (const FileTotals& totals : statistics.all_totals(moment.now_ns)) {
        oldest = std::max(oldest, seconds(totals.oldest_ns));
        files.push_back(json_of(totals));
    }
    Json lost = Json::array();
    for (const RescuedFile& one : rescued) {
        lost.push_back(json_of(one));
    }
    const double storage_seconds = seconds(statistics.busy()->total_ns(moment.now_ns));
    Json document = {{"schema", status_schema},
                     {"host", host_name()},
                     {"process", header.process.load(relaxed)},
                     {"uptime_seconds", seconds(moment.now_ns - moment.started_ns)},
                     {"ended", moment.ended},
                     {"closing", header.closing.load(relaxed) != 0},
                     {"cap", header.cap.load(relaxed)},
                     {"memory", moment.memory.bytes},
                     {"memory_limit_file", moment.memory.file},
                     {"leased", header.leased.load(relaxed)},
                     {"high", header.high.load(relaxed)},
                     {"read_ahead_held", header.clean_bytes.load(relaxed)},
                     {"read_ahead", header.fetched_bytes.load(relaxed)},
                     {"read_from_nodes", moment.from_nodes},
                     {"passed_to_nodes", moment.to_nodes},
                     {"written_by_nodes", moment.handed_over},
                     {"written_for_nodes", moment.for_others},
                     {"lag", lag},
                     {"oldest_seconds", oldest},
                     {"storage_seconds", storage_seconds},
                     {"wait_bounds_seconds", wait_bounds()},
                     {"waits", json_of(statistics.waits())},
                     {"clients", std::move(clients)},
                     {"clients_high", moment.clients_high},
                     {"files", std::move(files)},
                     {"files_dropped", statistics.dropped()},
                     {"rescued", std::move(lost)},
                     {"durability_ended", moment.durability_ended},
                     {"notes", moment.notes}};
    if (!moment.samples.empty()) {
        Json& samples = document["samples"] = Json::array();
        for (const CountSample& one : moment.samples) {
            samples.push_back(json_of(one));
        }
    }
    // Bytes of paths that are not UTF-8 are replaced, since they would make dump() throw.
    return document.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace forebay::daemon
