// After a restart: what was found of each replica decides what is done with it.
#include "tier/mover/replicas.hpp"

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>

namespace forebay::tier {

namespace {

// Reads a whole buffer, short where the file ends.
Result<std::size_t> read_some(TieredFile& file, Offset at, std::span<std::byte> bytes,
                              const std::string& path) {
    std::size_t done = 0;
    while (done < bytes.size()) {
        const ports::Piece piece{at + Length{static_cast<std::int64_t>(done)}, bytes.subspan(done)};
        ports::FileStorage& storage = file.storage(IoDirection::read);
        storage.submit(
            {.direction = IoDirection::read, .ticket = 0, .pieces = {&piece, 1}, .at_once = true});
        ports::RequestCompletion end;
        storage.wait({&end, 1});
        const bool again = end.system == EINTR || end.system == EAGAIN;
        if (end.system != 0 && !again) {
            return failure(system_error(end.system, "compare " + path));
        }
        if (end.bytes.bytes() == 0 && !again) {
            break;
        }
        done += end.bytes.size();
    }
    return done;
}

// Whether two files have the same bytes.
Result<bool> have_same_bytes(TieredFile& a, TieredFile& b, CopyMemory& memory,
                             const std::string& path) {
    for (Offset at{};;) {
        const auto first = read_some(a, at, memory.buffer(0), path);
        const auto second = read_some(b, at, memory.buffer(1), path);
        if (!first || !second) {
            return failure(first ? second.error() : first.error());
        }
        if (!std::ranges::equal(memory.buffer(0).first(*first), memory.buffer(1).first(*second))) {
            return false;
        }
        if (*first < memory.buffer(0).size()) {
            return true;
        }
        at += Length{static_cast<std::int64_t>(*first)};
    }
}

class ReplicaRecovery {
public:
    ReplicaRecovery(const TierParts& parts, CopyMemory& memory) : parts_{parts}, memory_{memory} {}

    Result<RecoveredReplica> set_right(const ReplicaName& name) {
        found_ = {.owner = parts_.place.owner()};
        auto opened = parts_.place.open(name);
        if (!opened) {
            return failure(opened.error());
        }
        if (!*opened) {
            if (auto removed = parts_.list.remove(name); !removed) {
                return failure(std::move(removed.error()));
            }
            return RecoveredReplica{.name = name, .done = RedoAction::remove};
        }
        replica_ = std::move(*opened);
        if (auto looked = look(name); !looked) {
            return failure(std::move(looked.error()));
        }
        RecoveredReplica done{.name = name, .done = redo_of(found_)};
        done.path = found_.record ? found_.record->path : "";
        auto end = carry_out(done);
        if (!end) {
            return failure(std::move(end.error()));
        }
        return done;
    }

    // After set_right().
    [[nodiscard]] RightReplica take(RecoveredReplica recovered) {
        const bool kept = recovered.done != RedoAction::remove &&
                          recovered.done != RedoAction::rescue && replica_ && file_;
        if (kept) {  // if their bytes were compared
            replica_->close_storage();
            file_->close_storage();
        }
        return kept ? RightReplica{std::move(recovered), std::move(replica_), std::move(file_),
                                   std::move(found_.record)}
                    : RightReplica{.recovered = std::move(recovered)};
    }

    // A replica that could not be set right.
    [[nodiscard]] RecoveredReplica left_as_it_is(const ReplicaName& name, Error why) const {
        return {.name = name,
                .path = found_.record ? found_.record->path : "",
                .obstacle = std::move(why)};
    }
    Result<void> list_if_known(const ReplicaName& name) {
        return found_.record ? list(name) : Result<void>{};
    }

private:
    Result<void> look(const ReplicaName& name) {
        file_.reset();
        auto record = read_replica_record(*replica_, parts_.place.key());
        const auto stamp = replica_->stamp();
        if (!record || !stamp) {
            return failure(record ? stamp.error() : record.error());
        }
        stamp_ = *stamp;
        found_.replica = stamp_;
        found_.record = std::move(*record);
        if (!found_.record) {
            return {};
        }
        auto file = parts_.files.open(found_.record->path, name);
        if (!file) {
            return failure(file.error());
        }
        file_ = std::move(*file);
        if (file_) {
            const auto file_stamp = file_->stamp();
            const auto marker = read_any_marker(*file_, parts_.place);
            if (!file_stamp || !marker) {
                return failure(file_stamp ? marker.error() : file_stamp.error());
            }
            found_.file = *file_stamp;
            found_.marker = *marker;
        }
        return {};
    }

