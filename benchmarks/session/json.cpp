// Encodes the parts that all benchmarks share.
#include "benchmarks/session/json.hpp"

#include "benchmarks/measure/statistics.hpp"

namespace forebay::bench {

Json latency_json(const measure::LatencyHistogram& latency) {
    constexpr double ns = 1e-9;
    Json bars = Json::array();
    for (const auto& bar : latency.bars()) {
        bars.push_back({static_cast<double>(bar.up_to) * ns, bar.count});
    }
    const auto seconds = [&](double q) { return static_cast<double>(latency.quantile(q)) * ns; };
    return {{"calls", latency.total()},
            {"seconds_mean", latency.mean() * ns},
            {"seconds_p50", seconds(0.5)},
            {"seconds_p90", seconds(0.9)},
            {"seconds_p99", seconds(0.99)},
            {"seconds_p999", seconds(0.999)},
            {"seconds_max", static_cast<double>(latency.max()) * ns},
            {"bars", bars}};
}

Json spread_json(const RankSpread& spread) {
    Json nodes = Json::array();
    for (const RankSpread::Node& node : spread.nodes) {
        nodes.push_back({{"host", node.host}, {"seconds_max", node.most}});
    }
    return {{"seconds_min", spread.least},
            {"seconds_median", spread.median},
            {"seconds_max", spread.most},
            {"slowest_rank", spread.slowest_rank},
            {"slowest_host", spread.slowest_host},
            {"nodes", nodes},
            {"seconds", spread.ranks}};
}

Json median_json(const std::vector<double>& values) {
    const auto interval = measure::median_interval(values);
    return {{"median", measure::median(values)},
            {"low", interval.lower},
            {"high", interval.upper},
            {"confidence", interval.coverage}};
}

Json record_json(std::string_view schema, const RunReport& report, const Json& request,
                 const Json& results) {
    Json record{{"schema", schema},          {"forebay", FOREBAY_VERSION},
                {"started", report.started}, {"command", report.command},
                {"mpi", report.mpi},         {"host", report.host},
                {"ranks", report.ranks},     {"nodes", report.nodes}};
    record.update(request);
    record["estimate"] = {{"bytes_written", report.estimate.bytes_written},
                          {"bytes_read", report.estimate.bytes_read},
                          {"bytes_kept_max", report.estimate.bytes_kept_max},
                          {"files", report.estimate.files}};
    record["exit_status"] = measure::code(report.status);
    record["error"] = report.error.empty() ? Json() : Json(report.error);
    record.update(results);
    return record;
}

std::string dumped(const Json& json) {
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace forebay::bench
