// The phases of the program: input, computing, bursts, and the change from one run to the other.
#include "worlds/simulate/pool_program.hpp"

#include "worlds/simulate/direct_writes.hpp"
#include "worlds/simulate/imagined_bytes.hpp"
#include "worlds/simulate/pool_reading.hpp"
#include "worlds/simulate/transposition.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace forebay::sim {

namespace {

double messages_of(const PoolExperiment& experiment) {
    if (experiment.levels == 0) {
        return 0;
    }
    const std::int64_t ranks = ranks_of(experiment);
    const std::int64_t writers = writers_of(experiment);
    const PatchGrid grid = patch_grid(ranks, experiment.levels);
    std::size_t rows = 0;
    for (std::int64_t writer = 0; writer < writers; ++writer) {
        rows += rows_for(grid, writer, writers).size();
    }
    return static_cast<double>(rows) * static_cast<double>(grid.columns * experiment.files) /
           static_cast<double>(ranks);
}

}  // namespace

Result<std::unique_ptr<PoolWorld>> PoolWorld::make(const PoolExperiment& experiment) {
    const auto nodes = static_cast<std::size_t>(experiment.platform.node.count);
    auto directories = adapters::MemoryMapping::anonymous(nodes * sizeof(pool::Directory));
    if (!directories) {
        return failure(directories.error());
    }
    const std::int64_t clients =
        experiment.input_bytes > 0 ? ranks_of(experiment) : writers_of(experiment);
    auto logs = adapters::MemoryMapping::anonymous(static_cast<std::size_t>(clients) *
                                                   pool::LogShape::data_at);
    if (!logs) {
        return failure(logs.error());
    }
    Result<adapters::MemoryMapping> clean{};
    if (const std::size_t blocks = pool::clean_blocks(experiment.pool);
        experiment.input_bytes > 0 && blocks > 0) {
        clean = adapters::MemoryMapping::anonymous(blocks * pool::block_bytes);
        if (!clean) {
            return failure(clean.error());
        }
    }
    std::unique_ptr<PoolWorld> world{new PoolWorld{.experiment = experiment,
                                                   .barrier = RankBarrier{ranks_of(experiment)},
                                                   .nodes = {},
                                                   .directories = *std::move(directories),
                                                   .logs = *std::move(logs),
                                                   .clean = *std::move(clean),
                                                   .scratch = {}}};
    world->messages = messages_of(experiment);
    world->scratch.resize(experiment.input_bytes > 0 ? pool::block_bytes : 0);
    world->nodes.resize(nodes);
    return world;
}

void PoolWorld::begin_pool(adapters::RankPorts& rank) {
    if (turn_of_pool.exchange(1) == 0) {
        rank.communicator.wake(turn_of_pool);
    }
}

NodeShape PoolWorld::shape_of(std::int32_t node, double began) const {
    NodeShape shape;
    shape.node = node;
    shape.nodes = static_cast<std::int32_t>(experiment.platform.node.count);
    shape.ranks = static_cast<std::int32_t>(experiment.platform.node.ranks);
    shape.directory = directories.bytes().subspan(
        static_cast<std::size_t>(node) * sizeof(pool::Directory), sizeof(pool::Directory));
    shape.pool = experiment.pool;
    shape.pool.shared = true;  // The pool reports forgotten files to the token manager.
    shape.stripes = stripes_on(experiment.platform, experiment.stripe_count);
    shape.targets = static_cast<std::int32_t>(experiment.platform.target.count);
    shape.job_end = experiment.job_end == 0 ? 0 : began + experiment.job_end;
    shape.clean = clean.bytes();
    shape.touch_rate = experiment.touch_rate;
    shape.deadline = experiment.deadline;
    shape.readers = experiment.readers;
    shape.passing = {.link_rate = experiment.platform.node.link_rate,
                     .pass_rate = experiment.pass_rate};
    shape.all = nodes;
    return shape;
}

pool::Log PoolWorld::log_of(std::int64_t number) const {
    return pool::Log{logs.bytes().data() +
                     static_cast<std::size_t>(number) * pool::LogShape::data_at};
}

PoolProgram::PoolProgram(PoolWorld& world, adapters::RankPorts& ports)
    : world_{world}, experiment_{world.experiment}, ports_{ports} {
    const ports::RankPlace& place = ports.communicator.place();
    rank_ = std::int64_t{place.node.value()} * experiment_.platform.node.ranks +
            place.local.value() - daemons_per_node;
    // Writer w is rank ⌊w · ranks / writers⌋.
    const std::int64_t ranks = ranks_of(experiment_);
    const std::int64_t writers = writers_of(experiment_);
    const std::int64_t writer = (rank_ * writers + ranks - 1) / ranks;
    if (writer < writers && writer * ranks / writers == rank_) {
        writer_ = writer;
    }
}

