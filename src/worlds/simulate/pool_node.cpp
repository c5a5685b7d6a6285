// A round corresponds to one of the daemon (pool/daemon/server.cpp). The waits between rounds are
// up to five times as long as there, since rounds dominate the cost of simulation; events that no
// rank waits for are noticed later by as much.
#include "worlds/simulate/pool_node.hpp"

#include "foundation/base/atomics.hpp"
#include "pool/protocol/read_cache.hpp"

#include <algorithm>
#include <cerrno>
#include <fmt/format.h>
#include <limits>

namespace forebay::sim {

namespace {

constexpr double after_something = 1e-3;  // pool/daemon/server.cpp: 200 us
constexpr double while_busy = 5e-3;       // 1 ms
constexpr double while_idle = 20e-3;      // 20 ms
// As in pool/daemon/shutdown/shutdown.cpp.
constexpr std::int64_t deadline_look_ns = 100'000'000;

// File metadata without errors and without other writers.
class SimulatedFileControl final : public ports::FileControl {
public:
    int truncate(Length /*bytes*/) override { return 0; }
    int sync() override { return 0; }
    int set_modified(std::int64_t /*time_ns*/) override { return 0; }
    bool has_name() override { return true; }
    std::optional<ports::ChangeStamp> stamp() override { return std::nullopt; }
    std::int64_t room() override { return -1; }
};

pool::Directory& directory_in(std::span<std::byte> memory) {
    expects(memory.size() >= sizeof(pool::Directory), "the directory has its memory");
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): mapped, zero is valid
    return *reinterpret_cast<pool::Directory*>(memory.data());
}

std::int64_t nanoseconds(double seconds) { return static_cast<std::int64_t>(seconds * 1e9); }

tokens::FileKey key_of(std::int64_t number) { return {static_cast<std::uint64_t>(number) + 1}; }

}  // namespace

// A file starts on the target after the last one of the previous file, as in Lustre's round-robin
// allocation. Files over all targets start one target after the other.
adapters::FilePlace place_of(std::int64_t number, const NodeShape& shape) noexcept {
    const std::int64_t step = shape.stripes.targets == shape.targets ? 1 : shape.stripes.targets;
    return {number, static_cast<std::int32_t>(number * step % shape.targets),
            shape.stripes.targets};
}

PoolNode::PoolNode(const NodeShape& shape, adapters::RankPorts& ports)
    : shape_{shape},
      ports_{ports},
      directory_{directory_in(shape.directory)},
      pool_{directory_,
            {.memory = *this,
             .sleepers = *this,
             .clock = ports.clock,
             .calendar = ports.clock,
             .clean = shape.clean.empty() ? nullptr : this},
            shape.pool},
      member_{static_cast<tokens::Node>(shape.node), static_cast<std::uint32_t>(shape.nodes),
              static_cast<std::uint32_t>(shape.readers)},
      passing_{{.self = static_cast<tokens::Node>(shape.node),
                .all = shape.all,
                .ports = ports,
                .pool = pool_,
                .member = member_},
               shape.passing},
      deadline_{nanoseconds(shape.job_end), nanoseconds(shape.deadline)} {
    directory_.header.readers.store(static_cast<std::uint32_t>(shape.readers), relaxed);
}

PoolNode::~PoolNode() = default;

// Touches new memory once; the daemon does nothing else meanwhile.
bool PoolNode::provide(std::uint32_t /*client*/, std::uint32_t /*block*/) {
    ports_.life.compute(static_cast<double>(pool::block_bytes) / shape_.touch_rate);
    return true;
}

std::byte* PoolNode::block(std::uint32_t number) {
    return shape_.clean.data() + pool::clean_place(number);
}

bool PoolNode::provide(std::uint32_t /*number*/) { return provide(0, 0); }

double PoolNode::patience(bool any) const {
    return any ? after_something : pool_.idle() ? while_idle : while_busy;
}

void PoolNode::serve() {
    for (;;) {
        const std::uint32_t seen = bell_.load();
        bool any = pool_.run_once();
        any = listen() || any;
        any = talk() || any;
        any = passing_.run_once() || any;
        note();
        look_at_deadline();
        const bool over = left_ == shape_.ranks && said_.empty() && letters_.empty();
        if (over && pool_.idle()) {
            return;
        }
        ports_.life.wait_for_anything(bell_, seen, passing_.until_next(patience(any)));
    }
}

