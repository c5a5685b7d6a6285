// Filling, making, removing and rescuing replicas.
#include "tier/mover/replicas.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace forebay::tier {

namespace {

// Copies all bytes of `file` to an empty replica, leaving out holes.
Result<CopyEnd> copy_data(TieredFile& file, TieredFile& replica, Length length,
                          const ports::TimeSource& clock, CopyMemory& memory) {
    const Offset end = Offset{} + length;
    transfer::FixedGate gate{1, static_cast<std::int32_t>(copy_buffers)};
    const CopyRoute route{file.storage(IoDirection::read), replica.storage(IoDirection::write),
                          FileStripes{}, gate, clock};
    for (Offset at{}; at < end;) {
        const auto run = file.next_data(at);
        if (!run) {
            return failure(run.error());
        }
        if (!*run || (*run)->begin >= end) {
            break;
        }
        const Offset until = std::min((*run)->end(), end);
        const CopyEnd copied = copy_range(route, {(*run)->begin, until - (*run)->begin}, memory);
        if (!copied.whole()) {
            return copied;
        }
        at = until;
    }
    return CopyEnd{};
}

// Gives a new replica its record and its name.
Result<void> publish(const TierParts& parts, const ReplicaName& name, TieredFile& replica,
                     const ReplicaRecord& record) {
    const auto stamp = replica.stamp();
    if (!stamp) {
        return failure(stamp.error());
    }
    return replica.set_record(encode(record, parts.place.key()))
        .and_then([&] { return replica.sync(); })
        .and_then([&] { return parts.place.publish(name); })
        .and_then([&] { return parts.list.put(listed(name, record, *stamp)); });
}

}  // namespace

Result<void> set_marker(const TierParts& parts, const ReplicaName& name, TieredFile& file,
                        const ReplicaRecord& record, const VersionStamp& replica) {
    const FileMarker marker{.state = record.state,
                            .owner = parts.place.owner(),
                            .generation = record.generation,
                            .inode = name.inode,
                            .bytes = replica.bytes,
                            .modified_ns = replica.modified_ns};
    return file.set_record(encode(marker, parts.place.key()));
}

namespace {

// Copies a file into a replica that has no name yet.
Result<FillEnd> fill_unnamed(TieredFile& file, TieredFile& replica, const VersionStamp& before,
                             const std::string& path, const ports::TimeSource& clock,
                             CopyMemory& memory) {
    const Length length{before.bytes};
    const auto copied = copy_data(file, replica, length, clock, memory);
    if (!copied) {
        return failure(copied.error());
    }
    if (copied->read_error != 0 || copied->write_error != 0) {
        return failure(copied->read_error != 0
                           ? system_error(copied->read_error, "read " + path)
                           : system_error(copied->write_error, "write the replica of " + path));
    }
    if (auto set = replica.set_length(length); !set) {
        return failure(std::move(set.error()));
    }
    const auto after = file.stamp();
    if (!after) {
        return failure(after.error());
    }
    const StampVerdict verdict = compare_stamps(before, *after);
    return verdict == StampVerdict::contents || verdict == StampVerdict::other_file ||
                   copied->source_ended
               ? FillEnd::changed
               : FillEnd::filled;
}

}  // namespace

Result<FillEnd> fill_replica(const TierParts& parts, const ReplicaName& name,
                             const std::string& path, TieredFile& file,
                             const ports::TimeSource& clock, CopyMemory& memory,
                             MadeReplica* made) {
    const auto before = file.stamp();
    const auto marker = read_any_marker(file, parts.place);
    if (!before || !marker) {
        return failure(before ? marker.error() : before.error());
    }
    switch (judge_marker(*marker, name.inode, parts.place.owner())) {
        case MarkerVerdict::whole: break;
        case MarkerVerdict::elsewhere: return FillEnd::elsewhere;
        case MarkerVerdict::lost: return FillEnd::lost;
    }
    auto replica = parts.place.create(name);
    if (!replica) {
        return failure(replica.error());
    }
    auto end = fill_unnamed(file, **replica, *before, path, clock, memory);
    const ReplicaRecord record{.state = ReplicaState::clean,
                               .owner = parts.place.owner(),
                               .generation = *marker ? (*marker)->generation : 0,
                               .base = *before,
                               .path = path};
    if (end && *end == FillEnd::filled) {
        if (auto done = publish(parts, name, **replica, record); !done) {
            end = failure(std::move(done.error()));
        } else if (made != nullptr) {
            file.close_storage();
            (*replica)->close_storage();
            *made = {std::move(*replica), record};
        }
    }
    if (!end || *end != FillEnd::filled) {
        // Else a file that did not fit would keep the room that it had taken.
        static_cast<void>(parts.place.discard(name));
    }
    return end;
}

