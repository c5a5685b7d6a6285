// A collector does one thing at a time, so ranks that offer a patch while it writes wait.
#include "worlds/simulate/io_ranks_program.hpp"

#include "worlds/simulate/direct_writes.hpp"

#include <algorithm>

namespace forebay::sim {

namespace {

// Receives that a collector has posted at a time.
constexpr std::int64_t ahead = 4;
// A time-out in seconds, where something else ends the waiting.
constexpr double long_enough = 1e7;

}  // namespace

HandOverWorld::HandOverWorld(const IoRanksExperiment& of)
    : experiment{of},
      barrier{ranks_of(of)},
      offered(static_cast<std::size_t>(ranks_of(of)), 0),
      offered_at(static_cast<std::size_t>(ranks_of(of)), 0.0),
      taken(static_cast<std::size_t>(ranks_of(of))) {}

HandOverRank::HandOverRank(HandOverWorld& world, adapters::RankPorts& ports)
    : world_{world}, experiment_{world.experiment}, ports_{ports} {
    const std::int32_t rank = ports.communicator.place().rank.value();
    number_ = rank;
    collector_ = 0;
    if (experiment_.variant == OutputVariant::io_ranks) {
        const io_ranks::RankRole role = io_ranks::role_of(shape_of(experiment_), rank);
        number_ = role.number;
        collector_ = role.server;
    }
}

HandOverTold HandOverRank::run() {
    const std::int32_t rank = ports_.communicator.place().rank.value();
    told_.began = now();
    if (experiment_.variant == OutputVariant::gather) {
        told_.computes = true;
        rank == 0 ? run_root() : run_compute();
    } else if (collector_ == rank) {
        const io_ranks::WorldShape shape = shape_of(experiment_);
        const io_ranks::RankRole role = io_ranks::role_of(shape, rank);
        const io_ranks::RankRole first = io_ranks::role_of(shape, role.first_served);
        run_collector({first.number, role.served, role.first_served});
    } else {
        told_.computes = true;
        run_compute();
    }
    ports_.life.compute(0);
    told_.ended = now();
    return told_;
}

// Rank 0 has its own patch already, and computes as all others do.
void HandOverRank::run_root() {
    const CollectorDuty others{1, ranks_of(experiment_) - 1, 1};
    open_files();
    for (std::int64_t step = 0; step < experiment_.steps; ++step) {
        ports_.life.compute(experiment_.interval);
        world_.barrier.meet(ports_);
        double collecting = 0;
        const double begin = now();
        for (std::int64_t i = 0; i < experiment_.files; ++i) {
            const std::int64_t file = step * experiment_.files + i;
            const double first = now();
            put_in_place(0);
            collect(others, file);
            collecting += now() - first;
            write({0, ranks_of(experiment_)}, file);
        }
        told_.collected = std::max(told_.collected, collecting);
        told_.written = std::max(told_.written, now() - begin - collecting);
    }
    close_files();
}

void HandOverRank::run_compute() {
    for (std::int64_t step = 0; step < experiment_.steps; ++step) {
        ports_.life.compute(experiment_.interval);
        world_.barrier.meet(ports_);
        for (std::int64_t i = 0; i < experiment_.files; ++i) {
            hand_over(step * experiment_.files + i);
        }
    }
}

void HandOverRank::run_collector(const CollectorDuty& duty) {
    open_files();
    for (std::int64_t step = 0; step < experiment_.steps; ++step) {
        await_burst(duty, step);
        const double begin = now();
        for (std::int64_t i = 0; i < experiment_.files; ++i) {
            collect(duty, step * experiment_.files + i);
        }
        ports_.life.compute(0);
        const double collected = now();
        for (std::int64_t i = 0; i < experiment_.files; ++i) {
            write(duty, step * experiment_.files + i);
        }
        told_.collected = std::max(told_.collected, collected - begin);
        told_.written = std::max(told_.written, now() - collected);
    }
    close_files();
}

void HandOverRank::await_burst(const CollectorDuty& duty, std::int64_t step) {
    const auto first = static_cast<std::size_t>(duty.first);
    const ports::Word never{0};
    while (world_.offered[first] <= step * experiment_.files) {
        ports_.life.wait_for_anything(never, 0, long_enough);
    }
    told_.waited += now() - world_.offered_at[first];
}

void HandOverRank::hand_over(std::int64_t file) {
    const std::int64_t bytes = patch_bytes(number_);
    ports_.imagined->copied({bytes, bytes / experiment_.row_bytes + 1});
    const auto mine = static_cast<std::size_t>(number_);
    ports_.life.tell(Rank{collector_}, [this, mine] {
        ++world_.offered[mine];
        world_.offered_at[mine] = now();
    });
    ports::Word& taken = world_.taken[mine];
    for (std::uint32_t seen = taken.load(); seen <= file; seen = taken.load()) {
        ports_.communicator.wait(taken, seen);
    }
}

void HandOverRank::collect(const CollectorDuty& duty, std::int64_t file) {
    std::vector<char> here(static_cast<std::size_t>(duty.count), 0);
    const ports::Word never{0};
    std::int64_t asked = 0;
    for (std::int64_t done = 0; done < duty.count;) {
        const auto offers = [&](std::int64_t which) {
            return world_.offered[static_cast<std::size_t>(duty.first + which)] > file;
        };
        for (; asked < std::min(duty.count, done + ahead) && offers(asked); ++asked) {
            ports_.life.fetch(Rank{static_cast<std::int32_t>(duty.world_first + asked)},
                              patch_bytes(duty.first + asked),
                              [&arrived = here[static_cast<std::size_t>(asked)]] { arrived = 1; });
        }
        if (here[static_cast<std::size_t>(done)] == 0) {
            ports_.life.wait_for_anything(never, 0, long_enough);
            continue;
        }
        put_in_place(duty.first + done);
        ports_.life.compute(experiment_.platform.node.message_time);
        ports::Word& taken = world_.taken[static_cast<std::size_t>(duty.first + done)];
        taken.fetch_add(1);
        ports_.communicator.wake(taken);
        ++done;
    }
}

void HandOverRank::put_in_place(std::int64_t rank) {
    const std::int64_t bytes = patch_bytes(rank);
    ports_.imagined->copied({bytes, bytes / experiment_.row_bytes + 1});
}

// All collectors write to the same files, each a part of its own; bursts follow one another.
void HandOverRank::write(const CollectorDuty& duty, std::int64_t file) {
    const std::int64_t file_bytes = patch_begin(ranks_of(experiment_));
    const std::int64_t begin = patch_begin(duty.first);
    const Extent part{Offset{file / experiment_.files * file_bytes + begin},
                      Length{patch_begin(duty.first + duty.count) - begin}};
    const FileStripes stripes = stripes_on(experiment_.platform, experiment_.stripe_count);
    ports::FileStorage& storage = *files_.at(static_cast<std::size_t>(file % experiment_.files));
    told_.requests += write_directly(storage, ports_.clock,
                                     {.stripes = stripes,
                                      .in_flight = experiment_.plain_in_flight,
                                      .request_bytes_max = experiment_.pool.request_bytes_max},
                                     part);
    told_.bytes += part.length.bytes();
}

// Files begin on different targets.
void HandOverRank::open_files() {
    const FileStripes stripes = stripes_on(experiment_.platform, experiment_.stripe_count);
    const std::int64_t targets = experiment_.platform.target.count;
    const double begin = now();
    for (std::int64_t file = 0; file < experiment_.files; ++file) {
        ports_.life.ask(adapters::MetadataCall::open);
        const auto first = static_cast<std::int32_t>(file * stripes.targets % targets);
        files_.push_back(ports_.life.file({file, first, stripes.targets}));
    }
    told_.opening = now() - begin;
}

void HandOverRank::close_files() {
    const double begin = now();
    for (std::size_t file = 0; file < files_.size(); ++file) {
        ports_.life.ask(adapters::MetadataCall::close);
    }
    files_.clear();
    told_.closing = now() - begin;
}

// Where the patch of a rank begins in a file: the order of bytes is that of ranks.
std::int64_t HandOverRank::patch_begin(std::int64_t rank) const {
    return experiment_.burst_bytes / experiment_.files * rank / ranks_of(experiment_);
}

}  // namespace forebay::sim
