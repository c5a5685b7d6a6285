// The program of one rank, with and without the pool, and the state that all ranks share.
#pragma once

#include "pool/client/log_writer.hpp"
#include "storage/posix/mapping.hpp"
#include "storage/transfer/gate.hpp"
#include "worlds/simgrid/world.hpp"
#include "worlds/simulate/barrier.hpp"
#include "worlds/simulate/node_daemon.hpp"
#include "worlds/simulate/pool_experiment.hpp"
#include "worlds/simulate/pool_node.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace forebay::sim {

// The actors of a node are its daemon, followed by the ranks of the program.
inline constexpr std::int32_t daemons_per_node = 1;

// The state of the whole simulation. The memory of logs has everything but the data: the addresses
// of their blocks are never dereferenced.
struct PoolWorld {
    static Result<std::unique_ptr<PoolWorld>> make(const PoolExperiment& experiment);

    const PoolExperiment& experiment;
    RankBarrier barrier;
    double messages = 0;  // that a rank sends in a transposition, on average
    std::vector<std::unique_ptr<PoolNode>> nodes;
    ports::Word turn_of_pool{0};  // 1: the run without the pool is over
    ports::Word daemons{0};       // number of daemons that have started
    adapters::MemoryMapping directories;
    adapters::MemoryMapping logs;
    adapters::MemoryMapping clean;   // blocks of zeros; empty if nothing is read
    std::vector<std::byte> scratch;  // the buffer that all ranks read into

    // Called by each rank after its run without the pool.
    void begin_pool(adapters::RankPorts& rank);
    [[nodiscard]] NodeShape shape_of(std::int32_t node, double began) const;
    // The log of a rank; without input only writers have one.
    [[nodiscard]] pool::Log log_of(std::int64_t number) const;
};

// The measurements of one rank in one run.
struct PoolTold {
    double began = 0;
    double ended = 0;
    double gathered = 0;
    double longest = 0;
    double waited = 0;
    std::int64_t bytes = 0;
    std::int64_t bytes_past = 0;
    std::int64_t requests = 0;
    std::int64_t opened = 0;
    double reading = 0;
    std::int64_t input = 0;
    double opening = 0;  // files before the program
    double closing = 0;  // and after it
};

class PoolProgram {
public:
    PoolProgram(PoolWorld& world, adapters::RankPorts& ports);

    [[nodiscard]] PoolTold run_plain();
    // Returns when the daemon knows that the rank has left.
    [[nodiscard]] PoolTold run_pooled();

private:
    enum class How { plain, pooled };
    struct Open {
        std::unique_ptr<ports::FileStorage> storage;
        pool::FileId id;
    };
    PoolTold run(How how);
    void read_input(How how, PoolTold& told);
    void burst(How how, std::int64_t step, PoolTold& told);
    void gather();
    // Both as in the output API, and by all ranks.
    void pack();
    void transpose();
    void open(How how, std::int64_t number, PoolTold& told);
    void close(How how, std::int64_t number);
    void write(How how, std::int64_t step, std::int64_t file, PoolTold& told);
    // Writes `what` past the pool. Returns the number of requests.
    std::int64_t write_past_pool(ports::FileStorage& storage, const Extent& what);
    [[nodiscard]] std::int64_t number_of(std::int64_t step, std::int64_t file) const;
    [[nodiscard]] double now() const { return adapters::seconds(ports_); }
    [[nodiscard]] PoolNode& node() const;

    PoolWorld& world_;
    const PoolExperiment& experiment_;
    adapters::RankPorts& ports_;
    std::int64_t rank_;                   // its number in the program
    std::optional<std::int64_t> writer_;  // its number as a writer, if it is one
    std::map<std::int64_t, Open> open_;   // by file number
    std::optional<std::uint32_t> client_;
    std::optional<NodeDaemon> daemon_;  // as the log writer uses it
    std::optional<pool::LogWriter> log_writer_;
};

}  // namespace forebay::sim
