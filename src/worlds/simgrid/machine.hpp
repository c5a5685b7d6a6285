// The state behind all ranks of a simulated world: sleeping ranks, messages in flight, and the
// queues of network interfaces, memories and the file system. Used by the simulation's single
// thread.
#pragma once

#include "storage/posix/mapping.hpp"
#include "worlds/simgrid/lustre.hpp"
#include "worlds/simgrid/world.hpp"

#include <memory>
#include <optional>
#include <simgrid/s4u.hpp>
#include <unordered_map>

namespace forebay::adapters {

class SimulatedMachine {
public:
    using Ticket = ports::Communicator::Ticket;
    struct Route {
        std::int32_t from = 0;  // node numbers
        std::int32_t to = 0;
        int tag = 0;
    };

    // `memory` is that of all nodes together, memory_bytes() bytes.
    SimulatedMachine(const MachinePlatform& platform, const WorldOptions& options,
                     MemoryMapping memory);
    [[nodiscard]] static std::size_t memory_bytes(const WorldOptions& options) noexcept;

    [[nodiscard]] std::int32_t ranks() const noexcept { return options_.hosts * per_host(); }
    [[nodiscard]] std::int32_t per_node() const noexcept { return options_.ranks_per_node; }
    [[nodiscard]] std::int32_t nodes() const noexcept { return ranks() / per_node(); }
    [[nodiscard]] std::int32_t host_of(std::int32_t rank) const noexcept;
    [[nodiscard]] const MachinePlatform& platform() const noexcept { return platform_; }
    [[nodiscard]] bool blocks() const noexcept { return options_.blocking; }
    [[nodiscard]] MemoryFile* content() const noexcept { return options_.content; }
    [[nodiscard]] SimulatedLustre& lustre() noexcept { return lustre_; }
    [[nodiscard]] std::span<std::byte> memory(std::int32_t node);

    // Sets the SimGrid actor of a rank, before it starts.
    void play(std::int32_t rank, simgrid::s4u::ActorPtr actor) {
        at(rank).actor = std::move(actor);
    }

    // Time. A rank's debt is virtual time that it has spent but not let pass yet. settle() lets it
    // pass and returns whether there was any.
    [[nodiscard]] double now(std::int32_t rank) const;
    void charge(std::int32_t rank, double seconds);
    bool settle(std::int32_t rank);
    void copied(std::int32_t rank, const ports::ImaginedCopy& what);

    // Sleeping. wake() wakes the ranks that sleep on a word; a rank that sleeps briefly is also
    // woken by any event on its node or for itself.
    void sleep_on(std::int32_t rank, const ports::Word& word);
    void sleep_briefly(std::int32_t rank);
    void sleep_for_storage(std::int32_t rank);
    // As sleep_on() and sleep_briefly(), with a time-out in seconds.
    void sleep_on_for(std::int32_t rank, const ports::Word& word, double seconds);
    void sleep_briefly_for(std::int32_t rank, double seconds);
    // Calls `what` after `seconds`, and wakes `rank` if it sleeps briefly.
    void later(std::int32_t rank, double seconds, std::function<void()> what);
    void wake(std::int32_t rank, const ports::Word& word);
    void happened_to(std::int32_t rank);
    void storage_is_through(std::int32_t rank) { signal(rank); }

    Ticket send(std::int32_t rank, const Route& route, std::span<const std::byte> bytes);
    Ticket receive(std::int32_t rank, const Route& route, std::span<std::byte> bytes);
    std::optional<std::size_t> done(std::int32_t rank, Ticket ticket);
    void absent(std::int32_t rank, std::int64_t bytes) { at(rank).absent = bytes; }
    // Fetches bytes that do not exist from the memory of the rank `from`, as the receiver of a
    // rendezvous does by RDMA: as a message of that size, but neither rank's core works. Calls
    // `arrived` and wakes `rank` if it sleeps briefly.
    void fetch(std::int32_t rank, std::int32_t from, std::int64_t bytes,
               std::function<void()> arrived);

    // Starts a request; `through` is called with its errno when it is done.
    using Through = std::function<void(int)>;
    void request(std::int32_t rank, const RequestArrival& arrival, IoDirection direction,
                 Through through);
    // Requests of a node's client. Copying is charged separately, by through_client().
    void send_to_target(std::int32_t rank, const RequestArrival& arrival, Through through);
    void fetch_from_target(std::int32_t rank, const RequestArrival& arrival, Through through);
    // The time at which the client has copied `bytes` for the rank and done `seconds` of other
    // work.
    double through_client(std::int32_t rank, std::int64_t bytes, double seconds = 0);
    // Counts bytes that have reached their destination.
    void moved(std::int64_t bytes);

