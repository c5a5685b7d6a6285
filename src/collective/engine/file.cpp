// One collective call from start to end on one rank: vote, plan, move the bytes (two-phase I/O, or
// a bypass of it), and agree on the result.
#include "collective/engine/file.hpp"

#include "collective/engine/bypass.hpp"
#include "collective/engine/call_team.hpp"
#include "collective/engine/exchange.hpp"
#include "collective/engine/leader_messenger.hpp"
#include "collective/engine/progress_task.hpp"
#include "collective/engine/token_forwarder.hpp"
#include "collective/plan/agreement.hpp"
#include "collective/plan/bypass.hpp"
#include "collective/plan/plan.hpp"
#include "foundation/base/contracts.hpp"
#include "storage/transfer/gate.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace forebay::engine {

namespace {

plan::NodeTopology topology_of(const ports::Communicator& communicator, std::int32_t per_node) {
    plan::NodeTopology topology;
    topology.locals.clear();
    for (std::int32_t n = 0; n < communicator.place().nodes; ++n) {
        topology.locals.push_back(communicator.locals_on(NodeId{n}));
    }
    topology.aggregators_per_node_max = std::max(per_node, 1);
    return topology;
}

// The storage of one rank for one direction, and its state that is kept from call to call.
struct DirectionStorage {
    // Null: not opened, or it cannot be used.
    std::unique_ptr<ports::FileStorage> storage;
    bool tried = false;
    std::vector<plan::Throttle> throttles;  // one for each target
    plan::FoundLimit found;                 // k that the last call to find one found
    bool moves_first = false;  // the next call moves before it agrees; same on all ranks
};

constexpr std::size_t index_of(IoDirection direction) noexcept {
    return direction == IoDirection::write ? 0 : 1;
}

}  // namespace

class CollectiveFile::State {
public:
    State(ports::Communicator& communicator, const ports::TimeSource& clock,
          ports::CallRecorder& recorder, StorageOpener opener, FileOptions options);

    CallOutcome transfer(const CollectiveCall& call, IoDirection direction);
    void agree_first_next() noexcept {
        for (DirectionStorage& one : ways_) {
            one.moves_first = false;
        }
    }
    Result<void> sync();
    Result<void> close();
    std::optional<Error> agree(const std::optional<Error>& mine);

    [[nodiscard]] const std::vector<plan::Aggregator>& aggregators() const { return aggregators_; }
    [[nodiscard]] Rank rank_of(const plan::Aggregator& aggregator) const {
        return team_.communicator().rank_at(aggregator.node, aggregator.local);
    }
    [[nodiscard]] std::int32_t targets() const noexcept { return options_.layout.targets; }
    [[nodiscard]] const plan::FoundLimit& found(IoDirection direction) const noexcept {
        return ways_[index_of(direction)].found;
    }

private:
    [[nodiscard]] bool is_that_file(const ports::FileIdentity& found) const;
    Refusal prepare(IoDirection direction);
    plan::AgreementVote start(CollectiveCall& call, IoDirection direction);
    void offer_memory();
    void reach_memory();
    plan::AgreementVote move(const CollectiveCall& call, const plan::AgreementVote& mine,
                             const plan::AgreementVote& all, IoDirection direction);
    plan::AgreementVote move_bypassing(const CollectiveCall& call, const Extent& span,
                                       IoDirection direction);
    plan::AgreementVote move_exchanging(const CollectiveCall& call, const plan::Summary& mine,
                                        const plan::Plan& plan, IoDirection direction);
    CallOutcome outcome(const CollectiveCall& call, const plan::AgreementVote& verdict,
                        IoDirection direction) const;
    [[nodiscard]] Error error_of(const plan::FirstFailure& failure, IoDirection direction) const;
    [[nodiscard]] Error exchange_error(const std::string& doing) const;
    [[nodiscard]] std::optional<AggregatorId> own_aggregator() const {
        return plan::aggregator_at(aggregators_, team_.place().node, team_.place().local);
    }
    std::unique_ptr<LeaderMessenger> messenger_for(const CallRounds& rounds, const Staging& staging,
                                                   IoDirection direction);
    std::unique_ptr<AggregatorTask> make_task(AggregatorId id, const CallRounds& rounds,
                                              const Staging& staging, transfer::Channel& channel,
                                              TurnBlock* turns, IoDirection direction);
    void add_rates(plan::TargetRates& rates, IoDirection direction);
    [[nodiscard]] transfer::CutLimits limits(IoDirection direction) const {
        const FileStripes layout = plan::completed(options_.layout);
        return transfer::CutLimits{layout,
                                   plan::request_bytes_max(options_.tuning, layout, direction)};
    }
    [[nodiscard]] std::unique_ptr<transfer::Gate> gate(const plan::Plan& plan,
                                                       IoDirection direction);
    DirectionStorage& way(IoDirection direction) { return ways_[index_of(direction)]; }

