// Ranks are threads and wait on real futexes.
#include "worlds/memory/communicator.hpp"

#include "storage/posix/futex.hpp"

#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace forebay::adapters {

namespace {

constexpr std::chrono::microseconds brief_wait{100};

}  // namespace

struct MemoryCluster::State {
    explicit State(const ClusterOptions& options) : nodes{options} {}

    NodeMembers nodes;
    std::mutex mutex;
    std::condition_variable gathered;
};

class MemoryCluster::Member final : public NodeMember {
public:
    Member(State& state, const ports::RankPlace& place) noexcept
        : NodeMember{state.nodes, place}, state_{state} {}

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

    void all_gather(std::span<const std::byte> mine, std::span<std::byte> all) override {
        expects(place().leader(), "leaders gather");
        doing_ = "all_gather";
        std::unique_lock lock{state_.mutex};
        const std::uint64_t number = state_.nodes.gathering.bring(place().node, mine);
        state_.gathered.notify_all();
        state_.gathered.wait(lock, [&] { return state_.nodes.gathering.complete(number); });
        state_.nodes.gathering.take(number, all);
        doing_ = "running";
    }

    [[nodiscard]] const char* doing() const noexcept { return doing_; }

private:
    State& state_;
    std::atomic<const char*> doing_ = "running";
};

MemoryCluster::MemoryCluster(const ClusterOptions& options)
    : state_{std::make_unique<State>(options)} {
    for (const ports::RankPlace& place : state_->nodes.places) {
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