    [[nodiscard]] WorldReport report() const;

private:
    enum class Stage : std::uint8_t { free, under_way, done };
    struct TicketState {
        Stage stage = Stage::free;
        double owed = 0;  // seconds of the receiver's work on what has arrived
        std::size_t received = 0;
    };
    struct RankState {
        simgrid::s4u::ActorPtr actor;
        simgrid::s4u::SemaphorePtr gate;  // leaders only
        bool asleep = false;
        bool brief = false;
        bool missed = false;  // an event happened while the rank paused without sleeping briefly
        std::uint64_t events = 0;
        double debt = 0;
        ServiceQueue client;  // of the file system's client, for this rank
        std::int64_t absent = 0;
        std::vector<TicketState> tickets;
    };
    struct End {  // one side of a message
        std::int32_t rank = 0;
        Ticket ticket = 0;
        std::span<const std::byte> source;
        std::span<std::byte> sink;
        std::int64_t bytes = 0;       // size on the network
        std::vector<std::byte> copy;  // buffered data that the sender need not keep
        bool ended = false;           // the sender's ticket has ended
    };
    struct Message {
        End from;
        std::optional<End> to;  // the matching receive
        bool set_off = false;
        bool there = false;
        std::function<void()> fetched;  // of a fetch, which no receive is posted for
    };
    // Owned by the post until it is matched, and by the timer that carries it.
    using SharedMessage = std::shared_ptr<Message>;
    struct Post {  // of one route; both lists stay short
        std::vector<SharedMessage> sent;
        std::vector<End> wanted;
    };

    // Seconds of work per message at one end, besides copying. `rate_alone` is that end's rate when
    // every rank is a node of its own.
    [[nodiscard]] double message_time(std::int64_t bytes, double rate_alone) const noexcept;
    [[nodiscard]] double latency() const noexcept { return platform_.node.link_latency; }
    [[nodiscard]] double link_time(std::int64_t bytes) const noexcept {
        return static_cast<double>(bytes) / platform_.node.link_rate;
    }
    [[nodiscard]] std::int32_t per_host() const noexcept { return options_.ranks_per_host; }
    [[nodiscard]] RankState& at(std::int32_t rank) {
        return ranks_[static_cast<std::size_t>(rank)];
    }
    [[nodiscard]] const RankState& at(std::int32_t rank) const {
        return ranks_[static_cast<std::size_t>(rank)];
    }
    [[nodiscard]] Post& post(const Route& route);
    Ticket new_ticket(std::int32_t rank);
    void finish(std::int32_t rank, Ticket ticket);
    void pause(std::int32_t rank);
    [[nodiscard]] std::uint64_t happened(std::int32_t rank) const;
    void go_on(std::int32_t rank);
    void block(std::int32_t rank);
    // Calls `sleep`; `run_out` ends it after `seconds`.
    void sleep_no_longer_than(double seconds, const std::function<void()>& sleep,
                              const std::function<void()>& run_out);
    void signal(std::int32_t rank);
    void match(Post& post);
    void write(std::int32_t rank, const RequestArrival& arrival, Through through);
    void leave(std::int32_t rank, const RequestArrival& arrival, Through through);
    using Serve = double (SimulatedLustre::*)(double, const RequestArrival&);
    void read(std::int32_t rank, const RequestArrival& arrival, Serve serve, Through through);
    [[nodiscard]] int failure_now(std::int32_t target) const;
    static void answer(double at, int failure, Through through);
    void set_off(const SharedMessage& message, std::int32_t to_host);
    void cross_network(const SharedMessage& message, std::int32_t from_host, std::int32_t to_host);
    void take_in(const SharedMessage& message, std::int32_t host);
    void arrive_at(double time, const SharedMessage& message);
    void deliver(const Message& message);

    MachinePlatform platform_;
    WorldOptions options_;
    SimulatedLustre lustre_;
    std::vector<RankState> ranks_;
    MemoryMapping memory_;  // of all nodes
    std::vector<ServiceQueue> memory_busy_;
    std::vector<ServiceQueue> out_messages_;  // the hosts' interfaces, as messages queue at them
    std::vector<ServiceQueue> in_messages_;
    std::vector<ServiceQueue> out_;  // and as requests do
    std::vector<ServiceQueue> in_;
    std::unordered_map<const ports::Word*, std::vector<std::int32_t>> sleepers_;
    std::vector<std::vector<std::int32_t>> brief_;  // of each node
    std::vector<std::uint64_t> node_events_;
    std::unordered_map<std::uint64_t, Post> posts_;
    std::int64_t moved_ = 0;
    WorldReport report_;
};

}  // namespace forebay::adapters