    mutable CallTeam team_;
    ports::CallRecorder& recorder_;
    StorageOpener opener_;
    FileOptions options_;
    plan::NodeTopology topology_;
    std::vector<plan::Aggregator> aggregators_;
    std::array<DirectionStorage, 2> ways_;
    std::optional<std::int64_t> own_end_;  // end of file that this rank met in the present call
    ports::CallRecord record_;
    // Why this rank could not use a message in the present call.
    std::optional<Error> malformed_;
};

CollectiveFile::State::State(ports::Communicator& communicator, const ports::TimeSource& clock,
                             ports::CallRecorder& recorder, StorageOpener opener,
                             FileOptions options)
    : team_{communicator, clock, options.imagined},
      recorder_{recorder},
      opener_{std::move(opener)},
      options_{std::move(options)},
      topology_{topology_of(communicator, options_.aggregators_per_node_max)} {
    const auto area = static_cast<std::int64_t>(team_.node_segment().staging().size()) -
                      static_cast<std::int64_t>(Staging::rounding_bytes_max);
    options_.tuning.staging_bytes_max = std::min(options_.tuning.staging_bytes_max, area);
    aggregators_ = plan::place_aggregators(options_.layout, topology_, options_.tuning);
    if (plan::share_targets(aggregators_)) {
        team_.use_turns();
    }
    for (const auto direction : {IoDirection::write, IoDirection::read}) {
        const plan::FoundLimit& known = options_.known[index_of(direction)];
        way(direction).throttles.assign(static_cast<std::size_t>(options_.layout.targets),
                                        plan::Throttle::first(options_.tuning, known));
    }
}

// Whether the file that this rank opened is the one that rank 0 opened. Device numbers of network
// file systems differ between nodes, so they are compared on rank 0's node only (node 0).
bool CollectiveFile::State::is_that_file(const ports::FileIdentity& found) const {
    const bool here = team_.place().node.value() == 0;
    return found.inode == options_.identity->inode &&
           (!here || found.device == options_.identity->device);
}

// Opens this rank's storage at the first call. Returns why it cannot be used, or none.
Refusal CollectiveFile::State::prepare(IoDirection direction) {
    DirectionStorage& one = way(direction);
    if (!one.tried) {
        one.tried = true;
        auto opened = opener_(direction);
        if (!opened) {
            return Refusal::cannot_open;
        }
        const auto identity = (*opened)->identity();
        if (options_.identity && (!identity || !is_that_file(*identity))) {
            return Refusal::not_the_same_file;
        }
        one.storage = std::move(*opened);
    }
    return one.storage ? Refusal::none : Refusal::cannot_open;
}

