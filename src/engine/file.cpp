// One collective call from start to end: say what is wanted, plan, move, agree on what came of it.
#include "engine/file.hpp"

#include "engine/bypass.hpp"
#include "engine/courier.hpp"
#include "engine/crew.hpp"
#include "engine/duty.hpp"
#include "engine/exchange.hpp"
#include "engine/turn_courier.hpp"
#include "plan/plan.hpp"
#include "transfer/gate.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace forebay::engine {

const char* reason_of(Refusal refusal) noexcept {
    switch (refusal) {
        case Refusal::none: return "not refused";
        case Refusal::disabled: return "switched off by a setting or hint";
        case Refusal::excluded: return "path is excluded or not a plain file path";
        case Refusal::atomic_mode: return "atomic mode";
        case Refusal::data_representation: return "data representation is not native";
        case Refusal::view_unsupported: return "file view overlaps itself or does not ascend";
        case Refusal::memory_unsupported: return "memory datatype is not understood";
        case Refusal::not_the_same_file: return "file was renamed, replaced or removed";
        case Refusal::cannot_open: return "file cannot be opened a second time by its name";
        case Refusal::gpu_memory: return "buffer is in GPU memory";
        case Refusal::no_memory: return "a rank has no memory left for its datatypes";
        case Refusal::other: break;
    }
    return "for another reason";
}

namespace {

// The shortest piece of a call's memory, in bytes. Types laid end to end are one piece.
std::int64_t memory_piece(const Call& call) noexcept {
    const pattern::Nest* nest = call.memory.nest;
    const bool dense =
        nest == nullptr || (nest->contiguous() && nest->size() == call.memory.extent);
    return dense ? call.request.length : nest->shortest_piece();
}

plan::Topology topology_of(const ports::Communicator& communicator, std::int32_t per_node) {
    plan::Topology topology;
    topology.locals.clear();
    for (std::int32_t n = 0; n < communicator.place().nodes; ++n) {
        topology.locals.push_back(communicator.locals_on(NodeId{n}));
    }
    topology.aggregators_per_node_max = std::max(per_node, 1);
    return topology;
}

// A target is told to be slow when the others are this much faster on average.
constexpr double slow_factor = 2;

// What a rank holds to move bytes in one direction.
struct Way {
    std::unique_ptr<ports::Storage> storage;
    bool tried = false;
    std::vector<plan::Throttle> throttles;  // of each target
    plan::FoundLimit found;                 // in the last call
    bool moves_first = false;               // before it asks; the same on every rank
};

constexpr std::size_t index_of(Direction direction) noexcept {
    return direction == Direction::write ? 0 : 1;
}

std::optional<ports::SlowTarget> slow_target(const Rates& rates) {
    if (rates.targets < 2) {
        return std::nullopt;
    }
    const double usual = (rates.sum - rates.slowest) / (rates.targets - 1);
    if (rates.slowest * slow_factor >= usual) {
        return std::nullopt;
    }
    return ports::SlowTarget{TargetId{rates.slowest_target}, rates.slowest, usual,
                             rates.slowest_limit};
}

// Of the targets on average. A slow one says nothing about the others.
plan::FoundLimit found_limit(const Rates& rates, const std::optional<ports::SlowTarget>& slow) {
    const bool apart = slow && slow->limit > 0;
    const std::int32_t settled = rates.settled - (apart ? 1 : 0);
    if (settled == 0) {
        return {};
    }
    const std::int32_t limits = rates.limits - (apart ? slow->limit : 0);
    const double found = rates.found - (apart ? rates.slowest_found : 0);
    return {(limits + settled / 2) / settled, found / settled};
}

}  // namespace

class File::State {
public:
    State(ports::Communicator& communicator, const ports::Clock& clock, ports::Recorder& recorder,
          StorageOpener opener, FileOptions options);

    Outcome transfer(const Call& call, Direction direction);
    void forget() noexcept {
        for (Way& one : ways_) {
            one.moves_first = false;
        }
    }
    Result<void> sync();
    Result<void> close();
    std::optional<Error> agree(const std::optional<Error>& mine);

