// The ranks of the simulated program without the pool: those that compute and hand over their
// patches, and those that collect them (I/O ranks, or rank 0).
//
//   compute rank                      collector
//   compute, meet, pack
//   ── "I have file f" ─────────────▶ waits for it, rank after rank
//                        ◀── fetch ── (up to `ahead` at a time)
//   waits                             puts it into its place in the file
//   ◀───────────────────────── taken
//   next file, or computes            next rank; all files collected: writes them
#pragma once

#include "io_ranks/policy/roles.hpp"
#include "worlds/simgrid/world.hpp"
#include "worlds/simulate/barrier.hpp"
#include "worlds/simulate/io_ranks_experiment.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace forebay::sim {

// State that the ranks of a simulated program share.
struct HandOverWorld {
    explicit HandOverWorld(const IoRanksExperiment& of);

    const IoRanksExperiment& experiment;
    RankBarrier barrier;                // of the compute ranks
    std::vector<std::int64_t> offered;  // files that each compute rank has offered, …
    std::vector<double> offered_at;     // … when it offered the last one, …
    std::vector<ports::Word> taken;     // … and how many were taken from it
};

// The measurements of one rank.
struct HandOverTold {
    bool computes = false;
    double began = 0;
    double ended = 0;
    double collected = 0;  // longest of a burst, as the next
    double written = 0;
    double waited = 0;  // by the ranks of a collector until it had written the last burst, in all
    std::int64_t bytes = 0;  // written
    std::int64_t requests = 0;
    double opening = 0;  // files before the program
    double closing = 0;  // and after it
};

// The compute ranks [first, first + count), whose patches a rank collects. Their ranks in the world
// begin at `world_first`.
struct CollectorDuty {
    std::int64_t first = 0;
    std::int64_t count = 0;
    std::int64_t world_first = 0;
};

class HandOverRank {
public:
    // `world` and `ports` outlive it.
    HandOverRank(HandOverWorld& world, adapters::RankPorts& ports);

    // Computes and hands over, or collects and writes, until the program ends.
    [[nodiscard]] HandOverTold run();

private:
    void run_root();
    void run_compute();
    void run_collector(const CollectorDuty& duty);
    void hand_over(std::int64_t file);
    // The number of a file counts those of all bursts.
    void await_burst(const CollectorDuty& duty, std::int64_t step);
    void collect(const CollectorDuty& duty, std::int64_t file);
    void put_in_place(std::int64_t rank);
    void write(const CollectorDuty& duty, std::int64_t file);
    void open_files();
    void close_files();
    [[nodiscard]] std::int64_t patch_begin(std::int64_t rank) const;
    [[nodiscard]] std::int64_t patch_bytes(std::int64_t rank) const {
        return patch_begin(rank + 1) - patch_begin(rank);
    }
    [[nodiscard]] double now() const { return adapters::seconds(ports_); }

    HandOverWorld& world_;
    const IoRanksExperiment& experiment_;
    adapters::RankPorts& ports_;
    std::int64_t number_;  // among the compute ranks; of no meaning for an I/O rank
    std::int32_t collector_;
    std::vector<std::unique_ptr<ports::FileStorage>> files_;
    HandOverTold told_;
};

}  // namespace forebay::sim