void PoolNode::kick(adapters::RankPorts& rank) {
    bell_.fetch_add(1);
    rank.communicator.wake(bell_);
}

void PoolNode::wait_until(adapters::RankPorts& rank, const bool& done) {
    while (!done) {
        rank.communicator.wait(heard_, heard_.load());
    }
}

void PoolNode::say(adapters::RankPorts& rank, std::function<void()> what) {
    bool done = false;
    said_.emplace_back([&done, what = std::move(what)] {
        what();
        done = true;
    });
    kick(rank);
    wait_until(rank, done);
}

bool PoolNode::listen() {
    const bool any = !said_.empty();
    while (!said_.empty()) {
        const std::function<void()> what = std::move(said_.front());
        said_.pop_front();
        what();
    }
    if (any) {
        heard_.fetch_add(1);
        ports_.communicator.wake(heard_);
    }
    return any;
}

std::uint32_t PoolNode::join(adapters::RankPorts& rank, pool::Log log) {
    std::optional<std::uint32_t> client;
    const auto process = static_cast<std::uint64_t>(rank.communicator.place().rank.value()) + 1;
    say(rank, [&] { client = pool_.admit(process, log); });
    expects(client.has_value(), "a node has room for its ranks");
    logs_[*client] = log;
    return *client;
}

pool::Log PoolNode::log_of(std::uint32_t client) const {
    const auto found = logs_.find(client);
    return found == logs_.end() ? pool::Log{} : found->second;
}

pool::FileId PoolNode::open(adapters::RankPorts& rank, std::uint32_t client, const Wanted& wanted) {
    pool::FileId id;
    bool done = false;
    say(rank, [&] {
        const std::uint64_t ticket = next_ticket_++;
        wishes_[ticket] = {wanted, client, &id, &done};
        want(ticket);
    });
    wait_until(rank, done);
    return id;
}

pool::DaemonFile PoolNode::file_of(const Wanted& wanted) {
    const adapters::FilePlace place = place_of(wanted.number, shape_);
    pool::DaemonFile file;
    file.identity = {1, key_of(wanted.number).inode};
    if (wanted.access == pool::AccessMode::write) {
        file.storage = ports_.life.file(place);
    }
    file.control = std::make_unique<SimulatedFileControl>();
    file.stripes = shape_.stripes;
    file.path = fmt::format("file-{}", wanted.number);
    file.stamp.bytes = wanted.bytes;
    file.open_for_reading = [this, place, key = key_of(wanted.number), stamp = file.stamp](
                                const auto& /*seen*/) -> std::unique_ptr<ports::FileStorage> {
        auto own = ports_.life.file(place);
        if (shape_.readers == 0) {
            return own;
        }
        return std::make_unique<pool::PeerStorage>(
            std::move(own), passing_, [this, key, stamp](const ports::Piece& piece) {
                const Extent range{piece.at, Length{std::ssize(piece.bytes)}};
                return passing_.ask({.file = key, .seen = stamp, .range = range});
            });
    };
    return file;
}

// Asks for a token. If the token manager cannot answer yet, it names the ticket again later.
void PoolNode::want(std::uint64_t ticket) {
    const TokenWish wish = wishes_.at(ticket);
    const tokens::FileKey key = key_of(wish.wanted.number);
    const bool reads = wish.wanted.access == pool::AccessMode::read;
    const auto token = reads ? tokens::Token::read : tokens::Token::write;
    const auto admission = member_.want(key, {token, 0}, ticket);
    if (admission) {
        expects(admission != tokens::FileAdmission::refused, "no daemon is gone, or silent");
        const auto opened = pool_.open(wish.client, file_of(wish.wanted), wish.wanted.access);
        expects(opened.has_value(), "a node has room for its files");
        const bool may_cache = member_.entered(key, opened->slot);
        slots_.insert(opened->slot);
        if (!may_cache) {
            make_leave({key, {opened->slot}, false});
        }
        *wish.id = {opened->slot, opened->generation};
        *wish.done = true;
        wishes_.erase(ticket);
        heard_.fetch_add(1);
        ports_.communicator.wake(heard_);
    }
    apply();
}