// Returns this rank's vote at the start of a call. If the last call bypassed, the rank first moves
// its own bytes, which saves an agreement; `call` is then left with an empty request.
plan::AgreementVote CollectiveFile::State::start(CollectiveCall& call, IoDirection direction) {
    Refusal refusal = call.refusal;
    if (refusal == Refusal::none && own_aggregator()) {
        refusal = prepare(direction);
    }
    plan::AgreementVote mine;
    mine.refusal = refusal;
    if (refusal != Refusal::none) {
        return mine;
    }
    if (own_aggregator() && direction == IoDirection::write) {
        offer_memory();
    }
    const plan::Summary asked =
        plan::summarise(*call.view, call.request, plan::memory_piece(call.memory, call.request));
    // It is not known yet whether all ranks will bypass. A rank that may bypass opens the file now,
    // so that its vote can say whether this worked; that saves one more agreement.
    const bool opens =
        plan::may_bypass(asked, options_.layout, topology_, options_.tuning, direction);
    const bool opened = opens && prepare(direction) == Refusal::none;
    if (opened && way(direction).moves_first) {
        mine = move_bypassing(call, asked.span(), direction);
        mine.direct = asked;
        call.request = {};
    } else {
        mine.summary = asked;
        mine.cannot_bypass = opens && !opened ? 1 : 0;
    }
    mine.view_has_holes = call.view->contiguous() ? 0 : 1;
    return mine;
}

// Publishes, in this rank's slot, the name of the memory that its storage lends. The memory exists
// before the other ranks of the node learn its name.
void CollectiveFile::State::offer_memory() {
    if (const ports::MemoryLender* const lender = way(IoDirection::write).storage->lender()) {
        team_.node_segment()
            .slot(team_.place().local)
            .lends.store(lender->name(), std::memory_order_release);
    }
}

// Notes, in this rank's slot, to which memory lent by this node's aggregators it can write. An
// aggregator puts its windows into lent memory once all ranks of the node can write there.
void CollectiveFile::State::reach_memory() {
    for (const plan::Aggregator& one : aggregators_) {
        const auto number = static_cast<std::size_t>(one.on_node);
        if (one.node != team_.place().node || number >= RankSlot::lenders_max) {
            continue;
        }
        const std::uint64_t name =
            team_.node_segment().slot(one.local).lends.load(std::memory_order_acquire);
        std::atomic<std::uint64_t>& reached =
            team_.node_segment().slot(team_.place().local).reaches[number];
        if (name != 0 && reached.load(std::memory_order_relaxed) != name &&
            options_.borrower->reaches(name)) {
            reached.store(name, std::memory_order_release);
        }
    }
}

// Does the rest of a call after the agreement at its start. Returns the merged vote of its end.
plan::AgreementVote CollectiveFile::State::move(const CollectiveCall& call,
                                                const plan::AgreementVote& mine,
                                                const plan::AgreementVote& all,
                                                IoDirection direction) {
    const plan::Plan plan =
        plan::make_plan(all.summary, options_.layout, topology_, options_.tuning, direction);
    const bool bypasses = plan.path == plan::TransferPath::bypass && all.cannot_bypass == 0;
    plan::AgreementVote end = bypasses ? move_bypassing(call, plan.span, direction)
                                       : move_exchanging(call, mine.summary, plan, direction);
    end.failure = plan::first_of(end.failure, all.failure);
    record_.bypassed = bypasses;
    return team_.all_reduce(VoteMoment::end, end);
}

