// The steps of moving, in order.
#include "tier/mover/move_task.hpp"

#include "foundation/base/contracts.hpp"
#include "tier/catalogue/redo.hpp"
#include "tier/mover/replicas.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace forebay::tier {

namespace {

bool has_other_contents(const VersionStamp& known, const VersionStamp& found) noexcept {
    const StampVerdict verdict = compare_stamps(known, found);
    return verdict == StampVerdict::contents || verdict == StampVerdict::other_file;
}

}  // namespace

MoveTask::MoveTask(const TierParts& parts, const Files& files, transfer::Gate& gate,
                   const ports::TimeSource& clock, CopyMemory& memory, const MoveOptions& options)
    : parts_{parts},
      files_{files},
      gate_{gate},
      clock_{clock},
      memory_{memory},
      options_{options} {}

Result<MoveEnd> MoveTask::run() {
    constexpr std::array steps{&MoveTask::begin, &MoveTask::mark_file, &MoveTask::copy,
                               &MoveTask::complete_file, &MoveTask::finish};
    for (const auto step : steps) {
        const Step done = (this->*step)();
        if (!done) {
            keep_position();
            return failure(done.error());
        }
        if (*done) {
            return **done;
        }
    }
    contract_failed("invariant", "the last step has an end", std::source_location::current());
}

// Nothing of the file is changed before the replica says durably that it is being moved.
MoveTask::Step MoveTask::begin() {
    const ReplicaRecord before = files_.record.get();
    const bool resumed = before.state == ReplicaState::moving;
    expects(before.state == ReplicaState::dirty || before.state == ReplicaState::moving,
            "only what is dirty is moved");
    // Bytes that an earlier attempt has written are the base of this one, so they must be durable.
    if (auto synced = resumed ? files_.file.sync() : Result<void>{}; !synced) {
        return failure(std::move(synced.error()));
    }
    const auto found = files_.file.stamp();
    const auto replica_before = files_.replica.stamp();
    if (!found || !replica_before) {
        return failure(found ? replica_before.error() : found.error());
    }
    if (resumed ? !is_own_change(before, *found) : has_other_contents(before.base, *found)) {
        return MoveEnd::changed_outside;
    }
    own_ = *found;
    modified_ns_ = replica_before->modified_ns;
    const auto changed = files_.record.change([this, resumed](ReplicaRecord& record) {
        // A write since makes what was copied worthless.
        const bool goes_on = resumed && record.generation == record.moving;
        record.state = ReplicaState::moving;
        record.moving = record.generation;
        record.copied = goes_on ? record.copied : 0;
        record.target_ns = modified_ns_;
        record.base = own_;
    });
    if (!changed) {
        return failure(changed.error());
    }
    // Also cleans pages that programs have mapped, so that later stores change the replica's mtime.
    if (auto synced = files_.replica.sync(); !synced) {
        return failure(std::move(synced.error()));
    }
    const auto replica = files_.replica.stamp();
    if (!replica) {
        return failure(replica.error());
    }
    replica_then_ = *replica;
    length_ = Length{replica->bytes};
    checked_ = Offset{std::min(changed->copied, replica->bytes)};
    checked_ns_ = clock_.now_ns();
    return std::nullopt;
}

MoveTask::Step MoveTask::mark_file() {
    if (auto set = set_marker(ReplicaState::moving, files_.record.get().moving); !set) {
        return failure(std::move(set.error()));
    }
    return look();
}

// Holes of the replica become holes of the file.
MoveTask::Step MoveTask::copy() {
    const Offset end = Offset{} + length_;
    Offset at = checked_;
    while (at < end) {
        const auto run = files_.replica.next_data(at);
        if (!run) {
            return failure(run.error());
        }
        const Offset data = *run ? std::min((*run)->begin, end) : end;
        if (data > at) {
            if (auto made = files_.file.make_hole({at, data - at}); !made) {
                return failure(std::move(made.error()));
            }
            at = data;
            if (auto remembered = remember(); !remembered) {
                return failure(std::move(remembered.error()));
            }
        }
        const Offset until = *run ? std::min((*run)->end(), end) : end;
        while (at < until) {
            Step one = copy_chunk(at, until);
            if (!one || *one) {
                return one;
            }
        }
    }
    return std::nullopt;
}

