// Computes the columns from each rank's times. IOR's open(s), close(s) and Latency(s) are barrier
// skews and a minimum over ranks; ours are the slowest rank's open and close, and the mean over all
// transfers. --ior-compat computes IOR's from times since the common barrier. Neither subtracts the
// clocks of two nodes.
#include "benchmarks/ior/results.hpp"

#include "benchmarks/measure/statistics.hpp"

#include <algorithm>
#include <map>

namespace forebay::ior {

namespace {

double rate(double amount, double seconds) noexcept {
    return seconds > 0.0 ? amount / seconds : 0.0;
}

template <class Value>
double greatest(const std::vector<RankTimes>& ranks, Value value) {
    double most = 0.0;
    for (const RankTimes& rank : ranks) {
        most = std::max(most, value(rank));
    }
    return most;
}

template <class Value>
double least(const std::vector<RankTimes>& ranks, Value value) {
    double made = ranks.empty() ? 0.0 : value(ranks.front());
    for (const RankTimes& rank : ranks) {
        made = std::min(made, value(rank));
    }
    return made;
}

double window(const std::vector<RankTimes>& ranks, double RankTimes::* begin,
              double RankTimes::* end) {
    return greatest(ranks, [&](const RankTimes& r) { return r.*end; }) -
           least(ranks, [&](const RankTimes& r) { return r.*begin; });
}

ResultColumns columns_of(const PhaseResult& phase, const IorOptions& options) {
    const auto& ranks = phase.ranks;
    std::int64_t transfers = 0;
    for (const RankTimes& rank : ranks) {
        transfers += rank.transfers;
    }
    ResultColumns made;
    made.total = window(ranks, &RankTimes::open_begin, &RankTimes::close_end);
    made.transfers = window(ranks, &RankTimes::transfers_begin, &RankTimes::transfers_end);
    made.bandwidth_mib = rate(static_cast<double>(phase.bytes) / bytes_per_mib, made.total);
    made.operations = rate(static_cast<double>(transfers), made.transfers);
    if (options.own.ior_compat) {
        made.open = window(ranks, &RankTimes::open_begin, &RankTimes::open_end);
        made.close = window(ranks, &RankTimes::close_begin, &RankTimes::close_end);
        made.latency = least(ranks, [](const RankTimes& r) {
            return rate(r.transfers_end - r.transfers_begin, static_cast<double>(r.transfers));
        });
    } else {
        made.open = greatest(ranks, [](const RankTimes& r) { return r.open_end - r.open_begin; });
        made.close =
            greatest(ranks, [](const RankTimes& r) { return r.close_end - r.close_begin; });
        made.latency = phase.latency.mean() * 1e-9;
    }
    return made;
}

void find_spread(PhaseResult& phase) {
    std::vector<double> seconds;
    seconds.reserve(phase.ranks.size());
    for (const RankTimes& rank : phase.ranks) {
        seconds.push_back(rank.transfers_end - rank.transfers_begin);
    }
    const auto extremes = std::minmax_element(seconds.begin(), seconds.end());
    phase.fastest_rank = extremes.first - seconds.begin();
    phase.slowest_rank = extremes.second - seconds.begin();
    phase.median_rank_seconds = measure::median(seconds);
}

void find_nodes(PhaseResult& phase, const std::vector<std::string>& hosts) {
    phase.nodes.assign(hosts.size(), {});
    std::vector<double> bytes(hosts.size(), 0.0);
    for (const RankTimes& rank : phase.ranks) {
        const auto at = static_cast<std::size_t>(rank.node);
        NodeSpread& node = phase.nodes[at];
        node.node = rank.node;
        node.host = hosts[at];
        ++node.ranks;
        node.seconds = std::max(node.seconds, rank.transfers_end - rank.transfers_begin);
        bytes[at] += static_cast<double>(rank.bytes);
        node.bandwidth_mib = rate(bytes[at] / bytes_per_mib, node.seconds);
    }
    std::erase_if(phase.nodes, [](const NodeSpread& node) { return node.ranks == 0; });
    std::stable_sort(
        phase.nodes.begin(), phase.nodes.end(),
        [](const NodeSpread& a, const NodeSpread& b) { return a.seconds > b.seconds; });
}

// Estimates the bytes moved until the first rank was done, from the rate of each other rank: an
// upper bound.
void find_done(PhaseResult& phase) {
    const double begin = least(phase.ranks, [](const RankTimes& r) { return r.open_begin; });
    phase.first_done =
        least(phase.ranks, [](const RankTimes& r) { return r.transfers_end; }) - begin;
    phase.last_done =
        greatest(phase.ranks, [](const RankTimes& r) { return r.transfers_end; }) - begin;
    double by_then = 0.0;
    for (const RankTimes& rank : phase.ranks) {
        const double busy = rank.transfers_end - rank.transfers_begin;
        const double until = phase.first_done + begin - rank.transfers_begin;
        const double part = busy > 0.0 ? std::clamp(until / busy, 0.0, 1.0) : 1.0;
        by_then += static_cast<double>(rank.bytes) * part;
    }
    phase.first_done_mib = rate(by_then / bytes_per_mib, phase.first_done);
    phase.last_done_mib = rate(static_cast<double>(phase.bytes) / bytes_per_mib, phase.last_done);
}

void find_stonewall(PhaseResult& phase, const IorOptions& options) {
    double bytes = 0.0;
    phase.stonewall_transfers_min = phase.ranks.front().stonewall_transfers;
    for (const RankTimes& rank : phase.ranks) {
        bytes += static_cast<double>(rank.stonewall_transfers) *
                 static_cast<double>(options.transfer_bytes);
        phase.stonewall_transfers_min =
            std::min(phase.stonewall_transfers_min, rank.stonewall_transfers);
        phase.stonewall_transfers_max =
            std::max(phase.stonewall_transfers_max, rank.stonewall_transfers);
    }
    phase.stonewall_seconds =
        greatest(phase.ranks, [](const RankTimes& r) { return r.stonewall_seconds; });
    phase.stonewall_mib = rate(bytes / bytes_per_mib, phase.stonewall_seconds);
    if (options.own.ior_compat) {
        phase.stonewall_mib /= static_cast<double>(phase.ranks.size());
    }
}

// Ranks that share cores leave a barrier one after the other. The ranks of a node share a clock, so
// their times are made relative to the first of them to begin.
void count_from_first(std::vector<RankTimes>& ranks) {
    std::map<std::int64_t, std::int64_t> first;
    for (const RankTimes& rank : ranks) {
        const auto known = first.try_emplace(rank.node, rank.began_ns).first;
        known->second = std::min(known->second, rank.began_ns);
    }
    for (RankTimes& rank : ranks) {
        const double late = static_cast<double>(rank.began_ns - first.at(rank.node)) * 1e-9;
        for (double RankTimes::* moment :
             {&RankTimes::open_begin, &RankTimes::open_end, &RankTimes::transfers_begin,
              &RankTimes::transfers_end, &RankTimes::close_begin, &RankTimes::close_end}) {
            rank.*moment += late;
        }
        rank.began -= late;
        rank.began_ns = first.at(rank.node);
    }
}

}  // namespace

void summarise(PhaseResult& phase, const IorOptions& options,
               const std::vector<std::string>& hosts) {
    if (phase.ranks.empty()) {
        return;
    }
    count_from_first(phase.ranks);
    phase.columns = columns_of(phase, options);
    find_spread(phase);
    find_nodes(phase, hosts);
    find_done(phase);
    phase.data_seconds = greatest(phase.ranks, [](const RankTimes& r) { return r.data; });
    phase.with_data_mib = rate(static_cast<double>(phase.bytes) / bytes_per_mib,
                               phase.columns.total + phase.data_seconds);
    if (phase.stonewalled) {
        find_stonewall(phase, options);
    }
}

}  // namespace forebay::ior