CallOutcome CollectiveFile::State::transfer(const CollectiveCall& call, IoDirection direction) {
    const std::int64_t begin = team_.clock().now_ns();
    team_.begin_call();
    malformed_.reset();
    own_end_.reset();
    record_ = ports::CallRecord{};
    record_.direction = direction;
    CollectiveCall rest = call;
    const plan::AgreementVote mine = start(rest, direction);
    const plan::AgreementVote all = team_.all_reduce(VoteMoment::start, mine);
    if (all.refusal != Refusal::none) {
        agree_first_next();
        CallOutcome refused;
        refused.refusal = all.refusal;
        return refused;
    }
    if (all.summary.empty() && all.direct.empty() && !all.failure.happened()) {
        return CallOutcome{};
    }
    way(direction).moves_first = plan::may_move_first(
        all, options_.layout, topology_, options_.tuning, direction,
        options_.only_read ? plan::HandleAccess::only_reads : plan::HandleAccess::may_write);
    record_.bypassed = all.summary.empty();
    const plan::AgreementVote verdict =
        all.summary.empty() ? all : move(rest, mine, all, direction);
    CallOutcome result = outcome(call, verdict, direction);
    result.span = plan::merge(all.summary, all.direct).span();
    record_.bytes = result.bytes;
    record_.total_ns = team_.clock().now_ns() - begin;
    record_.exchange_ns = team_.times().copy;
    record_.wait_ns = team_.times().wait;
    record_.found_limit = result.found.limit;
    record_.slow = result.slow;
    recorder_.call(record_);
    if (result.found.limit > 0) {
        way(direction).found = result.found;
    }
    if (result.error) {
        recorder_.error(*result.error);
    }
    return result;
}

// Moves this rank's request directly between the program's memory and storage. `span`: an extent
// that contains all of it.
plan::AgreementVote CollectiveFile::State::move_bypassing(const CollectiveCall& call,
                                                          const Extent& span,
                                                          IoDirection direction) {
    plan::AgreementVote end;
    if (call.request.length == 0) {
        return end;
    }
    expects(way(direction).storage != nullptr, "a rank that bypasses has opened the file");
    pattern::WindowedTransfer transfer{*call.view, call.request, call.memory};
    NodeGate gate{team_, plan::bypassing_in_flight(options_.layout, options_.tuning, direction)};
    // With a single target, no other target could serve a second request meanwhile.
    const transfer::ChannelPace pace = options_.layout.targets == 1
                                           ? transfer::ChannelPace::at_once
                                           : transfer::ChannelPace::overlapped;
    transfer::Channel channel{*way(direction).storage, gate, team_.clock(), {direction, 1, pace}};
    move_directly(team_, channel, gate,
                  std::make_unique<DirectSource>(transfer, span, limits(direction)));
    record_.requests += channel.requests();
    record_.storage_ns += channel.busy_ns();
    end.failure = channel.failure();
    own_end_ = channel.end_of_file();
    return end;
}

// The task that carries messages between nodes: only leaders have one, and only with several nodes;
// else nullptr.
std::unique_ptr<LeaderMessenger> CollectiveFile::State::messenger_for(const CallRounds& rounds,
                                                                      const Staging& staging,
                                                                      IoDirection direction) {
    if (team_.place().nodes == 1 || !team_.place().leader()) {
        return nullptr;
    }
    if (direction == IoDirection::write) {
        return std::make_unique<WriteMessenger>(team_, rounds, staging);
    }
    return std::make_unique<ReadMessenger>(team_, rounds, staging);
}

// The gate of an aggregator's requests. Where windows take turns, the turns bound the requests in
// flight, so this gate lets all through.
std::unique_ptr<transfer::Gate> CollectiveFile::State::gate(const plan::Plan& plan,
                                                            IoDirection direction) {
    if (plan.takes_turns) {
        return std::make_unique<transfer::FixedGate>(options_.layout.targets,
                                                     plan::unlimited_requests_in_flight);
    }
    return std::make_unique<transfer::ThrottledGate>(way(direction).throttles);
}

// Adds the rates of those targets of which this rank has observed all requests.
void CollectiveFile::State::add_rates(plan::TargetRates& rates, IoDirection direction) {
    const ports::RankPlace& place = team_.place();
    const bool shared = plan::share_targets(aggregators_);
    for (const plan::Aggregator& one : aggregators_) {
        if (!plan::tells_rates(one, place.node, place.local, shared)) {
            continue;
        }
        for (std::int32_t t = one.first_target; t < one.first_target + one.targets; ++t) {
            rates.add(TargetId{t}, way(direction).throttles[static_cast<std::size_t>(t)]);
        }
    }
}

