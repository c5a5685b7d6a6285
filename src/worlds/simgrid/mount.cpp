// Each step of a call is triggered by a timer or by the end of another RPC; nothing polls. A step
// acts for a local rank, whose Call holds the progress.
#include "worlds/simgrid/mount.hpp"

#include "foundation/base/contracts.hpp"

#include <algorithm>
#include <simgrid/kernel/Timer.hpp>

namespace forebay::adapters {

namespace {

namespace s4u = simgrid::s4u;
using simgrid::kernel::timer::Timer;

// The range of object numbers that a file has.
constexpr std::int64_t objects_max = 65536;
// The unit of caching and fetching: larger than the kernel's pages, to have fewer events.
constexpr std::int64_t block_bytes_max = 1 << 20;

std::int64_t object_number(const MountedFile& file, std::int32_t object) noexcept {
    return file.place.number * objects_max + object;
}

}  // namespace

SimulatedMount::SimulatedMount(SimulatedMachine& machine, std::int32_t node)
    : machine_{machine},
      client_{machine.platform().client},
      node_{node},
      held_{machine.platform().client, static_cast<std::int32_t>(machine.platform().target.count),
            machine.per_node()},
      calls_(position(machine.per_node())),
      streams_(calls_.size()),
      syncs_(calls_.size()),
      failures_(calls_.size()),
      slots_(static_cast<std::size_t>(machine.platform().target.count)),
      block_bytes_{
          std::min({client_.rpc_bytes, machine.platform().stripe_bytes, block_bytes_max})} {}

std::int32_t SimulatedMount::local_of(std::int32_t rank) const noexcept {
    return rank - node_ * machine_.per_node();
}

std::int32_t SimulatedMount::rank_of(std::int32_t local) const noexcept {
    return local + node_ * machine_.per_node();
}

ObjectStriping SimulatedMount::striping(const MountedFile& file) const noexcept {
    return {machine_.platform().stripe_bytes, file.place.targets};
}

RequestArrival SimulatedMount::arrival(std::int32_t rank, const MountedFile& file,
                                       const ObjectPiece& piece) const noexcept {
    const std::int64_t target = file.place.first_target + piece.object;
    RequestArrival made;
    made.target = static_cast<std::int32_t>(target % machine_.platform().target.count);
    made.client = rank;
    made.offset = piece.at;
    made.bytes = piece.bytes;
    made.object = object_number(file, piece.object);
    return made;
}

ObjectPiece SimulatedMount::piece_of(const Call& call, std::int64_t unit) const noexcept {
    return first_piece(striping(call.file), {call.at, call.end - call.at}, unit);
}

std::vector<ObjectPiece> SimulatedMount::as_rpcs(const MountedFile& file,
                                                 const std::vector<FileRun>& runs) const {
    std::vector<ObjectPiece> whole;
    std::map<std::int32_t, ObjectPiece> open;  // by object
    for (FileRun run : runs) {
        while (run.bytes > 0) {
            const ObjectPiece piece = first_piece(striping(file), run, client_.rpc_bytes);
            run.offset += piece.bytes;
            run.bytes -= piece.bytes;
            ObjectPiece& gathered = open[piece.object];
            const bool follows = gathered.end() == piece.at && piece.at % client_.rpc_bytes != 0;
            if (follows && gathered.bytes > 0) {
                gathered.bytes += piece.bytes;
                continue;
            }
            if (gathered.bytes > 0) {
                whole.push_back(gathered);
            }
            gathered = piece;
        }
    }
    for (const auto& [object, gathered] : open) {
        whole.push_back(gathered);
    }
    return whole;
}

void SimulatedMount::call(std::int32_t rank, const Asked& asked, Through through) {
    Call& call = of(local_of(rank));
    expects(!call.through, "a rank makes one call at a time");
    call.file = asked.file;
    call.direction = asked.direction;
    call.begin = asked.run.offset;
    call.at = call.begin;
    call.end = call.begin + asked.run.bytes;
    call.through = std::move(through);
    go_on(local_of(rank));
}

bool SimulatedMount::call_at_once(std::int32_t rank, const Asked& asked) {
    const std::int32_t local = local_of(rank);
    const bool writes = asked.direction == IoDirection::write;
    const std::int64_t unit = writes ? client_.rpc_bytes : block_bytes_;
    const ObjectPiece piece = first_piece(striping(asked.file), asked.run, unit);
    if (asked.file.direct || piece.bytes < asked.run.bytes || piece.end() % unit == 0) {
        return false;
    }
    const bool done =
        writes ? write_at_once(local, asked.file, piece) : read_at_once(local, asked, piece);
    if (done) {
        const double begin = machine_.now(rank);
        const double until =
            machine_.through_client(rank, piece.bytes, work(asked.run.offset, asked.run.offset));
        machine_.charge(rank, until - begin);
    }
    return done;
}

bool SimulatedMount::write_at_once(std::int32_t local, const MountedFile& file,
                                   const ObjectPiece& piece) {
    const RequestArrival what = arrival(0, file, piece);
    const DirtyRun run{local, what.target, what.object, piece.at, piece.bytes};
    const LockRange range{node_, rank_of(local), piece.at, piece.end()};
    if (!held_.has_room(run) || !machine_.lustre().has_lock(what.object, range)) {
        return false;
    }
    static_cast<void>(held_.reserve(run));
    held_.put(run);
    return true;
}

// Not at the start of a block, where the read-ahead window has to be checked.
bool SimulatedMount::read_at_once(std::int32_t local, const Asked& asked,
                                  const ObjectPiece& piece) {
    Stream& stream = streams_[position(local)];
    const auto block =
        blocks_.find({object_number(asked.file, piece.object), piece.at / block_bytes_});
    const bool goes_on = stream.file == asked.file.place.number && stream.next == asked.run.offset;
    if (!goes_on || piece.at % block_bytes_ == 0 || block == blocks_.end() ||
        !block->second.there || block->second.failure != 0) {
        return false;
    }
    stream.next += piece.bytes;
    stream.sequential += piece.bytes;
    machine_.moved(piece.bytes);
    return true;
}

void SimulatedMount::go_on(std::int32_t local) {
    const Call& call = of(local);
    if (call.file.direct) {
        go_directly(local);
    } else if (call.at == call.end) {
        finish(local, 0);
    } else if (call.direction == IoDirection::write) {
        write_on(local);
    } else {
        read_on(local);
    }
}

void SimulatedMount::finish(std::int32_t local, int failure) {
    const Through through = std::exchange(of(local).through, nullptr);
    through(failure);
}

// True: the call continues when the lock has been granted.
bool SimulatedMount::waits_for_lock(std::int32_t local, const ObjectPiece& piece) {
    const Call& call = of(local);
    const std::int64_t object = object_number(call.file, piece.object);
    const LockRange range{node_, rank_of(local), piece.at, piece.end()};
    SimulatedLustre& lustre = machine_.lustre();
    const double seconds = call.direction == IoDirection::write ? lustre.lock(object, range)
                                                                : lustre.share(object, node_);
    if (seconds <= 0) {
        return false;
    }
    const double there_and_back = 2 * machine_.platform().node.link_latency;
    Timer::set(s4u::Engine::get_clock() + there_and_back + seconds,
               [this, local] { go_on(local); });
    return true;
}

double SimulatedMount::work(std::int64_t at, std::int64_t begin) const noexcept {
    const bool fresh = at == begin || at % machine_.platform().stripe_bytes == 0;
    return fresh ? client_.call_time : 0;
}

void SimulatedMount::copy(std::int32_t local, std::int64_t bytes, std::function<void()> copied) {
    const Call& call = of(local);
    const double until = machine_.through_client(rank_of(local), bytes, work(call.at, call.begin));
    Timer::set(until, std::move(copied));
}

void SimulatedMount::write_on(std::int32_t local) {
    const Call& call = of(local);
    const ObjectPiece piece = piece_of(call, client_.rpc_bytes);
    if (waits_for_lock(local, piece)) {
        return;
    }
    const std::int32_t target = arrival(0, call.file, piece).target;
    if (held_.reserve({local, target, 0, 0, piece.bytes})) {
        take_in(local);
    } else {
        pump(target);  // sends the gathered bytes there, since a rank waits for room
    }
}

void SimulatedMount::take_in(std::int32_t local) {
    const Call& call = of(local);
    const ObjectPiece piece = piece_of(call, client_.rpc_bytes);
    const RequestArrival what = arrival(0, call.file, piece);
    const DirtyRun run{local, what.target, what.object, piece.at, piece.bytes};
    copy(local, piece.bytes, [this, local, run] {
        held_.put(run);
        of(local).at += run.bytes;
        pump(run.target);
        go_on(local);
    });
}

void SimulatedMount::read_on(std::int32_t local) {
    const Call& call = of(local);
    const ObjectPiece piece = piece_of(call, block_bytes_);
    if (waits_for_lock(local, piece)) {
        return;
    }
    fetch_ahead(local);
    Block& block = blocks_[{object_number(call.file, piece.object), piece.at / block_bytes_}];
    if (!block.there) {
        block.waiting.push_back(local);
    } else if (block.failure != 0) {
        finish(local, block.failure);
    } else {
        hand_out(local);
    }
}

void SimulatedMount::hand_out(std::int32_t local) {
    const ObjectPiece piece = piece_of(of(local), block_bytes_);
    copy(local, piece.bytes, [this, local, bytes = piece.bytes] {
        Call& call = of(local);
        Stream& stream = streams_[position(local)];
        call.at += bytes;
        stream.next = call.at;
        stream.sequential += bytes;
        machine_.moved(bytes);
        go_on(local);
    });
}

// Fetches whole blocks: up to the end of the call, and beyond it by as much as the rank has read
// sequentially, limited to its share of the node's read-ahead.
void SimulatedMount::fetch_ahead(std::int32_t local) {
    const Call& call = of(local);
    Stream& stream = streams_[position(local)];
    if (stream.file != call.file.place.number || stream.next != call.at) {
        stream = {call.file.place.number, call.at, call.at / block_bytes_ * block_bytes_, 0};
    }
    const std::int64_t most = client_.read_ahead / machine_.per_node();
    const std::int64_t wanted = std::max(call.end, call.at + std::min(most, stream.sequential));
    const std::int64_t up_to =
        std::min((wanted + block_bytes_ - 1) / block_bytes_ * block_bytes_, call.file.bytes);
    std::vector<FileRun> missing;
    for (std::int64_t at = stream.ahead; at < up_to; at += block_bytes_) {
        const FileRun run{at, std::min(block_bytes_, call.file.bytes - at)};
        const ObjectPiece piece = first_piece(striping(call.file), run, block_bytes_);
        const auto [block, fresh] =
            blocks_.try_emplace({object_number(call.file, piece.object), piece.at / block_bytes_});
        if (fresh) {
            missing.push_back(run);
        }
    }
    stream.ahead = std::max(stream.ahead, up_to);
    for (const ObjectPiece& rpc : as_rpcs(call.file, missing)) {
        enqueue({IoDirection::read, rank_of(local), arrival(rank_of(local), call.file, rpc),
                 [this, file = call.file, rpc](int failure) { came(file, rpc, failure); }});
    }
}

void SimulatedMount::came(const MountedFile& file, const ObjectPiece& piece, int failure) {
    const std::int64_t object = object_number(file, piece.object);
    for (std::int64_t at = piece.at; at < piece.end(); at += block_bytes_) {
        Block& block = blocks_.at({object, at / block_bytes_});
        block.there = true;
        block.failure = failure;
        for (const std::int32_t local : std::exchange(block.waiting, {})) {
            if (failure != 0) {
                finish(local, failure);
            } else {
                hand_out(local);
            }
        }
    }
}

// Acquires all locks in sequence, then sends all RPCs at once.
void SimulatedMount::go_directly(std::int32_t local) {
    Call& call = of(local);
    while (call.at < call.end) {
        const ObjectPiece piece = piece_of(call, client_.rpc_bytes);
        if (waits_for_lock(local, piece)) {
            return;
        }
        call.at += piece.bytes;
    }
    const double ready = machine_.through_client(rank_of(local), 0, client_.call_time);
    Timer::set(ready, [this, local] {
        Call& own = of(local);
        const std::vector<ObjectPiece> rpcs = as_rpcs(own.file, {{own.begin, own.end - own.begin}});
        own.asking = std::ssize(rpcs);
        for (const ObjectPiece& rpc : rpcs) {
            enqueue({own.direction, rank_of(local), arrival(rank_of(local), own.file, rpc),
                     [this, local, bytes = rpc.bytes](int failure) {
                         int& first = failures_[position(local)];
                         first = first == 0 ? failure : first;
                         machine_.moved(bytes);
                         if (--of(local).asking == 0) {
                             finish(local, std::exchange(first, 0));
                         }
                     }});
        }
    });
}

void SimulatedMount::enqueue(Rpc rpc) {
    const std::int32_t target = rpc.arrival.target;
    slots_[position(target)].waiting.push_back(std::move(rpc));
    pump(target);
}

// RPCs that a rank waits for take precedence over write-back.
void SimulatedMount::pump(std::int32_t target) {
    Slots& slots = slots_[position(target)];
    while (slots.in_flight < client_.rpcs_in_flight) {
        if (!slots.waiting.empty()) {
            Rpc rpc = std::move(slots.waiting.front());
            slots.waiting.pop_front();
            start(std::move(rpc));
            continue;
        }
        const std::optional<DirtyRun> run = held_.next(target);
        if (!run) {
            return;
        }
        RequestArrival what;
        what.target = target;
        what.client = rank_of(run->rank);
        what.offset = run->at;
        what.bytes = run->bytes;
        what.object = run->object;
        start({IoDirection::write, what.client, what,
               [this, run = *run](int failure) { arrived(run, failure); }});
    }
}

void SimulatedMount::start(Rpc rpc) {
    const std::int32_t target = rpc.arrival.target;
    ++slots_[position(target)].in_flight;
    const auto way = rpc.direction == IoDirection::write ? &SimulatedMachine::send_to_target
                                                         : &SimulatedMachine::fetch_from_target;
    (machine_.*way)(rpc.rank, rpc.arrival,
                    [this, target, ended = std::move(rpc.ended)](int failure) {
                        --slots_[position(target)].in_flight;
                        ended(failure);
                        pump(target);
                    });
}

void SimulatedMount::arrived(const DirtyRun& run, int failure) {
    int& first = failures_[position(run.rank)];
    first = first == 0 ? failure : first;
    machine_.moved(run.bytes);
    for (const std::int32_t local : held_.sent(run)) {
        take_in(local);
    }
    end_sync(run.rank);
}

void SimulatedMount::sync(std::int32_t rank, Through through) {
    const std::int32_t local = local_of(rank);
    syncs_[position(local)] = std::move(through);
    held_.flush(local);
    for (std::int32_t target = 0; target < std::ssize(slots_); ++target) {
        pump(target);
    }
    end_sync(local);
}

void SimulatedMount::end_sync(std::int32_t local) {
    if (syncs_[position(local)] && held_.dirty(local) == 0) {
        const Through through = std::exchange(syncs_[position(local)], nullptr);
        through(std::exchange(failures_[position(local)], 0));
    }
}

}  // namespace forebay::adapters
