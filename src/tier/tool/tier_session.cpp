// Each command opens what it needs, sets it right, and acts.
#include "tier/tool/tier_session.hpp"

#include "storage/posix/attributes.hpp"
#include "storage/posix/clock.hpp"
#include "tier/mover/move_task.hpp"

#include <fmt/format.h>
#include <utility>

namespace forebay::tier {

namespace {

Error refusal(const std::string& path, std::string_view doing, std::string_view why,
              std::string_view next) {
    return {ErrorCode::input_output, 0,
            fmt::format("cannot {} {} ({}). {}", doing, path, why, next)};
}

}  // namespace

TierSession::TierSession(std::unique_ptr<FastFolder> fast, std::unique_ptr<GlobalFolder> global,
                         std::unique_ptr<ReplicaIndex> list)
    : fast_{std::move(fast)}, global_{std::move(global)}, list_{std::move(list)} {}

Result<std::unique_ptr<TierSession>> TierSession::open(const std::string& fast,
                                                       const std::string& global) {
    auto place = FastFolder::open(fast);
    if (!place) {
        return failure(std::move(place.error()));
    }
    auto files = GlobalFolder::open(global);
    if (!files) {
        return failure(std::move(files.error()));
    }
    auto list = ReplicaIndex::open(fast + "/" + list_name);
    if (!list) {
        return failure(std::move(list.error()));
    }
    const bool is_new = (*list)->is_new();
    std::unique_ptr<TierSession> session{
        new TierSession{std::move(*place), std::move(*files), std::move(*list)}};
    if (is_new) {
        if (auto rebuilt = session->rebuild(); !rebuilt) {
            return failure(std::move(rebuilt.error()));
        }
    }
    return session;
}

Result<TierSession::OpenReplica> TierSession::open_replica(const std::string& path) {
    auto named = global_->open_named(path);
    if (!named) {
        return failure(std::move(named.error()));
    }
    const auto done = set_right(parts(), named->name, memory_);
    if (!done) {
        return failure(done.error());
    }
    if (done->done == RedoAction::rescue) {
        return failure(
            refusal(path, "use the replica of",
                    "somebody else has changed the file; its bytes are in " + done->kept_in,
                    "Compare the two."));
    }
    OpenReplica opened{.name = named->name, .file = std::move(named->file), .replica = nullptr};
    auto replica = fast_->open(opened.name);
    if (!replica) {
        return failure(std::move(replica.error()));
    }
    opened.replica = std::move(*replica);
    if (opened.replica) {
        auto record = read_replica_record(*opened.replica, fast_->key());
        if (!record) {
            return failure(std::move(record.error()));
        }
        opened.record = std::move(*record);
    }
    return opened;
}

Result<TieredPlace> TierSession::stat(const std::string& path) {
    const auto opened = open_replica(path);
    if (!opened) {
        return failure(opened.error());
    }
    TieredPlace place{.path = path, .replica = opened->record, .owner = fast_->owner()};
    if (opened->replica) {
        const auto stamp = opened->replica->stamp();
        if (!stamp) {
            return failure(stamp.error());
        }
        place.replica_bytes = stamp->bytes;
    }
    auto marker = read_any_marker(*opened->file, *fast_);
    if (!marker) {
        return failure(std::move(marker.error()));
    }
    place.marker = *marker;
    return place;
}

Result<void> TierSession::fill(const std::string& path) {
    fast_->renew_lease();
    const auto opened = open_replica(path);
    if (!opened) {
        return failure(opened.error());
    }
    if (opened->replica) {
        return {};
    }
    const adapters::SteadyClock clock;
    const auto end = fill_replica(parts(), opened->name, path, *opened->file, clock, memory_);
    if (!end) {
        return failure(end.error());
    }
    switch (*end) {
        case FillEnd::filled: return {};
        case FillEnd::changed:
            return failure(refusal(path, "preload", "it was changed meanwhile", "Try again."));
        case FillEnd::elsewhere:
            return failure(refusal(path, "preload", "another fast place has bytes that it lacks",
                                   "Sync it there first."));
        case FillEnd::lost: break;
    }
    return failure(refusal(path, "preload", "the replica with its newest bytes is gone",
                           "Bring the fast place back, or write the file anew."));
}

Result<void> TierSession::sync(const std::string& path) {
    fast_->renew_lease();
    const auto opened = open_replica(path);
    if (!opened) {
        return failure(opened.error());
    }
    if (!opened->record || is_redundant(opened->record->state)) {
        return opened->file->sync();
    }
    LiveRecord record{*opened->replica, fast_->key(), *opened->record};
    const FileStripes stripes = opened->file->stripes();
    constexpr std::int32_t requests_at_a_target = 2;  // as the pool's usual k
    transfer::FixedGate gate{stripes.targets, requests_at_a_target};
    const adapters::SteadyClock clock;
    const auto end =
        MoveTask{
            parts(), {opened->name, *opened->replica, *opened->file, record}, gate, clock, memory_}
            .run();
    if (!end) {
        return failure(end.error());
    }
    if (*end == MoveEnd::moved) {
        return {};
    }
    if (*end == MoveEnd::replaced) {
        return evict(path);
    }
    return failure(*end == MoveEnd::overtaken
                       ? refusal(path, "sync", "it is being written to", "Try again.")
                       : refusal(path, "sync", "somebody else has changed it",
                                 "Run the command again: it keeps the bytes as a rescue file."));
}

Result<void> TierSession::evict(const std::string& path) {
    auto opened = open_replica(path);
    if (!opened) {
        return failure(std::move(opened.error()));
    }
    if (opened->record && !is_redundant(opened->record->state)) {
        return failure(
            refusal(path, "evict", "the file lacks bytes of its replica", "Sync it first."));
    }
    opened->replica.reset();
    return tier::evict(parts(), opened->name);
}

Result<std::vector<RecoveredReplica>> TierSession::rebuild() { return recover(parts(), memory_); }

Result<std::optional<FolderPolicy>> read_policy(const std::string& folder) {
    const adapters::PosixAttributes attributes;
    const auto value = attributes.get(folder, policy_attribute);
    if (!value) {
        return failure(value.error());
    }
    if (!*value) {
        return std::nullopt;
    }
    auto policy = parse_policy({reinterpret_cast<const char*>((*value)->data()), (*value)->size()});
    return policy ? Result<std::optional<FolderPolicy>>{std::move(*policy)}
                  : failure(std::move(policy.error()));
}

Result<FolderPolicy> write_policy(const std::string& folder, std::string_view text) {
    auto policy = parse_policy(text);
    if (!policy) {
        return policy;
    }
    adapters::PosixAttributes attributes;
    const auto facts = attributes.look(folder);
    if (!facts) {
        return failure(facts.error());
    }
    if (facts->kind != ports::PathKind::directory) {
        return failure({ErrorCode::argument, 0,
                        fmt::format("cannot give {} a policy (it is no folder). Name the folder "
                                    "of the files.",
                                    folder)});
    }
    const std::string canonical = text_of(*policy);
    auto set = attributes.set(folder, policy_attribute, std::as_bytes(std::span{canonical}));
    return set ? policy : failure(std::move(set.error()));
}

}  // namespace forebay::tier