    [[nodiscard]] const std::vector<plan::Aggregator>& aggregators() const { return aggregators_; }
    [[nodiscard]] Rank rank_of(const plan::Aggregator& aggregator) const {
        return crew_.communicator().rank_at(aggregator.node, aggregator.local);
    }
    [[nodiscard]] std::int32_t targets() const noexcept { return options_.layout.targets; }
    [[nodiscard]] const plan::FoundLimit& found(Direction direction) const noexcept {
        return ways_[index_of(direction)].found;
    }

private:
    [[nodiscard]] bool is_that_file(const ports::Identity& found) const;
    Refusal prepare(Direction direction);
    Ballot start(Call& call, Direction direction);
    Ballot move(const Call& call, const Ballot& mine, const Ballot& all, Direction direction);
    [[nodiscard]] bool may_move_first(const Ballot& all, Direction direction) const;
    [[nodiscard]] bool may_bypass(const plan::Summary& mine, Direction direction) const;
    [[nodiscard]] std::int32_t bypassing_in_flight(Direction direction) const;
    Ballot move_bypassing(const Call& call, const Extent& span, Direction direction);
    Ballot move_exchanging(const Call& call, const plan::Summary& mine, const plan::Plan& plan,
                           Direction direction);
    Outcome outcome(const Call& call, const Ballot& verdict, Direction direction) const;
    [[nodiscard]] Error error_of(const transfer::Failure& failure, Direction direction) const;
    [[nodiscard]] Error exchange_error(const std::string& doing) const;
    [[nodiscard]] std::optional<AggregatorId> own_aggregator() const;
    std::unique_ptr<Courier> courier_for(const Rounds& rounds, const Staging& staging,
                                         Direction direction);
    std::unique_ptr<AggregatorDuty> aggregator_duty(AggregatorId id, const Rounds& rounds,
                                                    const Staging& staging,
                                                    transfer::Channel& channel, TurnBlock* turns,
                                                    Direction direction);
    void add_rates(Rates& rates, Direction direction);
    [[nodiscard]] plan::Throttle first_throttle(Direction direction) const;
    [[nodiscard]] transfer::CutLimits limits(Direction direction) const {
        const Stripes layout = plan::completed(options_.layout);
        return transfer::CutLimits{layout,
                                   plan::request_bytes_max(options_.tuning, layout, direction)};
    }
    [[nodiscard]] bool finds() const noexcept {
        return options_.tuning.requests_in_flight == plan::find_requests_in_flight;
    }
    [[nodiscard]] bool takes_turns(const plan::Plan& plan) const noexcept {
        return shared_ && plan.domains == plan::Domains::by_stripes &&
               options_.tuning.requests_in_flight < plan::unlimited_requests_in_flight;
    }
    [[nodiscard]] std::unique_ptr<transfer::Gate> gate(const plan::Plan& plan, Direction direction);
    Way& way(Direction direction) { return ways_[index_of(direction)]; }

    mutable Crew crew_;
    ports::Recorder& recorder_;
    StorageOpener opener_;
    FileOptions options_;
    plan::Topology topology_;
    std::vector<plan::Aggregator> aggregators_;
    bool shared_ = false;  // several aggregators serve a target
    std::array<Way, 2> ways_;
    std::optional<std::int64_t> own_end_;  // of the file, as this rank met it in the present call
    ports::CallRecord record_;
    std::optional<Error> misunderstood_;  // by this rank, in the present call
};

File::State::State(ports::Communicator& communicator, const ports::Clock& clock,
                   ports::Recorder& recorder, StorageOpener opener, FileOptions options)
    : crew_{communicator, clock, options.imagined},
      recorder_{recorder},
      opener_{std::move(opener)},
      options_{std::move(options)},
      topology_{topology_of(communicator, options_.aggregators_per_node_max)} {
    const auto area = static_cast<std::int64_t>(crew_.lane().staging().size()) -
                      static_cast<std::int64_t>(Staging::rounding_bytes_max);
    options_.tuning.staging_bytes_max = std::min(options_.tuning.staging_bytes_max, area);
    aggregators_ = plan::place_aggregators(options_.layout, topology_, options_.tuning);
    shared_ = aggregators_.back().share > 0;
    if (shared_) {
        crew_.use_turns();
    }
    for (const auto direction : {Direction::write, Direction::read}) {
        way(direction).throttles.assign(static_cast<std::size_t>(options_.layout.targets),
                                        first_throttle(direction));
    }
}

plan::Throttle File::State::first_throttle(Direction direction) const {
    if (!finds()) {
        return plan::Throttle::fixed(options_.tuning.requests_in_flight);
    }
    const plan::FoundLimit& known = options_.known[index_of(direction)];
    return known.limit > 0 ? plan::Throttle::knowing(known)
                           : plan::Throttle::finding(plan::first_requests_in_flight);
}

