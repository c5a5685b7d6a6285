// Node memory is mapped, not allocated: page-aligned, zero, and cheap however large.
#include "adapters/memory/communicator.hpp"

#include "adapters/memory/mail.hpp"
#include "adapters/posix/futex.hpp"
#include "adapters/posix/mapping.hpp"

#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <thread>

namespace forebay::adapters {

namespace {

constexpr std::chrono::microseconds brief_wait{100};

std::vector<NodeId> nodes_of_ranks(const ClusterOptions& options) {
    std::vector<std::int32_t> left = options.node_sizes;
    const std::int32_t ranks = std::accumulate(left.begin(), left.end(), 0);
    std::vector<NodeId> nodes;
    std::size_t node = 0;
    while (std::cmp_less(nodes.size(), ranks)) {
        if (left[node] > 0) {
            --left[node];
            nodes.emplace_back(static_cast<std::int32_t>(node));
        }
        if (options.arrangement == Arrangement::round_robin || left[node] == 0) {
            node = (node + 1) % left.size();
        }
    }
    return nodes;
}

}  // namespace

struct MemoryCluster::State {
    explicit State(const ClusterOptions& options);

    Result<void> all_gather(std::size_t node, std::span<const std::byte> mine,
                            std::span<std::byte> all);

    std::vector<std::vector<Rank>> members;  // of each node
    std::vector<ports::Place> places;        // of each rank
    std::vector<Mapping> memory;             // of each node
    Mail mail;

    std::mutex mutex;
    std::condition_variable gathered;
    std::size_t arrived = 0;
    std::uint64_t generation = 0;
    std::vector<std::byte> parts[2];  // of this gathering and the one before
};

MemoryCluster::State::State(const ClusterOptions& options) : mail{options.eager_bytes} {
    expects(!options.node_sizes.empty(), "a cluster has a node");
    expects(std::ranges::all_of(options.node_sizes, [](std::int32_t size) { return size > 0; }),
            "a node has a rank");
    members.resize(options.node_sizes.size());
    std::int32_t rank = 0;
    for (const NodeId node : nodes_of_ranks(options)) {
        std::vector<Rank>& here = members[node.position()];
        places.push_back({Rank{rank}, 0, node, static_cast<std::int32_t>(members.size()),
                          LocalRank{static_cast<std::int32_t>(here.size())},
                          options.node_sizes[node.position()]});
        here.emplace_back(rank++);
    }
    for (ports::Place& place : places) {
        place.ranks = rank;
    }
    for (std::size_t node = 0; node < members.size(); ++node) {
        Result<Mapping> mapping = Mapping::anonymous(options.node_bytes);
        expects(mapping.has_value(), "there is memory for an imagined node");
        memory.push_back(std::move(*mapping));
    }
}

// The one before stays readable until everyone has come to this one, and has thus read it.
Result<void> MemoryCluster::State::all_gather(std::size_t node, std::span<const std::byte> mine,
                                              std::span<std::byte> all) {
    expects(all.size() == mine.size() * members.size(), "all holds one part of every node");
    std::unique_lock lock{mutex};
    const std::uint64_t number = generation;
    std::vector<std::byte>& part = parts[number % 2];
    if (arrived == 0) {
        part.assign(all.size(), std::byte{0});
    }
    expects(part.size() == all.size(), "every node gathers the same size");
    std::ranges::copy(mine, part.begin() + static_cast<std::ptrdiff_t>(node * mine.size()));
    if (++arrived == members.size()) {
        arrived = 0;
        ++generation;
        gathered.notify_all();
    }
    gathered.wait(lock, [&] { return generation != number; });
    std::ranges::copy(part, all.begin());
    return {};
}

class MemoryCluster::Member final : public ports::Communicator {
public:
    Member(State& state, const ports::Place& place) noexcept : state_{state}, place_{place} {}

    [[nodiscard]] const ports::Place& place() const noexcept override { return place_; }
    [[nodiscard]] Rank rank_at(NodeId node, LocalRank local) const noexcept override {
        return state_.members[node.position()][local.position()];
    }
    [[nodiscard]] std::int32_t locals_on(NodeId node) const noexcept override {
        return static_cast<std::int32_t>(state_.members[node.position()].size());
    }
    [[nodiscard]] std::span<std::byte> node_memory() noexcept override {
        return state_.memory[place_.node.position()].bytes();
    }