MoveTask::Step MoveTask::copy_chunk(Offset& at, Offset until) {
    if (Step looked = look(); !looked || *looked) {
        return looked;
    }
    const Length bytes{std::min(options_.chunk_bytes, (until - at).bytes())};
    // Reading may take long: looked at once more, as long as no change is this move's own.
    Step before_writing;
    const CopyRoute route{.from = files_.replica.storage(IoDirection::read),
                          .to = files_.file.storage(IoDirection::write),
                          .stripes = files_.file.stripes(),
                          .gate = gate_,
                          .clock = clock_,
                          .may_write = [&] {
                              before_writing = look();
                              return before_writing && !*before_writing;
                          }};
    const CopyEnd end = copy_range(route, {at, bytes}, memory_);
    if (end.refused) {
        return before_writing;
    }
    const std::string path = files_.record.get().path;
    if (end.read_error != 0) {
        return failure(system_error(end.read_error, "read the replica of " + path));
    }
    if (end.write_error != 0) {
        return failure(system_error(end.write_error, "move bytes to " + path));
    }
    if (end.source_ended) {
        // A program has truncated the replica, which a later generation says: what is missing in
        // this one is moved with that.
        length_ = at - Offset{};
    }
    const std::int64_t length_before = own_.bytes;
    at = end.source_ended ? until : at + bytes;
    if (auto remembered = remember(); !remembered) {
        return failure(std::move(remembered.error()));
    }
    if (!end.source_ended && own_.bytes != std::max(length_before, at.bytes())) {
        return MoveEnd::changed_outside;  // somebody has cut or lengthened it meanwhile
    }
    const bool due = at - checked_ >= Length{options_.checkpoint_bytes} ||
                     clock_.now_ns() - checked_ns_ >= checkpoint_ns_max / 2;
    if (due && !end.source_ended) {
        return checkpoint(at);
    }
    return std::nullopt;
}

MoveTask::Step MoveTask::look() {
    const auto found = files_.file.stamp();
    if (!found) {
        return failure(found.error());
    }
    if (has_other_contents(own_, *found)) {
        return MoveEnd::changed_outside;
    }
    own_ = *found;
    return std::nullopt;
}

// The file has the bytes durably before the replica says so.
MoveTask::Step MoveTask::checkpoint(Offset at) {
    if (auto synced = files_.file.sync(); !synced) {
        return failure(std::move(synced.error()));
    }
    if (Step looked = look(); !looked || *looked) {
        return looked;
    }
    const auto changed = files_.record.change([this, at](ReplicaRecord& record) {
        record.base = own_;
        record.copied = record.generation == record.moving ? at.bytes() : 0;
    });
    if (!changed) {
        return failure(changed.error());
    }
    checked_ = at;
    checked_ns_ = clock_.now_ns();
    return std::nullopt;
}

// First the bytes, then the marker that says that they are there.
MoveTask::Step MoveTask::complete_file() {
    if (Step looked = look(); !looked || *looked) {
        return looked;
    }
    TieredFile& file = files_.file;
    const std::uint64_t generation = files_.record.get().moving;
    // Mostly the file that look() has seen just now has its length already.
    auto done = (own_.bytes == length_.bytes() ? Result<void>{} : file.set_length(length_))
                    .and_then([&] { return file.set_modified(modified_ns_); })
                    .and_then([&] { return file.sync(); })
                    .and_then([&] { return remember(); })
                    .and_then([&] {
                        modified_ns_ = own_.modified_ns;  // as exactly as the file system keeps it
                        return set_marker(ReplicaState::clean, generation);
                    })
                    .and_then([&] { return file.sync(); })
                    .and_then([&] { return remember(); });
    if (!done) {
        return failure(std::move(done.error()));
    }
    return std::nullopt;
}

MoveTask::Step MoveTask::finish() {
    const auto replica = files_.replica.stamp();
    if (!replica) {
        return failure(replica.error());
    }
    // Stores to a mapping are not announced.
    const bool unseen = has_other_contents(replica_then_, *replica);
    const bool foreign = own_.bytes != length_.bytes() || own_.modified_ns != modified_ns_;
    bool overtaken = false;
    const auto changed = files_.record.change([&](ReplicaRecord& record) {
        if (record.generation == record.moving && unseen) {
            ++record.generation;
            record.dirtied_ns = replica->modified_ns;
        }
        overtaken = record.generation != record.moving;
        if (!foreign) {
            follow(record, overtaken ? ReplicaEvent::move_overtaken : ReplicaEvent::move_ends);
            record.copied = 0;
            record.base = own_;
        }
    });
    if (!changed) {
        return failure(changed.error());
    }
    if (foreign) {
        return overtaken ? MoveEnd::changed_outside : MoveEnd::replaced;
    }
    auto done =
        files_.replica.sync()
            .and_then([&]() -> Result<void> {
                return overtaken ? set_marker(ReplicaState::dirty, changed->generation)
                                 : Result<void>{};
            })
            .and_then([&] { return parts_.list.put(listed(files_.name, *changed, *replica)); });
    if (!done) {
        return failure(std::move(done.error()));
    }
    return overtaken ? MoveEnd::overtaken : MoveEnd::moved;
}

Result<void> MoveTask::set_marker(ReplicaState state, std::uint64_t generation) {
    return tier::set_marker(parts_, files_.name, files_.file,
                            {.state = state, .generation = generation},
                            {.bytes = length_.bytes(), .modified_ns = modified_ns_});
}

void MoveTask::keep_position() {
    const auto synced = files_.file.sync();
    const auto found = files_.file.stamp();
    if (synced && found && files_.record.get().state == ReplicaState::moving) {
        // An error of this is no other than the one that is returned.
        static_cast<void>(
            files_.record.change([&found](ReplicaRecord& record) { record.base = *found; }));
    }
}

Result<void> MoveTask::remember() {
    const auto found = files_.file.stamp();
    if (!found) {
        return failure(found.error());
    }
    own_ = *found;
    return {};
}

}  // namespace forebay::tier