    Result<void> carry_out(RecoveredReplica& done) {
        if (done.done == RedoAction::compare) {
            const auto same = have_same_bytes(*replica_, *file_, memory_, done.path);
            if (!same) {
                return failure(same.error());
            }
            // Compared with a file whose stamp was taken before: a change since is seen by it.
            done.done = *same ? RedoAction::nothing : RedoAction::remove;
            if (*same) {
                found_.record->base = *found_.file;
                return store(done.name);
            }
        }
        switch (done.done) {
            case RedoAction::nothing: return list(done.name);
            case RedoAction::remove: return remove(done.name);
            case RedoAction::mark_again:
                return mark(done.name).and_then([&] { return list(done.name); });
            case RedoAction::move_again:
                found_.record->base = *found_.file;  // what it has become is our own
                return file_->sync().and_then([&] { return store(done.name); });
            case RedoAction::finish_move:
                follow(*found_.record, ReplicaEvent::move_ends);
                return end_move(done.name);
            case RedoAction::follow_write:
                follow(*found_.record, ReplicaEvent::move_overtaken);
                found_.record->generation += found_.record->generation == found_.record->moving;
                return end_move(done.name).and_then([&] { return mark(done.name); });
            case RedoAction::compare:
            case RedoAction::rescue: break;
        }
        return rescue_it(done);
    }

    Result<void> remove(const ReplicaName& name) {
        replica_.reset();
        return evict(parts_, name);
    }

    Result<void> end_move(const ReplicaName& name) {
        found_.record->copied = 0;
        found_.record->base = *found_.file;
        // The marker that says so has to be durable before the replica may be evicted.
        return file_->sync().and_then([&] { return store(name); });
    }

    Result<void> store(const ReplicaName& name) {
        return replica_->set_record(encode(*found_.record, parts_.place.key()))
            .and_then([&] { return replica_->sync(); })
            .and_then([&] { return list(name); });
    }

    Result<void> mark(const ReplicaName& name) {
        return set_marker(parts_, name, *file_, *found_.record, stamp_);
    }

    Result<void> list(const ReplicaName& name) {
        return parts_.list.put(listed(name, *found_.record, stamp_));
    }

    Result<void> rescue_it(RecoveredReplica& done) {
        const RescueReason reason = !found_.record ? RescueReason::no_record
                                    : !file_       ? RescueReason::file_is_gone
                                                   : RescueReason::changed_outside;
        auto kept = rescue(parts_, {.name = done.name,
                                    .replica = *replica_,
                                    .record = found_.record,
                                    .file = file_.get(),
                                    .reason = reason});
        if (!kept) {
            return failure(std::move(kept.error()));
        }
        done.kept_in = std::move(*kept);
        return {};
    }

    TierParts parts_;
    CopyMemory& memory_;
    std::unique_ptr<TieredFile> replica_;
    std::unique_ptr<TieredFile> file_;
    FoundReplica found_;
    VersionStamp stamp_{};  // of the replica
};

}  // namespace

Result<RecoveredReplica> set_right(const TierParts& parts, const ReplicaName& name,
                                   CopyMemory& memory) {
    return ReplicaRecovery{parts, memory}.set_right(name);
}

Result<RightReplica> open_right(const TierParts& parts, const ReplicaName& name,
                                CopyMemory& memory) {
    ReplicaRecovery recovery{parts, memory};
    auto done = recovery.set_right(name);
    if (done) {
        return recovery.take(std::move(*done));
    }
    if (auto listed = recovery.list_if_known(name); !listed) {
        return failure(std::move(listed.error()));
    }
    return RightReplica{.recovered = recovery.left_as_it_is(name, std::move(done.error()))};
}

Result<std::vector<RecoveredReplica>> recover(const TierParts& parts, CopyMemory& memory) {
    std::vector<RecoveredReplica> done;
    if (auto removed = parts.place.remove_unpublished(); !removed) {
        return failure(std::move(removed.error()));
    }
    const auto names = parts.place.names();
    if (!names) {
        return failure(names.error());
    }
    auto replaced = parts.list.replace([&]() -> Result<void> {
        ReplicaRecovery recovery{parts, memory};
        for (const ReplicaName& name : *names) {
            auto one = recovery.set_right(name);
            if (one && one->done == RedoAction::nothing) {
                continue;  // there may be millions of these
            }
            done.push_back(one ? std::move(*one)
                               : recovery.left_as_it_is(name, std::move(one.error())));
            if (auto listed = one ? Result<void>{} : recovery.list_if_known(name); !listed) {
                return listed;
            }
        }
        return {};
    });
    if (!replaced) {
        return failure(std::move(replaced.error()));
    }
    return done;
}

}  // namespace forebay::tier