std::unique_ptr<AggregatorTask> CollectiveFile::State::make_task(
    AggregatorId id, const CallRounds& rounds, const Staging& staging, transfer::Channel& channel,
    TurnBlock* turns, IoDirection direction) {
    const transfer::CutLimits cut = limits(direction);
    if (direction == IoDirection::write) {
        ports::MemoryLender* const lender =
            options_.borrower != nullptr ? way(direction).storage->lender() : nullptr;
        return std::make_unique<WriteTask>(id, team_, rounds, staging, channel, cut, turns, lender);
    }
    return std::make_unique<ReadTask>(id, team_, rounds, staging, channel, cut, turns);
}

plan::AgreementVote CollectiveFile::State::move_exchanging(const CollectiveCall& call,
                                                           const plan::Summary& mine,
                                                           const plan::Plan& plan,
                                                           IoDirection direction) {
    CallRounds rounds{plan, mine, team_.place()};
    const Staging staging{team_.node_segment(), plan, team_.place().nodes, options_.borrower};
    if (options_.borrower != nullptr && direction == IoDirection::write) {
        reach_memory();
    }
    const std::unique_ptr<transfer::Gate> gate = this->gate(plan, direction);
    const bool turns = plan.takes_turns;
    std::optional<transfer::Channel> channel;
    std::unique_ptr<AggregatorTask> task;
    std::vector<ProgressTask*> tasks;
    if (const auto id = own_aggregator()) {
        expects(way(direction).storage != nullptr, "an aggregator has opened the file");
        TurnBlock* const block =
            turns ? &team_.node_segment().turns(rounds.aggregator(*id).on_node) : nullptr;
        const transfer::ChannelOptions options{
            direction, static_cast<std::size_t>(plan.buffers), transfer::ChannelPace::overlapped,
            turns ? transfer::PerJob::one : transfer::PerJob::any};
        channel.emplace(*way(direction).storage, *gate, team_.clock(), options);
        task = make_task(*id, rounds, staging, *channel, block, direction);
        tasks.push_back(task.get());
    }
    const std::unique_ptr<LeaderMessenger> messenger = messenger_for(rounds, staging, direction);
    if (messenger) {
        tasks.push_back(messenger.get());
    }
    std::optional<TokenForwarder> token_forwarder;
    if (turns && team_.place().leader()) {
        tasks.push_back(&token_forwarder.emplace(team_, rounds, way(direction).throttles));
    }
    team_.begin_tasks(tasks);
    pattern::WindowedTransfer transfer{*call.view, call.request, call.memory};
    Exchange exchange{team_, rounds, staging, transfer, direction};
    exchange.run(*call.view, call.request);
    team_.attend_until([&] { return team_.windows_done() && team_.messages_done(); });
    plan::AgreementVote end;
    if (messenger) {
        end.failure = messenger->failure();
        malformed_ = messenger->malformed();
    }
    if (task) {
        end.failure = plan::first_of(end.failure, channel->failure());
        end.end_of_file = channel->end_of_file();
        record_.requests += channel->requests();
        record_.storage_ns += channel->busy_ns();
        record_.lent = task->lent();
    }
    team_.end_tasks();
    token_forwarder.reset();  // its destructor stores the throttles of the targets
    add_rates(end.rates, direction);
    record_.rounds = exchange.rounds();
    return end;
}

CallOutcome CollectiveFile::State::outcome(const CollectiveCall& call,
                                           const plan::AgreementVote& verdict,
                                           IoDirection direction) const {
    CallOutcome result;
    result.bytes = Length{plan::bytes_moved(*call.view, call.request, verdict, own_end_)};
    result.slow = plan::slow_target(verdict.rates);
    if (verdict.failure.happened()) {
        result.error = error_of(verdict.failure, direction);
    } else {
        result.found = plan::found_limit(verdict.rates);
    }
    return result;
}

