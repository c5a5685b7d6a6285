// Goes over the records twice: first for the marks that say up to which record each file is
// settled, since a mark is about records that precede it; then for the records that are left.
#include "pool/journal/format/replay_plan.hpp"

#include "foundation/base/contracts.hpp"

#include <algorithm>
#include <iterator>

namespace forebay::pool::journal {

namespace {

class PlanBuilder {
public:
    explicit PlanBuilder(std::span<const Group> groups) {
        for (const Group& group : groups) {
            for (const Record& record : group.records) {
                if (record.header.kind == RecordKind::settled) {
                    std::uint64_t& settled = settled_[record.header.file];
                    settled = std::max(settled, static_cast<std::uint64_t>(record.header.number));
                }
            }
        }
        for (const Group& group : groups) {
            for (const Record& record : group.records) {
                take(record);
            }
            lived_ns_ = group.header.time_ns;
        }
        end_life();
    }

    [[nodiscard]] std::vector<ReplayPlan> replay_plans() {
        std::vector<ReplayPlan> left;
        for (auto& [number, file] : files_) {
            if (file.bytes.empty() && !file.replay_plan.cut) {
                continue;
            }
            std::int64_t end = 0;
            for (const auto& [at, bytes] : file.bytes) {
                ensures(at >= end && !bytes.empty(), "the runs of a file do not overlap");
                end = at + std::ssize(bytes);
                file.replay_plan.runs.push_back({Offset{at}, bytes});
            }
            left.push_back(std::move(file.replay_plan));
        }
        return left;
    }

private:
    struct File {
        ReplayPlan replay_plan;
        bool changing = false;
        std::map<std::int64_t, std::span<const std::byte>> bytes;  // by offset; they do not overlap
    };

    void take(const Record& record) {
        if (record.header.kind == RecordKind::life) {
            end_life();
            return;
        }
        File& file = files_[record.header.file];
        file.replay_plan.number = record.header.file;
        switch (record.header.kind) {
            case RecordKind::file: introduce(file, record); break;
            case RecordKind::changing: change(file); break;
            case RecordKind::settled: settle(file, record); break;
            case RecordKind::deposit:
                if (counts(record)) {
                    add_bytes(file, record.header.number, record.payload);
                }
                break;
            case RecordKind::cut:
                if (counts(record)) {
                    cut(file, record.header.number);
                }
                break;
            case RecordKind::life: break;
        }
    }

    // True when the record is not settled.
    [[nodiscard]] bool counts(const Record& record) const {
        const auto settled = settled_.find(record.header.file);
        return settled == settled_.end() || record.at > settled->second;
    }

    // The daemon may be changing the file from here on.
    static void change(File& file) {
        file.changing = true;
        file.replay_plan.stamp.reset();
    }

    static void introduce(File& file, const Record& record) {
        const auto said = file_of(record);
        if (!said) {
            return;
        }
        file.replay_plan.facts = said->facts;
        file.replay_plan.path.assign(reinterpret_cast<const char*>(said->path.data()),
                                     said->path.size());
        if (said->facts.stamped != 0) {
            file.replay_plan.stamp = said->facts.stamp;
            file.changing = false;
        } else {
            change(file);
        }
    }

    static void settle(File& file, const Record& record) {
        if (const auto stamp = stamp_of(record)) {
            file.replay_plan.stamp = stamp;
            file.changing = false;
        }
    }

    // The end of a daemon's life: what it was changing, it may have changed until the time of its
    // last group, or a little later (slack_ns).
    void end_life() {
        for (auto& [number, file] : files_) {
            if (file.changing) {
                file.replay_plan.lived_ns = lived_ns_;
                file.changing = false;
            }
        }
    }

    // Removes a range of offsets from the runs, as later bytes replace it.
    static void remove(File& file, std::int64_t begin, std::int64_t end) {
        auto next = file.bytes.lower_bound(begin);
        if (next != file.bytes.begin()) {
            const auto before = std::prev(next);
            const auto size = static_cast<std::int64_t>(before->second.size());
            if (before->first + size > begin) {
                const auto all = before->second;
                before->second = all.first(static_cast<std::size_t>(begin - before->first));
                if (before->first + size > end) {
                    file.bytes[end] = all.subspan(static_cast<std::size_t>(end - before->first));
                }
            }
        }
        next = file.bytes.lower_bound(begin);
        while (next != file.bytes.end() && next->first < end) {
            const auto rest_at = next->first + static_cast<std::int64_t>(next->second.size());
            if (rest_at > end) {
                file.bytes[end] = next->second.subspan(static_cast<std::size_t>(end - next->first));
            }
            next = file.bytes.erase(next);
        }
    }

    static void add_bytes(File& file, std::int64_t at, std::span<const std::byte> bytes) {
        const std::int64_t end = at + static_cast<std::int64_t>(bytes.size());
        remove(file, at, end);
        file.bytes[at] = bytes;
        file.replay_plan.length_min = std::max(file.replay_plan.length_min, Length{end});
    }

    static void cut(File& file, std::int64_t bytes) {
        remove(file, bytes, Offset::none().bytes());
        file.replay_plan.cut =
            std::min(file.replay_plan.cut.value_or(Length{bytes}), Length{bytes});
        file.replay_plan.length_min = Length{bytes};
    }

    std::map<std::uint64_t, std::uint64_t> settled_;
    std::map<std::uint64_t, File> files_;
    std::int64_t lived_ns_ = 0;
};

}  // namespace

Length ReplayPlan::bytes() const {
    Length all{0};
    for (const JournalRun& run : runs) {
        all += Length{static_cast<std::int64_t>(run.bytes.size())};
    }
    return all;
}

std::vector<ReplayPlan> replay_plans_of(std::span<const Group> groups) {
    return PlanBuilder{groups}.replay_plans();
}

Verdict judge(const ReplayPlan& replay_plan, const std::optional<FoundFile>& found) noexcept {
    if (!found) {
        return Verdict::missing;
    }
    const JournalFileFacts& facts = replay_plan.facts;
    const bool same_generation =
        facts.generation == 0 || found->generation == 0 || facts.generation == found->generation;
    if (found->device != facts.device || found->inode != facts.inode || !same_generation) {
        return Verdict::other;
    }
    const ports::ChangeStamp& now = found->stamp;
    if (!replay_plan.stamp) {
        return now.changed_ns <= saturated_sum(replay_plan.lived_ns, slack_ns) ? Verdict::apply
                                                                               : Verdict::changed;
    }
    // The times may be older than recorded, as a power failure loses times that were not synced. A
    // newer ctime alone is harmless: chmod and rename leave length and mtime as they were.
    const bool bytes_are_the_same =
        now.bytes == replay_plan.stamp->bytes && now.modified_ns == replay_plan.stamp->modified_ns;
    return now.changed_ns <= replay_plan.stamp->changed_ns || bytes_are_the_same ? Verdict::apply
                                                                                 : Verdict::changed;
}

}  // namespace forebay::pool::journal
