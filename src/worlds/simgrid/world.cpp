// The ports of a rank over the machine, and the simulation that runs all ranks.
#include "worlds/simgrid/world.hpp"

#include "foundation/ports/completions.hpp"
#include "worlds/memory/file.hpp"
#include "worlds/simgrid/machine.hpp"
#include "worlds/simgrid/mounted_storage.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <simgrid/kernel/Timer.hpp>
#include <smpi/smpi.h>
#include <string>

namespace forebay::adapters {

namespace {

namespace s4u = simgrid::s4u;

class SimulatedClock final : public ports::TimeSource {
public:
    SimulatedClock(const SimulatedMachine& machine, std::int32_t rank)
        : machine_{machine}, rank_{rank} {}
    [[nodiscard]] std::int64_t now_ns() const noexcept override {
        constexpr double most_ns = 9e18;  // 285 years
        return static_cast<std::int64_t>(std::min(machine_.now(rank_) * 1e9, most_ns));
    }

private:
    const SimulatedMachine& machine_;
    std::int32_t rank_;
};

class SimulatedImagined final : public ports::Imagined {
public:
    SimulatedImagined(SimulatedMachine& machine, std::int32_t rank)
        : machine_{machine}, rank_{rank} {}
    void copied(const ports::ImaginedCopy& what) override { machine_.copied(rank_, what); }
    void absent(std::int64_t bytes) override { machine_.absent(rank_, bytes); }

private:
    SimulatedMachine& machine_;
    std::int32_t rank_;
};

class SimulatedCommunicator final : public ports::Communicator {
public:
    SimulatedCommunicator(SimulatedMachine& machine, std::int32_t rank)
        : machine_{machine}, rank_{rank} {
        const std::int32_t per_node = machine.per_node();
        place_ = {Rank{rank},
                  machine.ranks(),
                  NodeId{rank / per_node},
                  machine.nodes(),
                  LocalRank{rank % per_node},
                  per_node};
    }

    [[nodiscard]] const ports::RankPlace& place() const noexcept override { return place_; }
    [[nodiscard]] Rank rank_at(NodeId node, LocalRank local) const noexcept override {
        return Rank{node.value() * machine_.per_node() + local.value()};
    }
    [[nodiscard]] std::int32_t locals_on(NodeId /*node*/) const noexcept override {
        return machine_.per_node();
    }
    [[nodiscard]] std::span<std::byte> node_memory() noexcept override {
        return machine_.memory(place_.node.value());
    }

    void wait(const ports::Word& word, std::uint32_t seen) noexcept override {
        while (word.load(std::memory_order_acquire) == seen) {
            machine_.sleep_on(rank_, word);
        }
    }
    // Needs no time-out: every change that a rank may wait for wakes it.
    void wait_briefly(const ports::Word& word, std::uint32_t seen) noexcept override {
        if (word.load(std::memory_order_acquire) == seen) {
            machine_.sleep_briefly(rank_);
        }
    }
    void wake(ports::Word& word) noexcept override { machine_.wake(rank_, word); }

    void all_gather(std::span<const std::byte> mine, std::span<std::byte> all) override;

    Ticket send(NodeId to, int tag, std::span<const std::byte> bytes) override {
        expects(place_.leader() && to != place_.node, "leaders send to other nodes");
        return machine_.send(rank_, {place_.node.value(), to.value(), tag}, bytes);
    }
    Ticket receive(NodeId from, int tag, std::span<std::byte> bytes) override {
        expects(place_.leader() && from != place_.node, "leaders receive from other nodes");
        return machine_.receive(rank_, {from.value(), place_.node.value(), tag}, bytes);
    }
    std::optional<std::size_t> done(Ticket ticket) override { return machine_.done(rank_, ticket); }

private:
    [[nodiscard]] int leader_of(std::int32_t node) const {
        return (node % place_.nodes + place_.nodes) % place_.nodes * machine_.per_node();
    }

