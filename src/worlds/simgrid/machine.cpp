// Every wake-up of a rank comes from a timer of SimGrid's kernel or from another rank, and the
// waker knows that the rank sleeps. Nothing polls.
#include "worlds/simgrid/machine.hpp"

#include "foundation/base/contracts.hpp"

#include <algorithm>
#include <cerrno>
#include <simgrid/kernel/Timer.hpp>
#include <simgrid/simix.hpp>
#include <utility>

namespace forebay::adapters {

namespace {

namespace s4u = simgrid::s4u;
using simgrid::kernel::timer::Timer;

// Virtual time is let pass only in steps of at least this (seconds) if no rank waits for it, since
// each step costs an event.
constexpr double debt_max = 100e-6;
constexpr std::size_t eager_bytes = 4096;

double clock_now() { return s4u::Engine::get_clock(); }

}  // namespace

std::size_t SimulatedMachine::memory_bytes(const WorldOptions& options) noexcept {
    const auto nodes =
        static_cast<std::size_t>(options.hosts * (options.ranks_per_host / options.ranks_per_node));
    return options.node_bytes * nodes;
}

SimulatedMachine::SimulatedMachine(const MachinePlatform& platform, const WorldOptions& options,
                                   MemoryMapping memory)
    : platform_{platform},
      options_{options},
      lustre_{platform, options.seed, options.sickness, options.slower},
      memory_{std::move(memory)},
      memory_busy_(static_cast<std::size_t>(options.hosts)),
      out_messages_(static_cast<std::size_t>(options.hosts)),
      in_messages_(static_cast<std::size_t>(options.hosts)),
      out_(static_cast<std::size_t>(options.hosts)),
      in_(static_cast<std::size_t>(options.hosts)) {
    expects(options.ranks_per_host % options.ranks_per_node == 0,
            "nodes are equal parts of a host");
    expects(options.mapping == RankMapping::by_block || options.ranks_per_node == 1,
            "ranks of a node are on one host");
    expects(!options.ranks_alone || options.ranks_per_node == 1, "who is alone shares no memory");
    ranks_.resize(static_cast<std::size_t>(ranks()));
    for (std::int32_t leader = 0; leader < ranks(); leader += per_node()) {
        at(leader).gate = s4u::Semaphore::create(0);
    }
    brief_.resize(static_cast<std::size_t>(nodes()));
    node_events_.resize(static_cast<std::size_t>(nodes()));
}

std::int32_t SimulatedMachine::host_of(std::int32_t rank) const noexcept {
    return options_.mapping == RankMapping::by_block ? rank / per_host() : rank % options_.hosts;
}

std::span<std::byte> SimulatedMachine::memory(std::int32_t node) {
    return memory_.bytes().subspan(options_.node_bytes * static_cast<std::size_t>(node),
                                   options_.node_bytes);
}

double SimulatedMachine::now(std::int32_t rank) const { return clock_now() + at(rank).debt; }

void SimulatedMachine::charge(std::int32_t rank, double seconds) { at(rank).debt += seconds; }

bool SimulatedMachine::settle(std::int32_t rank) {
    const double debt = at(rank).debt;
    if (debt <= 0) {
        return false;
    }
    at(rank).debt = 0;
    // A timer costs a fraction of SimGrid's sleep, which is an action of the host model.
    Timer::set(clock_now() + debt, [this, rank] { go_on(rank); });
    pause(rank);
    return true;
}

// Charges the core's own copying time, or the queueing time of the node's memory if that is longer.
void SimulatedMachine::copied(std::int32_t rank, const ports::ImaginedCopy& what) {
    const NodePlatform& node = platform_.node;
    const auto bytes = static_cast<double>(what.bytes);
    const double begin = now(rank);
    const double core = bytes / node.copy_rate + static_cast<double>(what.pieces) * node.piece_time;
    ServiceQueue& memory = memory_busy_[static_cast<std::size_t>(host_of(rank))];
    const double through = memory.serve(begin, bytes / node.memory_rate);
    charge(rank, std::max(core, through - begin));
    if (at(rank).debt > debt_max) {
        settle(rank);
    }
}

// Suspending a SimGrid actor also suspends its messages, even those that it does not wait for.
// Leaders communicate over SMPI and therefore sleep on a semaphore; other ranks are suspended,
// which is cheaper.
void SimulatedMachine::pause(std::int32_t rank) {
    const std::uint64_t before = happened(rank);
    if (at(rank).gate) {
        at(rank).gate->acquire();
    } else {
        s4u::this_actor::suspend();
    }
    at(rank).missed = at(rank).missed || happened(rank) != before;
}

// The number of events so far that would have woken a brief sleeper.
std::uint64_t SimulatedMachine::happened(std::int32_t rank) const {
    return at(rank).events + node_events_[static_cast<std::size_t>(rank / per_node())];
}

void SimulatedMachine::go_on(std::int32_t rank) {
    if (at(rank).gate) {
        at(rank).gate->release();
    } else {
        at(rank).actor->resume();
    }
}

void SimulatedMachine::block(std::int32_t rank) {
    const double begin = clock_now();
    at(rank).asleep = true;
    pause(rank);
    // The rank's debt has passed during its sleep.
    at(rank).debt = std::max(at(rank).debt - (clock_now() - begin), 0.0);
}

void SimulatedMachine::signal(std::int32_t rank) {
    if (at(rank).asleep) {
        at(rank).asleep = false;
        go_on(rank);
    }
}

void SimulatedMachine::sleep_on(std::int32_t rank, const ports::Word& word) {
    sleepers_[&word].push_back(rank);
    block(rank);
}

// Does not sleep if something happened while the debt passed, because the rank may have checked
// before that.
void SimulatedMachine::sleep_briefly(std::int32_t rank) {
    if (!at(rank).missed) {
        at(rank).brief = true;
        brief_[static_cast<std::size_t>(rank / per_node())].push_back(rank);
        block(rank);
    }
    at(rank).missed = false;
}

void SimulatedMachine::sleep_no_longer_than(double seconds, const std::function<void()>& sleep,
                                            const std::function<void()>& run_out) {
    bool fired = false;
    Timer* const timer = Timer::set(clock_now() + seconds, [&fired, &run_out] {
        fired = true;
        run_out();
    });
    sleep();
    if (!fired) {
        timer->remove();
    }
}

void SimulatedMachine::sleep_on_for(std::int32_t rank, const ports::Word& word, double seconds) {
    sleep_no_longer_than(
        seconds, [&] { sleep_on(rank, word); },
        [&] {
            if (const auto found = sleepers_.find(&word); found != sleepers_.end()) {
                std::erase(found->second, rank);
            }
            signal(rank);
        });
}

void SimulatedMachine::sleep_briefly_for(std::int32_t rank, double seconds) {
    sleep_no_longer_than(seconds, [&] { sleep_briefly(rank); }, [&] { happened_to(rank); });
}

void SimulatedMachine::later(std::int32_t rank, double seconds, std::function<void()> what) {
    Timer::set(clock_now() + seconds, [this, rank, what = std::move(what)] {
        what();
        happened_to(rank);
    });
}

void SimulatedMachine::sleep_for_storage(std::int32_t rank) { block(rank); }

void SimulatedMachine::wake(std::int32_t rank, const ports::Word& word) {
    settle(rank);
    ++node_events_[static_cast<std::size_t>(rank / per_node())];
    std::vector<std::int32_t> woken;
    woken.swap(brief_[static_cast<std::size_t>(rank / per_node())]);
    if (const auto found = sleepers_.find(&word); found != sleepers_.end()) {
        woken.insert(woken.end(), found->second.begin(), found->second.end());
        sleepers_.erase(found);
    }
    if (woken.empty()) {
        return;
    }
    // Wakes all in one call of SimGrid's kernel: each release by a rank costs two context switches.
    simgrid::kernel::actor::simcall_answered([this, &woken] {
        for (const std::int32_t one : woken) {
            at(one).brief = false;
            signal(one);
        }
    });
}

// Wakes the rank if it sleeps briefly.
void SimulatedMachine::happened_to(std::int32_t rank) {
    ++at(rank).events;
    if (at(rank).brief) {
        std::erase(brief_[static_cast<std::size_t>(rank / per_node())], rank);
        at(rank).brief = false;
        signal(rank);
    }
}

SimulatedMachine::Post& SimulatedMachine::post(const Route& route) {
    const auto nodes_all = static_cast<std::uint64_t>(nodes());
    return posts_[(static_cast<std::uint64_t>(route.from) * nodes_all +
                   static_cast<std::uint64_t>(route.to))
                      << 16 |
                  static_cast<std::uint64_t>(route.tag)];
}

SimulatedMachine::Ticket SimulatedMachine::new_ticket(std::int32_t rank) {
    std::vector<TicketState>& tickets = at(rank).tickets;
    auto free = std::ranges::find(tickets, Stage::free, &TicketState::stage);
    if (free == tickets.end()) {
        free = tickets.emplace(free);
    }
    *free = {Stage::under_way};
    return static_cast<Ticket>(free - tickets.begin());
}

void SimulatedMachine::finish(std::int32_t rank, Ticket ticket) {
    at(rank).tickets[ticket].stage = Stage::done;
    happened_to(rank);
}

std::optional<std::size_t> SimulatedMachine::done(std::int32_t rank, Ticket ticket) {
    TicketState& state = at(rank).tickets.at(ticket);
    expects(state.stage != Stage::free, "a ticket is asked for until it is done, not longer");
    if (state.stage != Stage::done) {
        return std::nullopt;
    }
    const TicketState ended = std::exchange(state, TicketState{});
    charge(rank, ended.owed);
    if (at(rank).debt > debt_max) {
        settle(rank);
    }
    return ended.received;
}

double SimulatedMachine::message_time(std::int64_t bytes, double rate_alone) const noexcept {
    const double alone = static_cast<double>(bytes) / rate_alone;
    return platform_.node.message_time + (options_.ranks_alone ? alone : 0);
}

SimulatedMachine::Ticket SimulatedMachine::send(std::int32_t rank, const Route& route,
                                                std::span<const std::byte> bytes) {
    const auto message = std::make_shared<Message>();
    End& end = message->from;
    end.rank = rank;
    end.ticket = new_ticket(rank);
    end.source = bytes;
    end.bytes = static_cast<std::int64_t>(bytes.size()) + at(rank).absent;
    at(rank).absent = 0;
    charge(rank, message_time(end.bytes, platform_.node.rank_send_rate));
    settle(rank);  // a message does not leave before it has been made
    Post& here = post(route);
    // ROMIO posts its receives from all ranks before it sends (ad_lustre_wrcoll.c), so one message
    // per route is always expected, and completes regardless of the receiver.
    const bool expected = options_.ranks_alone && here.sent.empty();
    if (expected || static_cast<std::size_t>(end.bytes) <= eager_bytes) {
        end.copy.assign(bytes.begin(), bytes.end());
        end.ended = true;
        at(rank).tickets[end.ticket].stage = Stage::done;
    }
    if (expected) {
        set_off(message, host_of(route.to));
    }
    here.sent.push_back(message);
    match(here);
    return end.ticket;
}

SimulatedMachine::Ticket SimulatedMachine::receive(std::int32_t rank, const Route& route,
                                                   std::span<std::byte> bytes) {
    End end;
    end.rank = rank;
    end.ticket = new_ticket(rank);
    end.sink = bytes;
    const Ticket ticket = end.ticket;
    Post& here = post(route);
    here.wanted.push_back(std::move(end));
    match(here);
    return ticket;
}

void SimulatedMachine::fetch(std::int32_t rank, std::int32_t from, std::int64_t bytes,
                             std::function<void()> arrived) {
    settle(rank);
    const auto message = std::make_shared<Message>();
    message->from.rank = from;
    message->from.bytes = bytes;
    message->fetched = [this, rank, arrived = std::move(arrived)] {
        arrived();
        happened_to(rank);
    };
    set_off(message, host_of(rank));
}

void SimulatedMachine::match(Post& post) {
    while (!post.sent.empty() && !post.wanted.empty()) {
        const SharedMessage message = std::move(post.sent.front());
        message->to = std::move(post.wanted.front());
        post.sent.erase(post.sent.begin());
        post.wanted.erase(post.wanted.begin());
        if (!message->set_off) {
            set_off(message, host_of(message->to->rank));
        } else if (message->there) {
            deliver(*message);
        }
    }
}

void SimulatedMachine::set_off(const SharedMessage& message, std::int32_t to_host) {
    const End& from = message->from;
    message->set_off = true;
    ++report_.messages;
    report_.message_bytes += from.bytes;
    const std::int32_t from_host = host_of(from.rank);
    if (from_host == to_host) {  // copied in and out through memory
        ServiceQueue& memory = memory_busy_[static_cast<std::size_t>(from_host)];
        const double seconds = 2 * static_cast<double>(from.bytes) / platform_.node.memory_rate;
        arrive_at(memory.serve(clock_now(), seconds), message);
    } else {
        cross_network(message, from_host, to_host);
    }
}

// Packets of messages overtake requests, which are a hundred times as long: messages queue behind
// messages only, requests behind both. Switching is cut-through: the receiving interface is busy
// from the time when the sending one starts this message.
void SimulatedMachine::cross_network(const SharedMessage& message, std::int32_t from_host,
                                     std::int32_t to_host) {
    const double now = clock_now();
    const double seconds = link_time(message->from.bytes);
    const auto from = static_cast<std::size_t>(from_host);
    const double begin = std::max(now, out_messages_[from].free_at());
    out_messages_[from].serve(now, seconds);
    out_[from].hold_up(now, seconds);
    if (begin > now) {
        Timer::set(begin, [this, message, to_host] { take_in(message, to_host); });
    } else {
        take_in(message, to_host);
    }
}

void SimulatedMachine::take_in(const SharedMessage& message, std::int32_t host) {
    const double seconds = link_time(message->from.bytes);
    const auto to = static_cast<std::size_t>(host);
    const double taken = in_messages_[to].serve(clock_now(), seconds);
    in_[to].hold_up(clock_now(), seconds);
    arrive_at(taken + latency(), message);
}

void SimulatedMachine::arrive_at(double time, const SharedMessage& message) {
    Timer::set(time, [this, message] {
        message->there = true;
        if (message->fetched) {
            message->fetched();
        } else if (message->to) {
            deliver(*message);
        }
    });
}

void SimulatedMachine::deliver(const Message& message) {
    const End& from = message.from;
    const std::span<const std::byte> bytes = from.copy.empty() ? from.source : from.copy;
    expects(bytes.size() <= message.to->sink.size(), "a message fits into its receive");
    std::ranges::copy(bytes, message.to->sink.begin());
    if (!from.ended) {
        finish(from.rank, from.ticket);
    }
    const End& to = *message.to;
    TicketState& state = at(to.rank).tickets[to.ticket];
    state.owed = message_time(from.bytes, platform_.node.rank_receive_rate);
    state.received = bytes.size();
    finish(to.rank, to.ticket);
}

// The file system's client copies each byte once, on one core per rank, before it sends. Returns
// when that is done. It does not occupy the node's memory queue, which is FIFO: copies of a few KiB
// would wait behind those of MiB, as they do on no real machine.
double SimulatedMachine::through_client(std::int32_t rank, std::int64_t bytes, double seconds) {
    const double copying = static_cast<double>(bytes) / platform_.node.client_rate;
    return at(rank).client.serve(now(rank), copying + seconds);
}

// Each stage is entered when the previous one is left, so that no resource is reserved in advance.
void SimulatedMachine::request(std::int32_t rank, const RequestArrival& arrival,
                               IoDirection direction, Through through) {
    ++report_.requests;
    report_.request_bytes += arrival.bytes;
    if (direction == IoDirection::read) {
        read(rank, arrival, &SimulatedLustre::arrive, std::move(through));
    } else {
        write(rank, arrival, std::move(through));
    }
}

void SimulatedMachine::write(std::int32_t rank, const RequestArrival& arrival, Through through) {
    const double copied = through_client(rank, arrival.bytes);
    Timer::set(copied, [this, rank, arrival, through = std::move(through)]() mutable {
        leave(rank, arrival, std::move(through));
    });
}

void SimulatedMachine::leave(std::int32_t rank, const RequestArrival& arrival, Through through) {
    ServiceQueue& interface = out_[static_cast<std::size_t>(host_of(rank))];
    const double sent = interface.serve(clock_now(), link_time(arrival.bytes));
    Timer::set(sent + latency(), [this, arrival, through = std::move(through)]() mutable {
        const double there = lustre_.link(clock_now(), arrival.target, arrival.bytes);
        Timer::set(there, [this, arrival, through = std::move(through)]() mutable {
            const double end = lustre_.arrive(clock_now(), arrival);
            answer(end + latency(), failure_now(arrival.target), std::move(through));
        });
    });
}

void SimulatedMachine::send_to_target(std::int32_t rank, const RequestArrival& arrival,
                                      Through through) {
    ++report_.requests;
    report_.request_bytes += arrival.bytes;
    leave(rank, arrival, std::move(through));
}

void SimulatedMachine::fetch_from_target(std::int32_t rank, const RequestArrival& arrival,
                                         Through through) {
    ++report_.requests;
    report_.request_bytes += arrival.bytes;
    read(rank, arrival, &SimulatedLustre::fetch, std::move(through));
}

void SimulatedMachine::moved(std::int64_t bytes) {
    constexpr auto parts = static_cast<double>(WorldReport::parts);
    moved_ += bytes;
    const double share =
        options_.bytes_expected == 0
            ? 0
            : static_cast<double>(moved_) / static_cast<double>(options_.bytes_expected);
    while (std::size(report_.passed) < WorldReport::parts &&
           share * parts >= static_cast<double>(report_.passed.size() + 1)) {
        report_.passed.push_back(clock_now());
    }
}

// The request message is short; the bytes travel back.
void SimulatedMachine::read(std::int32_t rank, const RequestArrival& arrival, Serve serve,
                            Through through) {
    const double there = clock_now() + latency();
    Timer::set(there, [this, rank, arrival, serve, through = std::move(through)]() mutable {
        const double end = (lustre_.*serve)(clock_now(), arrival);
        const int failure = failure_now(arrival.target);
        Timer::set(end, [this, rank, arrival, failure, through = std::move(through)]() mutable {
            const double left = lustre_.link(clock_now(), arrival.target, arrival.bytes);
            Timer::set(left + latency(), [this, rank, bytes = arrival.bytes, failure,
                                          through = std::move(through)]() mutable {
                ServiceQueue& interface = in_[static_cast<std::size_t>(host_of(rank))];
                const double here = interface.serve(clock_now(), link_time(bytes));
                answer(here, failure, std::move(through));
            });
        });
    });
}

int SimulatedMachine::failure_now(std::int32_t target) const {
    return lustre_.fails(clock_now(), target) ? EIO : 0;
}

void SimulatedMachine::answer(double at, int failure, Through through) {
    Timer::set(at, [failure, through = std::move(through)] { through(failure); });
}

WorldReport SimulatedMachine::report() const {
    WorldReport all = report_;
    all.seconds = clock_now();
    all.target_busy = lustre_.busy();
    all.target_bytes = lustre_.target_bytes();
    all.locks_asked = lustre_.locks_asked();
    all.locks_lost = lustre_.locks_lost();
    return all;
}

}  // namespace forebay::adapters