Result<MadeReplica> make_replica(const TierParts& parts, const ReplicaName& name,
                                 const std::string& path, TieredFile& file, std::int64_t now_ns) {
    const auto base = file.stamp();
    const auto marker = read_any_marker(file, parts.place);
    if (!base || !marker) {
        return failure(base ? marker.error() : base.error());
    }
    auto replica = parts.place.create(name);
    if (!replica) {
        return failure(replica.error());
    }
    const ReplicaRecord record{.state = ReplicaState::dirty,
                               .owner = parts.place.owner(),
                               .generation = (*marker ? (*marker)->generation : 0) + 1,
                               .dirtied_ns = now_ns,
                               .base = *base,
                               .path = path};
    auto done = publish(parts, name, **replica, record).and_then([&] {
        return set_marker(parts, name, file, record, {.modified_ns = now_ns});
    });
    if (!done) {
        static_cast<void>(parts.place.discard(name));
        return failure(std::move(done.error()));
    }
    return MadeReplica{std::move(*replica), record};
}

Result<void> begin_writing(const TierParts& parts, const ReplicaName& name, LiveRecord& record,
                           TieredFile& replica, TieredFile& file, std::int64_t now_ns) {
    const ReplicaRecord before = record.get();
    const auto after = record.note_write(now_ns);
    if (!after) {
        return failure(after.error());
    }
    if (*after == before) {
        return {};
    }
    // Durable before bytes change: else a power failure could leave new bytes in a replica that
    // counts as clean, or as moved. The marker need not be, since the record tells the same.
    if (auto synced = replica.sync(); !synced || before.state != ReplicaState::clean) {
        return synced;
    }
    const auto now = replica.stamp();
    if (!now) {
        return failure(now.error());
    }
    return set_marker(parts, name, file, *after, *now).and_then([&] {
        return parts.list.put(listed(name, *after, *now));
    });
}

Result<void> evict(const TierParts& parts, const ReplicaName& name) {
    return parts.place.remove(name).and_then([&] { return parts.list.remove(name); });
}

namespace {

std::string note_of(const TierParts& parts, const ReplicaName& name, const std::string& path,
                    RescueReason reason) {
    const char* const why =
        reason == RescueReason::changed_outside ? "somebody else has changed the file meanwhile"
        : reason == RescueReason::file_is_gone  ? "the file is not there any more"
                                                : "the replica's record cannot be read";
    return fmt::format(
        "These bytes were written to a file in fast storage, and are not in the file itself ({}).\n"
        "path = {}\ninode = {}\nfile_system = {:x}\ntier = {:x}\n"
        "Compare the two. To put these bytes into the file: cp --no-preserve=all RESCUED PATH.\n",
        why, path.empty() ? "not known" : path, name.inode, name.file_system, parts.place.owner());
}

Result<void> take_marker_off(const TierParts& parts, TieredFile& file) {
    const auto marker = read_any_marker(file, parts.place);
    if (!marker) {
        return failure(marker.error());
    }
    if (!*marker || (*marker)->owner != parts.place.owner()) {
        return {};
    }
    return file.remove_record().and_then([&] { return file.sync(); });
}

}  // namespace

// Each step leaves a state from which a recovery comes here again: once the record says `rescued`,
// nothing else can follow, whatever is found of the file.
Result<std::string> rescue(const TierParts& parts, const RescuedReplica& rescued) {
    if (rescued.record) {
        ReplicaRecord record = *rescued.record;
        record.state = ReplicaState::rescued;
        auto stored = rescued.replica.set_record(encode(record, parts.place.key())).and_then([&] {
            return rescued.replica.sync();
        });
        if (!stored) {
            return failure(std::move(stored.error()));
        }
    }
    if (rescued.file != nullptr) {
        if (auto unmarked = take_marker_off(parts, *rescued.file); !unmarked) {
            return failure(std::move(unmarked.error()));
        }
    }
    const std::string path = rescued.record ? rescued.record->path : std::string{};
    auto kept =
        parts.place.rescue(rescued.name, note_of(parts, rescued.name, path, rescued.reason));
    if (!kept) {
        return kept;
    }
    if (auto removed = parts.list.remove(rescued.name); !removed) {
        return failure(std::move(removed.error()));
    }
    return kept;
}

}  // namespace forebay::tier