    SimulatedMachine& machine_;
    std::int32_t rank_;
    ports::RankPlace place_;
};

// Bruck's algorithm (Bruck et al., 1997) over SMPI: ⌈log2 nodes⌉ messages per leader. SMPI's own
// MPI_Allgather would need a communicator of leaders, whose creation takes minutes for 256 of 8192
// ranks.
void SimulatedCommunicator::all_gather(std::span<const std::byte> mine, std::span<std::byte> all) {
    constexpr int tag = 1;
    expects(place_.leader(), "leaders gather");
    machine_.settle(rank_);
    const std::size_t part = mine.size();
    std::vector<std::byte> turned(all.size());
    std::ranges::copy(mine, turned.begin());
    const std::int32_t node = place_.node.value();
    for (std::int32_t have = 1; have < place_.nodes;) {
        const std::int32_t more = std::min(have, place_.nodes - have);
        const auto bytes = static_cast<int>(part * static_cast<std::size_t>(more));
        const int code =
            MPI_Sendrecv(turned.data(), bytes, MPI_BYTE, leader_of(node - have), tag,
                         turned.data() + part * static_cast<std::size_t>(have), bytes, MPI_BYTE,
                         leader_of(node + have), tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        invariant(code == MPI_SUCCESS, "SMPI's MPI_Sendrecv does not fail");
        have += more;
    }
    for (std::int32_t i = 0; i < place_.nodes; ++i) {
        const auto from = static_cast<std::ptrdiff_t>(part) * i;
        const auto to = static_cast<std::ptrdiff_t>(part) * ((node + i) % place_.nodes);
        std::copy_n(turned.begin() + from, part, all.begin() + to);
    }
}

// Sleeps until the metadata server has answered. `operation` maps the time of the request at the
// server to that of the answer.
template <class Operation>
void await_metadata(SimulatedMachine& machine, std::int32_t rank, Operation operation) {
    machine.settle(rank);
    const double answered = operation(machine.lustre(), s4u::Engine::get_clock());
    s4u::this_actor::sleep_until(answered + 2 * machine.platform().node.link_latency);
}

void ask_metadata(SimulatedMachine& machine, std::int32_t rank,
                  double (SimulatedLustre::*operation)(double)) {
    await_metadata(machine, rank, [operation](SimulatedLustre& lustre, double now) {
        return (lustre.*operation)(now);
    });
}

// The file system clients of all nodes, each created at its first use.
class NodeMounts {
public:
    explicit NodeMounts(SimulatedMachine& machine)
        : machine_{machine}, mounts_(static_cast<std::size_t>(machine.nodes())) {}

    SimulatedMount& of(std::int32_t rank) {
        const std::int32_t node = rank / machine_.per_node();
        std::unique_ptr<SimulatedMount>& mount = mounts_[static_cast<std::size_t>(node)];
        if (!mount) {
            mount = std::make_unique<SimulatedMount>(machine_, node);
        }
        return *mount;
    }

private:
    SimulatedMachine& machine_;
    std::vector<std::unique_ptr<SimulatedMount>> mounts_;
};

class SimulatedStorage final : public ports::FileStorage {
public:
    enum class Closing { asks, is_free };
    SimulatedStorage(SimulatedMachine& machine, std::int32_t rank)
        : SimulatedStorage{machine,
                           rank,
                           {0, 0, static_cast<std::int32_t>(machine.platform().target.count)},
                           Closing::asks} {}
    SimulatedStorage(SimulatedMachine& machine, std::int32_t rank, const FilePlace& place,
                     Closing closing)
        : machine_{machine}, rank_{rank}, place_{place}, closing_{closing} {}

    [[nodiscard]] int depth() const noexcept override { return depth_max; }

    void submit(const ports::Request& request) override {
        RequestArrival arrival;
        arrival.client = rank_;
        const std::int64_t offset = request.pieces.front().at.bytes();
        const std::int64_t stripe = offset / machine_.platform().stripe_bytes;
        const std::int64_t target = place_.first_target + stripe % place_.targets;
        arrival.target = static_cast<std::int32_t>(target % machine_.platform().target.count);
        arrival.offset = place_.number * file_stripes * machine_.platform().stripe_bytes + offset;
        Offset end = request.pieces.front().at;
        arrival.pieces = 0;
        for (const ports::Piece& piece : request.pieces) {
            arrival.bytes += static_cast<std::int64_t>(piece.bytes.size());
            arrival.pieces += arrival.pieces == 0 || piece.at != end ? 1 : 0;
            end = piece.at + Length{static_cast<std::int64_t>(piece.bytes.size())};
        }
        machine_.request(rank_, arrival, request.direction,
                         [this, request, bytes = arrival.bytes](int system) {
                             complete(request, bytes, system);
                         });
        if (machine_.blocks()) {
            await();
        }
    }

    std::size_t poll(std::span<ports::RequestCompletion> out) override {
        return ports::take_oldest(done_, out);
    }

    std::size_t wait(std::span<ports::RequestCompletion> out) override {
        await();
        return poll(out);
    }

    Result<void> sync() override { return {}; }
    [[nodiscard]] Result<ports::FileIdentity> identity() const override {
        return ports::FileIdentity{};
    }
    Result<void> close() override {
        if (closing_ == Closing::asks) {
            ask_metadata(machine_, rank_, &SimulatedLustre::close);
        }
        return {};
    }
    [[nodiscard]] const char* name() const noexcept override { return "simulated"; }

private:
    static constexpr int depth_max = 64;
    static constexpr std::int64_t file_stripes = std::int64_t{1} << 24;

    void await() {
        while (done_.empty()) {
            waits_ = true;
            machine_.sleep_for_storage(rank_);
        }
    }

    void complete(const ports::Request& request, std::int64_t bytes, int system) {
        ports::RequestCompletion completion{request.ticket, Length{system == 0 ? bytes : 0},
                                            system};
        if (system == 0 && machine_.content() != nullptr) {
            completion = machine_.content()->perform(request, 0);
        }
        done_.push_back(completion);
        if (waits_) {
            waits_ = false;
            machine_.storage_is_through(rank_);
        } else {
            machine_.happened_to(rank_);
        }
    }

    SimulatedMachine& machine_;
    std::int32_t rank_;
    FilePlace place_;
    Closing closing_;
    std::vector<ports::RequestCompletion> done_;
    bool waits_ = false;
};

RankLife life_of(SimulatedMachine& machine, NodeMounts& mounts, std::int32_t rank) {
    RankLife life;
    life.compute = [&machine, rank](double seconds) {
        machine.charge(rank, seconds);
        machine.settle(rank);
    };
    life.wait_for = [&machine, rank](const ports::Word& word, std::uint32_t seen, double seconds) {
        if (word.load(std::memory_order_acquire) == seen) {
            machine.sleep_on_for(rank, word, seconds);
        }
    };
    life.wait_for_anything = [&machine, rank](const ports::Word& word, std::uint32_t seen,
                                              double seconds) {
        if (word.load(std::memory_order_acquire) == seen) {
            machine.sleep_briefly_for(rank, seconds);
        }
    };
    life.tell = [&machine, rank](Rank to, std::function<void()> arrives) {
        const NodePlatform& node = machine.platform().node;
        machine.charge(rank, node.message_time);
        machine.settle(rank);
        machine.later(to.value(), node.link_latency + node.message_time, std::move(arrives));
    };
    life.fetch = [&machine, rank](Rank from, std::int64_t bytes, std::function<void()> arrived) {
        machine.fetch(rank, from.value(), bytes, std::move(arrived));
    };
    life.ask = [&machine, rank](MetadataCall what) {
        ask_metadata(machine, rank,
                     what == MetadataCall::open ? &SimulatedLustre::open : &SimulatedLustre::close);
    };
    life.create = [&machine, rank](std::int64_t objects) {
        await_metadata(machine, rank, [objects](SimulatedLustre& lustre, double now) {
            return lustre.create(now, objects);
        });
    };
    life.mounted = [&machine, &mounts, rank](const MountedFile& file) {
        return std::make_unique<MountedStorage>(machine, mounts.of(rank), rank, file);
    };
    life.file = [&machine, rank](const FilePlace& place) {
        return std::make_unique<SimulatedStorage>(machine, rank, place,
                                                  SimulatedStorage::Closing::is_free);
    };
    return life;
}

void run_rank(SimulatedMachine& machine, NodeMounts& mounts,
              const std::function<void(RankPorts&)>& body) {
    MPI_Init(nullptr, nullptr);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    SimulatedCommunicator communicator{machine, rank};
    const SimulatedClock clock{machine, rank};
    SimulatedImagined imagined{machine, rank};
    const RankLife life = life_of(machine, mounts, rank);
    RankPorts ports{communicator, clock, machine.content() == nullptr ? &imagined : nullptr,
                    [&](IoDirection) -> Result<std::unique_ptr<ports::FileStorage>> {
                        ask_metadata(machine, rank, &SimulatedLustre::open);
                        return std::make_unique<SimulatedStorage>(machine, rank);
                    },
                    life};
    body(ports);
    machine.settle(rank);
    MPI_Finalize();
}

std::vector<s4u::Host*> build_hosts(const MachinePlatform& platform, const WorldOptions& options) {
    s4u::NetZone* zone = s4u::create_star_zone("machine");
    std::vector<s4u::Host*> hosts;
    for (std::int32_t i = 0; i < options.hosts; ++i) {
        const std::string name = std::to_string(i);
        s4u::Host* host = zone->create_host("node-" + name, 1e9);
        const s4u::Link* link =
            zone->create_split_duplex_link("link-" + name, platform.node.link_rate)
                ->set_latency(platform.node.link_latency / 2)
                ->seal();
        zone->add_route(host->get_netpoint(), nullptr, nullptr, nullptr,
                        {{link, s4u::LinkInRoute::Direction::UP}}, true);
        const s4u::Link* inside = zone->create_link("inside-" + name, platform.node.memory_rate)
                                      ->set_latency(1e-7)
                                      ->set_sharing_policy(s4u::Link::SharingPolicy::FATPIPE)
                                      ->seal();
        zone->add_route(host->get_netpoint(), host->get_netpoint(), nullptr, nullptr,
                        {s4u::LinkInRoute(inside)});
        host->seal();
        hosts.push_back(host);
    }
    zone->seal();
    return hosts;
}

}  // namespace

Result<WorldReport> run_world(const MachinePlatform& platform, const WorldOptions& options,
                              const std::function<void(RankPorts&)>& body) {
    // One mapping for all nodes: Linux allows a process 65530 mappings, and the stacks need them.
    const std::size_t bytes = SimulatedMachine::memory_bytes(options);
    Result<MemoryMapping> memory = MemoryMapping::anonymous(bytes);
    if (!memory) {
        return failure({memory.error().code, memory.error().system,
                        fmt::format("cannot imagine the memory of all nodes ({} GB of addresses, "
                                    "though none of it is used: errno {}). Raise the limit (ulimit "
                                    "-v), or give a smaller staging_bytes_max or fewer nodes.",
                                    bytes / 1'000'000'000, memory.error().system)});
    }
    // A stack with a guard page takes two mappings, of which Linux allows a process 65530.
    constexpr std::int32_t guarded_max = 16384;
    const bool guarded = options.hosts * options.ranks_per_host <= guarded_max;
    std::array words{std::string{"forebay_sim"},
                     std::string{"--cfg=contexts/guard-size:"} + (guarded ? "1" : "0"),
                     std::string{"--cfg=smpi/simulate-computation:no"},
                     std::string{"--cfg=contexts/stack-size:128"},
                     std::string{"--cfg=network/crosstraffic:0"},
                     std::string{"--cfg=smpi/wtime:0"},
                     std::string{"--log=root.thresh:warning"}};
    std::vector<char*> arguments;
    arguments.reserve(words.size() + 1);
    for (std::string& word : words) {
        arguments.push_back(word.data());
    }
    arguments.push_back(nullptr);
    auto count = static_cast<int>(words.size());
    s4u::Engine engine{&count, arguments.data()};
    SMPI_init();
    const std::vector<s4u::Host*> hosts = build_hosts(platform, options);
    SimulatedMachine machine{platform, options, std::move(*memory)};
    NodeMounts mounts{machine};
    SMPI_app_instance_register("forebay", nullptr, machine.ranks());
    for (std::int32_t rank = 0; rank < machine.ranks(); ++rank) {
        s4u::Host* host = hosts[static_cast<std::size_t>(machine.host_of(rank))];
        const s4u::ActorPtr actor = s4u::Actor::init("rank-" + std::to_string(rank), host);
        actor->set_property("instance_id", "forebay");
        actor->set_property("rank", std::to_string(rank));
        machine.play(rank, actor);
        actor->start([&machine, &mounts, &body] { run_rank(machine, mounts, body); });
    }
    engine.run();
    const WorldReport report = machine.report();
    SMPI_finalize();
    return report;
}

}  // namespace forebay::adapters