PoolNode& PoolProgram::node() const {
    return *world_.nodes[ports_.communicator.place().node.position()];
}

PoolTold PoolProgram::run_plain() { return run(How::plain); }

PoolTold PoolProgram::run_pooled() {
    while (world_.daemons.load() < world_.nodes.size()) {
        ports_.communicator.wait(world_.daemons, world_.daemons.load());
    }
    const bool reads = experiment_.input_bytes > 0;
    if (writer_ || reads) {
        const pool::Log log = world_.log_of(reads ? rank_ : *writer_);
        client_ = node().join(ports_, log);
        daemon_.emplace(node(), ports_);
        log_writer_.emplace(node().directory(), log, *client_, *daemon_);
    }
    const PoolTold told = run(How::pooled);
    node().leave(ports_, client_);
    return told;
}

PoolTold PoolProgram::run(How how) {
    PoolTold told;
    world_.barrier.meet(ports_);
    told.began = now();
    if (experiment_.input_bytes > 0) {
        read_input(how, told);
    }
    const double begin = now();
    for (std::int64_t file = 0; writer_ && !experiment_.new_files && file < experiment_.files;
         ++file) {
        open(how, number_of(0, file), told);
    }
    told.opening = now() - begin;
    for (std::int64_t step = 0; step < experiment_.steps; ++step) {
        ports_.life.compute(experiment_.interval);
        if (experiment_.levels > 0) {
            pack();
        }
        world_.barrier.meet(ports_);
        if (writer_) {
            burst(how, step, told);
        }
    }
    const double computed = now();
    while (!open_.empty()) {
        close(how, open_.begin()->first);
    }
    ports_.life.compute(0);
    told.ended = now();
    told.closing = told.ended - computed;
    told.waited = daemon_ ? daemon_->waited() : 0;
    world_.barrier.meet(ports_);
    return told;
}

std::int64_t PoolProgram::write_past_pool(ports::FileStorage& storage, const Extent& what) {
    return write_directly(storage, ports_.clock,
                          {.stripes = stripes_on(experiment_.platform, experiment_.stripe_count),
                           .in_flight = experiment_.plain_in_flight,
                           .request_bytes_max = experiment_.pool.request_bytes_max},
                          what);
}

// Files of one writer have consecutive numbers, so they start on consecutive targets.
std::int64_t PoolProgram::number_of(std::int64_t step, std::int64_t file) const {
    const std::int64_t burst = experiment_.new_files ? step : 0;
    return (burst * writers_of(experiment_) + *writer_) * experiment_.files + file;
}

// The input file's number follows those of all output files.
void PoolProgram::read_input(How how, PoolTold& told) {
    const double begin = now();
    const std::int64_t number = writers_of(experiment_) * experiment_.files *
                                (experiment_.new_files ? experiment_.steps : 1);
    ports_.life.ask(adapters::MetadataCall::open);
    const auto storage = ports_.life.file(place_of(number, world_.shape_of(0, 0)));
    DirectReads direct{*storage, experiment_.input_bytes};
    if (how == How::pooled) {
        ports_.life.ask(adapters::MetadataCall::open);
        const PoolNode::Wanted wanted{
            .number = number, .bytes = experiment_.input_bytes, .access = pool::AccessMode::read};
        const pool::FileId file = node().open(ports_, *client_, wanted);
        ++told.opened;
        ImaginedReader reader{node(), *client_, node().log_of(*client_), ports_};
        reader.read(file, experiment_.input_bytes, direct, world_.scratch);
        node().close(ports_, *client_, file);
    } else {
        for (std::int64_t at = 0; at < experiment_.input_bytes;) {
            at += direct.read(at, world_.scratch);
        }
    }
    ports_.life.ask(adapters::MetadataCall::close);
    ports_.life.compute(0);
    told.requests += direct.requests();
    told.input = direct.moved();
    told.reading = now() - begin;
}

void PoolProgram::burst(How how, std::int64_t step, PoolTold& told) {
    const double begin = now();
    if (experiment_.levels > 0) {
        transpose();
    } else {
        gather();
    }
    told.gathered += now() - begin;
    for (std::int64_t file = 0; file < experiment_.files; ++file) {
        const std::int64_t number = number_of(step, file);
        if (experiment_.new_files) {
            open(how, number, told);
        }
        write(how, step, file, told);
        if (experiment_.new_files) {
            close(how, number);
        }
    }
    ports_.life.compute(0);
    told.longest = std::max(told.longest, now() - begin);
}