    void wait(const ports::Word& word, std::uint32_t seen) noexcept override {
        doing_ = "wait";
        while (word.load(std::memory_order_acquire) == seen) {
            futex_wait(word, seen);
        }
        doing_ = "running";
    }
    void wait_briefly(const ports::Word& word, std::uint32_t seen) noexcept override {
        doing_ = "wait_briefly";
        if (word.load(std::memory_order_acquire) == seen) {
            futex_wait_for(word, seen, brief_wait);
        }
        doing_ = "running";
    }
    void wake(ports::Word& word) noexcept override { futex_wake(word); }

    Result<void> all_gather(std::span<const std::byte> mine, std::span<std::byte> all) override {
        expects(place_.leader(), "leaders gather");
        doing_ = "all_gather";
        const Result<void> result = state_.all_gather(place_.node.position(), mine, all);
        doing_ = "running";
        return result;
    }
    Ticket send(NodeId to, int tag, std::span<const std::byte> bytes) override {
        expects(place_.leader() && to != place_.node, "leaders send to other nodes");
        return state_.mail.send({place_.node, to, tag}, bytes);
    }
    Ticket receive(NodeId from, int tag, std::span<std::byte> bytes) override {
        expects(place_.leader() && from != place_.node, "leaders receive from other nodes");
        return state_.mail.receive({from, place_.node, tag}, bytes);
    }
    bool done(Ticket ticket) override { return state_.mail.done(ticket); }

    [[nodiscard]] const char* doing() const noexcept { return doing_; }

private:
    State& state_;
    ports::Place place_;
    std::atomic<const char*> doing_ = "running";
};

MemoryCluster::MemoryCluster(const ClusterOptions& options)
    : state_{std::make_unique<State>(options)} {
    for (const ports::Place& place : state_->places) {
        members_.push_back(std::make_unique<Member>(*state_, place));
    }
}

MemoryCluster::~MemoryCluster() = default;

std::int32_t MemoryCluster::ranks() const noexcept {
    return static_cast<std::int32_t>(members_.size());
}

ports::Communicator& MemoryCluster::communicator(Rank rank) {
    return *members_.at(rank.position());
}

const char* MemoryCluster::doing(Rank rank) const { return members_.at(rank.position())->doing(); }

namespace {

[[noreturn]] void give_up(const MemoryCluster& cluster, const std::vector<bool>& ended,
                          std::chrono::seconds patience) {
    std::fprintf(stderr, "forebay: ranks still run after %lld s (deadlock?):\n",
                 static_cast<long long>(patience.count()));
    for (std::int32_t rank = 0; rank < cluster.ranks(); ++rank) {
        std::fprintf(stderr, "  rank %d: %s\n", rank,
                     ended[Rank{rank}.position()] ? "ended" : cluster.doing(Rank{rank}));
    }
    std::abort();
}

}  // namespace

void run_ranks(const ClusterOptions& options, const RankBody& body) {
    MemoryCluster cluster{options};
    std::mutex mutex;
    std::condition_variable changed;
    std::int32_t running = cluster.ranks();
    std::vector<bool> ended(static_cast<std::size_t>(running));
    std::vector<std::jthread> threads;
    threads.reserve(ended.size());
    for (std::int32_t rank = 0; rank < cluster.ranks(); ++rank) {
        threads.emplace_back([&, rank] {
            body(cluster.communicator(Rank{rank}));
            const std::scoped_lock lock{mutex};
            --running;
            ended[Rank{rank}.position()] = true;
            changed.notify_one();
        });
    }
    std::unique_lock lock{mutex};
    if (!changed.wait_for(lock, options.patience, [&] { return running == 0; })) {
        give_up(cluster, ended, options.patience);
    }
    lock.unlock();
    threads.clear();
}

void run_ranks(const std::vector<std::int32_t>& node_sizes, const RankBody& body) {
    ClusterOptions options;
    options.node_sizes = node_sizes;
    run_ranks(options, body);
}

}  // namespace forebay::adapters
