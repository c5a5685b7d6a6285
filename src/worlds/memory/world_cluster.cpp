// Every call of a port is a step, so that other actors may run between any two.
#include "worlds/memory/world_cluster.hpp"

#include <fmt/format.h>

namespace forebay::adapters {

namespace {

constexpr std::int64_t brief_ns = 100'000;

}  // namespace

struct WorldCluster::State {
    State(MemoryWorld& in, const NodesOptions& options) : world{in}, nodes{options} {}

    MemoryWorld& world;
    NodeMembers nodes;
};

class WorldCluster::Member final : public NodeMember {
public:
    Member(State& state, const ports::RankPlace& place) noexcept
        : NodeMember{state.nodes, place}, state_{state} {}

    void wait(const ports::Word& word, std::uint32_t seen) noexcept override {
        state_.world.step({"look at word", number_of(word)});
        while (word.load(std::memory_order_acquire) == seen) {
            state_.world.wait(&word, {"word", number_of(word)});
        }
    }
    void wait_briefly(const ports::Word& word, std::uint32_t seen) noexcept override {
        state_.world.step({"look at word", number_of(word)});
        if (word.load(std::memory_order_acquire) == seen) {
            const std::int64_t time = brief_ns / 2 + state_.world.draw(brief_ns);
            state_.world.wait_for(&word, time, {"word for a moment", number_of(word)});
        }
    }
    void wake(ports::Word& word) noexcept override {
        state_.world.step({"wake word", number_of(word)});
        state_.world.wake(&word);
    }
    void all_gather(std::span<const std::byte> mine, std::span<std::byte> all) override {
        expects(place().leader(), "leaders gather");
        state_.world.step({"gather"});
        const std::uint64_t number = state_.nodes.gathering.bring(place().node, mine);
        state_.world.wake(&state_.nodes.gathering);
        while (!state_.nodes.gathering.complete(number)) {
            state_.world.wait(&state_.nodes.gathering,
                              {"gathering", static_cast<std::int64_t>(number)});
        }
        state_.nodes.gathering.take(number, all);
    }
    Ticket send(NodeId to, int tag, std::span<const std::byte> bytes) override {
        state_.world.step({"send to node", to.value()});
        return NodeMember::send(to, tag, bytes);
    }
    Ticket receive(NodeId from, int tag, std::span<std::byte> bytes) override {
        state_.world.step({"receive from node", from.value()});
        return NodeMember::receive(from, tag, bytes);
    }
    std::optional<std::size_t> done(Ticket ticket) override {
        state_.world.step({"ask for message", static_cast<std::int64_t>(ticket)});
        return NodeMember::done(ticket);
    }

private:
    // The word's offset in node memory, which is the same in every run; -1 if it is elsewhere.
    [[nodiscard]] std::int64_t number_of(const ports::Word& word) noexcept {
        const std::span<const std::byte> memory = node_memory();
        // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): only its address
        const auto* byte = reinterpret_cast<const std::byte*>(&word);
        const bool inside = std::less_equal<>{}(memory.data(), byte) &&
                            std::less<>{}(byte, memory.data() + memory.size());
        return inside ? byte - memory.data() : -1;
    }

    State& state_;
};

WorldCluster::WorldCluster(MemoryWorld& world, const NodesOptions& options)
    : state_{std::make_unique<State>(world, options)} {
    for (const ports::RankPlace& place : state_->nodes.places) {
        members_.push_back(std::make_unique<Member>(*state_, place));
    }
}

WorldCluster::~WorldCluster() = default;

std::int32_t WorldCluster::ranks() const noexcept {
    return static_cast<std::int32_t>(members_.size());
}

ports::Communicator& WorldCluster::communicator(Rank rank) { return *members_.at(rank.position()); }

void WorldCluster::spawn(const std::function<void(ports::Communicator&)>& body) {
    for (std::int32_t rank = 0; rank < ranks(); ++rank) {
        state_->world.spawn(fmt::format("rank {}", rank),
                            [this, body, rank] { body(communicator(Rank{rank})); });
    }
}

WorldEnding run_ranks(MemoryWorld& world, const NodesOptions& options,
                      const std::function<void(ports::Communicator&)>& body) {
    WorldCluster cluster{world, options};
    cluster.spawn(body);
    return world.run();
}

}  // namespace forebay::adapters