// Gathers the data of the ranks up to the next writer: through the node's interface from ranks on
// other nodes, and copied by one core.
void PoolProgram::gather() {
    const std::int64_t ranks = ranks_of(experiment_);
    const std::int64_t writers = writers_of(experiment_);
    const std::int64_t behind = (*writer_ + 1) * ranks / writers - rank_;
    if (behind <= 1) {
        return;
    }
    const adapters::NodePlatform& platform = experiment_.platform.node;
    const std::int64_t each = file_bytes_of(experiment_) * experiment_.files / behind;
    const std::int64_t others = behind - 1;
    const std::int64_t here = std::min(others, platform.ranks - rank_ % platform.ranks - 1);
    const double link = static_cast<double>((others - here) * each) / platform.link_rate;
    const double core = static_cast<double>(others * each) / platform.copy_rate;
    ports_.life.compute(std::max(link, core) + static_cast<double>(others) * platform.message_time);
}

void PoolProgram::pack() {
    const std::int64_t bytes = experiment_.burst_bytes / ranks_of(experiment_);
    ports_.imagined->copied({bytes, bytes / experiment_.row_bytes + 1});
    ports_.life.compute(world_.messages * experiment_.platform.node.message_time);
}

// The patches of one node are fetched together; each costs a message nevertheless. The writer puts
// them into order when it has all of them.
void PoolProgram::transpose() {
    const adapters::NodePlatform& platform = experiment_.platform.node;
    const PatchGrid grid = patch_grid(ranks_of(experiment_), experiment_.levels);
    const auto burst = static_cast<double>(experiment_.burst_bytes);
    std::int64_t messages = 0;
    std::int64_t asked = 0;
    std::int64_t arrived = 0;
    for (const PatchRow& row : rows_for(grid, *writer_, writers_of(experiment_))) {
        const std::int64_t behind = row.first + row.ranks;
        for (std::int64_t first = row.first; first < behind;) {
            const std::int64_t node = first / platform.ranks;
            const std::int64_t here = std::min((node + 1) * platform.ranks, behind) - first;
            const double part = static_cast<double>(here) / static_cast<double>(row.ranks);
            const std::int64_t actor = first + (node + 1) * daemons_per_node;
            ports_.life.fetch(Rank{static_cast<std::int32_t>(actor)},
                              static_cast<std::int64_t>(burst * row.share * part),
                              [&arrived] { ++arrived; });
            ++asked;
            messages += here * experiment_.files;
            first += here;
        }
    }
    const ports::Word never{0};
    while (arrived < asked) {
        constexpr double long_enough = 1e4;
        ports_.life.wait_for_anything(never, 0, long_enough);
    }
    const std::int64_t bytes = file_bytes_of(experiment_) * experiment_.files;
    ports_.imagined->copied({bytes, bytes / experiment_.row_bytes + 1});
    ports_.life.compute(static_cast<double>(messages) * platform.message_time);
}

// With the pool, the daemon opens the file a second time, and the rank waits for that.
void PoolProgram::open(How how, std::int64_t number, PoolTold& told) {
    Open& file = open_[number];
    ports_.life.ask(adapters::MetadataCall::open);
    file.storage = ports_.life.file(place_of(number, world_.shape_of(0, 0)));
    if (how == How::pooled) {
        ports_.life.ask(adapters::MetadataCall::open);
        file.id = node().open(ports_, *client_, {.number = number});
        ++told.opened;
    }
}

void PoolProgram::close(How how, std::int64_t number) {
    Open& file = open_.at(number);
    if (how == How::pooled) {
        node().close(ports_, *client_, file.id);
    }
    ports_.life.ask(adapters::MetadataCall::close);
    open_.erase(number);
}

void PoolProgram::write(How how, std::int64_t step, std::int64_t file, PoolTold& told) {
    Open& open = open_.at(number_of(step, file));
    const Length length{file_bytes_of(experiment_)};
    const Offset begin{experiment_.new_files ? 0 : step * length.bytes()};
    Length taken{0};
    if (how == How::pooled) {
        const pool::WriteResult written =
            log_writer_->write(open.id, begin.bytes(), imagined_bytes(length));
        taken = Length{static_cast<std::int64_t>(written.taken)};
        if (taken < length) {
            static_cast<void>(log_writer_->settle(open.id));
            told.bytes_past += (length - taken).bytes();
        }
    }
    if (taken < length) {
        told.requests += write_past_pool(*open.storage, {begin + taken, length - taken});
    }
    told.bytes += length.bytes();
}

}  // namespace forebay::sim