void PoolNode::close(adapters::RankPorts& rank, std::uint32_t client, pool::FileId file) {
    say(rank, [&] { pool_.close(client, file.slot, file.generation); });
}

void PoolNode::leave(adapters::RankPorts& rank, std::optional<std::uint32_t> client) {
    say(rank, [&] {
        if (client) {
            pool_.dismiss(*client);
        }
        if (++left_ == shape_.ranks) {
            static_cast<void>(pool_.drain_all());
        }
    });
}

// Runs between two events, outside of any rank.
void PoolNode::arrive(tokens::Node from, const tokens::TokenMessage& message) {
    letters_.push_back({from, message});
    bell_.fetch_add(1);
}

bool PoolNode::talk() {
    bool any = !letters_.empty();
    for (const std::uint32_t slot : pool_.forgotten()) {
        note_file(slot);
        slots_.erase(slot);
        member_.forgotten(slot);
        any = true;
    }
    while (!letters_.empty()) {
        member_.receive(letters_.front().from, letters_.front().message);
        letters_.pop_front();
    }
    for (const pool::TaskCompletion& done : pool_.done()) {
        if (const auto found = leaving_.find(done.ticket); found != leaving_.end()) {
            const tokens::FileKey key = found->second;
            leaving_.erase(found);
            member_.left(key, done.error == 0 || done.error == ENOENT);
            any = true;
        }
    }
    apply();
    return any;
}

void PoolNode::make_leave(const tokens::MemberActions::Leave& order) {
    for (const std::uint64_t ticket : pool_.ask_each(order.slots, pool::leave_to_other_nodes)) {
        if (order.answer) {
            leaving_[ticket] = order.file;
        }
    }
}

void PoolNode::apply() {
    std::vector<std::uint64_t> again;
    for (tokens::MemberActions actions = member_.take_actions(); !actions.empty();
         actions = member_.take_actions()) {
        for (const tokens::OutgoingMessage& one : actions.send) {
            ++report_.messages;
            PoolNode* const other = shape_.all[one.to].get();
            const std::int32_t actors = ports_.communicator.place().locals;
            ports_.life.tell(Rank{static_cast<std::int32_t>(one.to) * actors},
                             [other, from = static_cast<tokens::Node>(shape_.node),
                              message = one.message] { other->arrive(from, message); });
        }
        for (const tokens::MemberActions::Leave& order : actions.leave) {
            make_leave(order);
        }
        again.insert(again.end(), actions.again.begin(), actions.again.end());
    }
    for (const std::uint64_t ticket : again) {
        want(ticket);
    }
}

void PoolNode::look_at_deadline() {
    const std::int64_t now_ns = ports_.clock.now_ns();
    if (shape_.job_end == 0 || report_.closed_early || now_ns - looked_ns_ < deadline_look_ns) {
        return;
    }
    looked_ns_ = now_ns;
    std::int64_t held = 0;
    for (const std::uint32_t slot : slots_) {
        const pool::FileSlot& file = directory_.files[slot];
        held += file.taken.load(relaxed) - file.drained.load(relaxed);
    }
    report_.closed_early = deadline_.passed(now_ns, held, pool_.counts().drained_bytes);
    if (report_.closed_early) {
        pool_.close_down(pool::ThroughReason::job_ends);
    }
}

void PoolNode::note_file(std::uint32_t slot) {
    report_.file_high = std::max(report_.file_high, directory_.files[slot].high.load(relaxed));
}

void PoolNode::note() {
    const pool::PoolCounts& counts = pool_.counts();
    if (counts.drained_bytes != report_.drained) {
        report_.drained = counts.drained_bytes;
        report_.drained_at = now();
    }
    report_.fetched = counts.fetched_bytes;
    report_.passed = passing_.received();
    report_.high = directory_.header.high.load(relaxed);
    report_.refused = static_cast<std::int64_t>(counts.refused);
    report_.failed_jobs = static_cast<std::int64_t>(counts.failed_jobs);
}

}  // namespace forebay::sim