Error CollectiveFile::State::error_of(const plan::FirstFailure& failure,
                                      IoDirection direction) const {
    const char* verb = direction == IoDirection::write ? "write" : "read";
    const std::string doing = fmt::format("{} {} at byte {}", verb, options_.path, failure.at);
    Error error = failure.system == plan::FirstFailure::malformed_message
                      ? exchange_error(doing)
                      : system_error(failure.system, doing);
    error.code = static_cast<ErrorCode>(failure.code);
    return error;
}

// The rank that received the malformed message knows the reason; the others refer to it.
Error CollectiveFile::State::exchange_error(const std::string& doing) const {
    const std::string why =
        malformed_ ? malformed_->message
                   : "cannot use a message of another node (its receiver says why). Check that "
                     "all nodes run the same version of Forebay.";
    return Error{ErrorCode::input_output, 0, fmt::format("cannot {}: {}", doing, why)};
}

Result<void> CollectiveFile::State::sync() {
    DirectionStorage& one = way(IoDirection::write);
    return one.storage ? one.storage->sync() : Result<void>{};
}

Result<void> CollectiveFile::State::close() {
    Result<void> first;
    for (DirectionStorage& one : ways_) {
        if (one.storage) {
            auto closed = one.storage->close();
            one.storage.reset();
            if (first && !closed) {
                first = std::move(closed);
            }
        }
    }
    return first;
}

std::optional<Error> CollectiveFile::State::agree(const std::optional<Error>& mine) {
    plan::AgreementVote vote;
    if (mine) {
        vote.failure = plan::FirstFailure{0, static_cast<std::uint32_t>(mine->code), mine->system};
    }
    const plan::AgreementVote all = team_.all_reduce(VoteMoment::end, vote);
    if (!all.failure.happened()) {
        return std::nullopt;
    }
    Error error = system_error(all.failure.system, "finish " + options_.path);
    error.code = static_cast<ErrorCode>(all.failure.code);
    return error;
}

CollectiveFile::CollectiveFile(ports::Communicator& communicator, const ports::TimeSource& clock,
                               ports::CallRecorder& recorder, StorageOpener opener,
                               FileOptions options)
    : state_{std::make_unique<State>(communicator, clock, recorder, std::move(opener),
                                     std::move(options))} {}

CollectiveFile::~CollectiveFile() = default;

CallOutcome CollectiveFile::write(const CollectiveCall& call) {
    return state_->transfer(call, IoDirection::write);
}

CallOutcome CollectiveFile::read(const CollectiveCall& call) {
    return state_->transfer(call, IoDirection::read);
}

void CollectiveFile::agree_first_next() noexcept { state_->agree_first_next(); }

Result<void> CollectiveFile::sync() { return state_->sync(); }

Result<void> CollectiveFile::close() { return state_->close(); }

std::optional<Error> CollectiveFile::agree(const std::optional<Error>& mine) {
    return state_->agree(mine);
}

std::string CollectiveFile::aggregators() const {
    std::string text;
    for (const plan::Aggregator& aggregator : state_->aggregators()) {
        text += fmt::format("{}{}", text.empty() ? "" : ",", state_->rank_of(aggregator).value());
    }
    return text;
}

const plan::FoundLimit& CollectiveFile::found(IoDirection direction) const noexcept {
    return state_->found(direction);
}

std::int32_t CollectiveFile::targets() const noexcept { return state_->targets(); }

std::size_t CollectiveFile::node_segment_bytes(std::int32_t ranks, std::int64_t staging_bytes_max) {
    return NodeSegment::overhead_bytes(ranks, ranks) + static_cast<std::size_t>(staging_bytes_max) +
           Staging::rounding_bytes_max;
}

}  // namespace forebay::engine