std::optional<AggregatorId> File::State::own_aggregator() const {
    const ports::Place& place = crew_.place();
    for (std::size_t i = 0; i < aggregators_.size(); ++i) {
        if (aggregators_[i].node == place.node && aggregators_[i].local == place.local) {
            return AggregatorId{static_cast<std::int32_t>(i)};
        }
    }
    return std::nullopt;
}

// Rank 0 said which file was opened. Device numbers of network file systems differ between nodes.
bool File::State::is_that_file(const ports::Identity& found) const {
    const bool here = crew_.place().node.value() == 0;
    return found.inode == options_.identity->inode &&
           (!here || found.device == options_.identity->device);
}

// Opens this rank's storage, once. Says why it cannot be used.
Refusal File::State::prepare(Direction direction) {
    Way& one = way(direction);
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

// What this rank says at the start of a call. Where the last one bypassed, its own part is moved
// before anybody is asked, which saves an agreement; `call` is then left without a request.
Ballot File::State::start(Call& call, Direction direction) {
    Refusal refusal = call.refusal;
    if (refusal == Refusal::none && own_aggregator()) {
        refusal = prepare(direction);
    }
    Ballot mine;
    mine.refusal = static_cast<std::uint32_t>(refusal);
    if (refusal != Refusal::none) {
        return mine;
    }
    const plan::Summary asked = plan::summarise(*call.view, call.request, memory_piece(call));
    // Whether all will bypass is not known yet; opening now saves one more agreement.
    const bool opens = may_bypass(asked, direction);
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

// Whether the next call may be done before it is agreed on: this one needs no exchange, of all that
// was asked for. Through a view with holes the MPI may do an independent write of another rank by
// reading and writing back what lies between its pieces; that must have ended before. Readers wait
// for who may have written just before by itself.
bool File::State::may_move_first(const Ballot& all, Direction direction) const {
    const bool writes = direction == Direction::write;
    if (all.cannot_bypass != 0 || (writes ? all.view_has_holes != 0 : !options_.only_read)) {
        return false;
    }
    const plan::Summary whole = plan::merge(all.summary, all.direct);
    return plan::bypasses(whole, options_.layout, topology_, options_.tuning, direction);
}

// What is left after the start, and everyone's verdict on the whole call.
Ballot File::State::move(const Call& call, const Ballot& mine, const Ballot& all,
                         Direction direction) {
    const plan::Plan plan =
        plan::make_plan(all.summary, options_.layout, topology_, options_.tuning, direction);
    const bool bypasses = plan.path == plan::Path::bypass && all.cannot_bypass == 0;
    Ballot end = bypasses ? move_bypassing(call, plan.span, direction)
                          : move_exchanging(call, mine.summary, plan, direction);
    end.failure = transfer::first_of(end.failure, all.failure);
    record_.bypassed = bypasses;
    return crew_.agree(Moment::end, end);
}

Outcome File::State::transfer(const Call& call, Direction direction) {
    const std::int64_t begin = crew_.clock().now_ns();
    crew_.begin_call();
    misunderstood_.reset();
    own_end_.reset();
    record_ = ports::CallRecord{};
    record_.direction = direction;
    Call rest = call;
    const Ballot mine = start(rest, direction);
    const Ballot all = crew_.agree(Moment::start, mine);
    if (all.refusal != 0) {
        forget();
        Outcome refused;
        refused.passed = static_cast<Refusal>(all.refusal);
        return refused;
    }
    if (all.summary.empty() && all.direct.empty() && !all.failure.happened()) {
        return Outcome{};
    }
    way(direction).moves_first = may_move_first(all, direction);
    record_.bypassed = all.summary.empty();
    const Ballot verdict = all.summary.empty() ? all : move(rest, mine, all, direction);
    const Outcome result = outcome(call, verdict, direction);
    record_.bytes = result.bytes;
    record_.total_ns = crew_.clock().now_ns() - begin;
    record_.exchange_ns = crew_.times().copy;
    record_.wait_ns = crew_.times().wait;
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

// A rank with nothing to move needs no file.
bool File::State::may_bypass(const plan::Summary& mine, Direction direction) const {
    return mine.bytes > 0 &&
           plan::bypasses(mine, options_.layout, topology_, options_.tuning, direction);
}

// Reads where nothing is striped come from memory or from a device that queues them itself.
std::int32_t File::State::bypassing_in_flight(Direction direction) const {
    const bool striped = plan::completed(options_.layout).stripe_bytes > 0;
    if (direction == Direction::read && !striped) {
        return plan::unlimited_requests_in_flight;
    }
    return finds() ? plan::first_requests_in_flight : options_.tuning.requests_in_flight;
}

// `span`: has all of this rank's bytes.
Ballot File::State::move_bypassing(const Call& call, const Extent& span, Direction direction) {
    Ballot end;
    if (call.request.length == 0) {
        return end;
    }
    pattern::Transfer transfer{*call.view, call.request, call.memory};
    NodeGate gate{crew_, bypassing_in_flight(direction)};
    // With one target there is nothing that another request could use meanwhile.
    const transfer::Pace pace =
        options_.layout.targets == 1 ? transfer::Pace::at_once : transfer::Pace::overlapped;
    transfer::Channel channel{*way(direction).storage, gate, crew_.clock(), {direction, 1, pace}};
    move_directly(crew_, channel, gate,
                  std::make_unique<DirectSource>(transfer, span, limits(direction)));
    record_.requests += channel.requests();
    record_.storage_ns += channel.busy_ns();
    end.failure = channel.failure();
    own_end_ = channel.end_of_file();
    return end;
}

// Leaders carry messages when there is more than one node.
std::unique_ptr<Courier> File::State::courier_for(const Rounds& rounds, const Staging& staging,
                                                  Direction direction) {
    if (crew_.place().nodes == 1 || !crew_.place().leader()) {
        return nullptr;
    }
    if (direction == Direction::write) {
        return std::make_unique<WriteCourier>(crew_, rounds, staging);
    }
    return std::make_unique<ReadCourier>(crew_, rounds, staging);
}

// Where windows take turns, these are the gate.
std::unique_ptr<transfer::Gate> File::State::gate(const plan::Plan& plan, Direction direction) {
    if (takes_turns(plan)) {
        return std::make_unique<transfer::FixedGate>(options_.layout.targets,
                                                     plan::unlimited_requests_in_flight);
    }
    return std::make_unique<transfer::ThrottledGate>(way(direction).throttles);
}

// Of the targets that are served, or whose turns are carried, by this rank.
void File::State::add_rates(Rates& rates, Direction direction) {
    const ports::Place& place = crew_.place();
    const std::vector<plan::Throttle>& throttles = way(direction).throttles;
    for (const plan::Aggregator& one : aggregators_) {
        const bool here = one.node == place.node && one.share == 0;
        if (!here || !(shared_ ? place.leader() : one.local == place.local)) {
            continue;
        }
        for (std::int32_t t = one.first_target; t < one.first_target + one.targets; ++t) {
            rates.add(t, throttles[static_cast<std::size_t>(t)]);
        }
    }
}

std::unique_ptr<AggregatorDuty> File::State::aggregator_duty(AggregatorId id, const Rounds& rounds,
                                                             const Staging& staging,
                                                             transfer::Channel& channel,
                                                             TurnBlock* turns,
                                                             Direction direction) {
    const transfer::CutLimits cut = limits(direction);
    if (direction == Direction::write) {
        return std::make_unique<WriteDuty>(id, crew_, rounds, staging, channel, cut, turns);
    }
    return std::make_unique<ReadDuty>(id, crew_, rounds, staging, channel, cut, turns);
}

Ballot File::State::move_exchanging(const Call& call, const plan::Summary& mine,
                                    const plan::Plan& plan, Direction direction) {
    Rounds rounds{plan, mine, crew_.place()};
    const Staging staging{crew_.lane(), plan, crew_.place().nodes};
    const std::unique_ptr<transfer::Gate> gate = this->gate(plan, direction);
    const bool turns = takes_turns(plan);
    std::optional<transfer::Channel> channel;
    std::unique_ptr<AggregatorDuty> duty;
    std::vector<Duty*> duties;
    if (const auto id = own_aggregator()) {
        TurnBlock* const block =
            turns ? &crew_.lane().turns(rounds.aggregator(*id).on_node) : nullptr;
        const transfer::ChannelOptions options{
            direction, static_cast<std::size_t>(plan.buffers), transfer::Pace::overlapped,
            turns ? transfer::PerJob::one : transfer::PerJob::any};
        channel.emplace(*way(direction).storage, *gate, crew_.clock(), options);
        duty = aggregator_duty(*id, rounds, staging, *channel, block, direction);
        duties.push_back(duty.get());
    }
    const std::unique_ptr<Courier> courier = courier_for(rounds, staging, direction);
    if (courier) {
        duties.push_back(courier.get());
    }
    std::optional<TurnCourier> turn_courier;
    if (turns && crew_.place().leader()) {
        duties.push_back(&turn_courier.emplace(crew_, rounds, way(direction).throttles));
    }
    crew_.on_duty(duties);
    pattern::Transfer transfer{*call.view, call.request, call.memory};
    Exchange exchange{crew_, rounds, staging, transfer, direction};
    exchange.run(*call.view, call.request);
    crew_.attend_until([&] { return crew_.through() && crew_.settled(); });
    Ballot end;
    if (courier) {
        end.failure = courier->failure();
        misunderstood_ = courier->misunderstood();
    }
    if (duty) {
        end.failure = transfer::first_of(end.failure, channel->failure());
        end.end_of_file = channel->end_of_file();
        record_.requests += channel->requests();
        record_.storage_ns += channel->busy_ns();
    }
    crew_.off_duty();
    turn_courier.reset();  // gives back what it found
    add_rates(end.rates, direction);
    record_.rounds = exchange.rounds();
    return end;
}

// What this rank may call moved: everything, or what lies below the first error or the file's end.
Outcome File::State::outcome(const Call& call, const Ballot& verdict, Direction direction) const {
    Outcome result;
    const std::int64_t good = std::min(verdict.failure.at, own_end_.value_or(verdict.end_of_file));
    std::int64_t moved = call.request.length;
    if (good != transfer::Failure::nowhere) {
        moved = std::clamp<std::int64_t>(
            call.view->bytes_below(Offset{good}) - call.request.position, 0, moved);
    }
    result.bytes = Length{moved};
    result.slow = slow_target(verdict.rates);
    if (verdict.failure.happened()) {
        result.error = error_of(verdict.failure, direction);
    } else {
        result.found = found_limit(verdict.rates, result.slow);
    }
    return result;
}

Error File::State::error_of(const transfer::Failure& failure, Direction direction) const {
    const char* verb = direction == Direction::write ? "write" : "read";
    const std::string doing = fmt::format("{} {} at byte {}", verb, options_.path, failure.at);
    Error error = failure.system == transfer::Failure::misunderstood
                      ? exchange_error(doing)
                      : system_error(failure.system, doing);
    error.code = static_cast<ErrorCode>(failure.code);
    return error;
}

// Who got the message knows more about it.
Error File::State::exchange_error(const std::string& doing) const {
    const std::string why =
        misunderstood_ ? misunderstood_->message
                       : "cannot use a message of another node (its receiver says why). Check that "
                         "all nodes run the same version of Forebay.";
    return Error{ErrorCode::input_output, 0, fmt::format("cannot {}: {}", doing, why)};
}

Result<void> File::State::sync() {
    Way& one = way(Direction::write);
    return one.storage ? one.storage->sync() : Result<void>{};
}

Result<void> File::State::close() {
    Result<void> first;
    for (Way& one : ways_) {
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

std::optional<Error> File::State::agree(const std::optional<Error>& mine) {
    Ballot ballot;
    if (mine) {
        ballot.failure = transfer::Failure{0, static_cast<std::uint32_t>(mine->code), mine->system};
    }
    const Ballot all = crew_.agree(Moment::end, ballot);
    if (!all.failure.happened()) {
        return std::nullopt;
    }
    Error error = system_error(all.failure.system, "finish " + options_.path);
    error.code = static_cast<ErrorCode>(all.failure.code);
    return error;
}

File::File(ports::Communicator& communicator, const ports::Clock& clock, ports::Recorder& recorder,
           StorageOpener opener, FileOptions options)
    : state_{std::make_unique<State>(communicator, clock, recorder, std::move(opener),
                                     std::move(options))} {}

File::~File() = default;

Outcome File::write(const Call& call) { return state_->transfer(call, Direction::write); }

Outcome File::read(const Call& call) { return state_->transfer(call, Direction::read); }

void File::forget() noexcept { state_->forget(); }

Result<void> File::sync() { return state_->sync(); }

Result<void> File::close() { return state_->close(); }

std::optional<Error> File::agree(const std::optional<Error>& mine) { return state_->agree(mine); }

std::string File::aggregators() const {
    std::string text;
    for (const plan::Aggregator& aggregator : state_->aggregators()) {
        text += fmt::format("{}{}", text.empty() ? "" : ",", state_->rank_of(aggregator).value());
    }
    return text;
}

const plan::FoundLimit& File::found(Direction direction) const noexcept {
    return state_->found(direction);
}

std::int32_t File::targets() const noexcept { return state_->targets(); }

std::size_t File::lane_bytes(std::int32_t ranks, std::int64_t staging_bytes_max) {
    return Lane::overhead_bytes(ranks, ranks) + static_cast<std::size_t>(staging_bytes_max) +
           Staging::rounding_bytes_max;
}

}  // namespace forebay::engine
