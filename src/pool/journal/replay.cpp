// A replay can be interrupted and repeated at any point, because of the order of its steps: all
// files are judged; the journal durably says which of them will be changed; they are changed and
// synced; the journal says that they are settled. The dead daemon's records are freed last.
#include "pool/journal/replay.hpp"

#include "foundation/base/contracts.hpp"
#include "pool/journal/format/segment_scan.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <ranges>
#include <string>
#include <string_view>
#include <utility>

namespace forebay::pool {

namespace {

using journal::RecordKind;
using journal::ReplayPlan;
using journal::Verdict;

constexpr std::int64_t sign_of_life_ns = 250'000'000;

Error refused(int error, const char* what) { return system_error(error, what); }

// A damaged journal is not replayed at all: what is left of it may be older than what is missing,
// and would overwrite newer bytes.
Error refused(journal::DamageKind damage) {
    constexpr std::string_view cannot = "cannot replay the journal (";
    constexpr std::string_view then =
        "). Nothing of it was written to files. Keep its folder, and name another one.";
    std::string_view why;
    switch (damage) {
        case journal::DamageKind::older_format:
            return {
                ErrorCode::unsupported, 0,
                "cannot replay the journal (an older version of Forebay has written it). Start a "
                "daemon of that version with it once, or name another folder."};
        case journal::DamageKind::head:
            why = "its head is damaged, gone, or that of another journal";
            break;
        case journal::DamageKind::lost:
            why = "it is damaged: records that were written are not there any more";
            break;
        case journal::DamageKind::twice:
            why = "a segment is there twice, perhaps in place of one that is gone";
            break;
        case journal::DamageKind::mixed:
            why = "it is damaged: its segments do not belong together";
            break;
        case journal::DamageKind::none: break;
    }
    return {ErrorCode::input_output, EIO,
            std::string{cannot} + std::string{why} + std::string{then}};
}

class JournalReplayer {
public:
    JournalReplayer(ports::JournalDevice& device, const ports::TimeSource& calendar,
                    ReplayFiles& files, const ReplayOptions& options)
        : device_{device}, calendar_{calendar}, files_{files}, options_{options} {}

    Result<Replay> run() {
        if (auto read = read_chain(); !read) {
            return failure(std::move(read.error()));
        }
        if (auto ready = prepare(); !ready) {
            return failure(std::move(ready.error()));
        }
        std::vector<ReplayPlan> replay_plans = journal::replay_plans_of(scan_.groups);
        if (auto judged = judge(replay_plans); !judged) {
            return failure(std::move(judged.error()));
        }
        invariant(cases_.size() == replay_plans.size(), "each file has been judged");
        Replay done;
        done.unfinished = scan_.unfinished;
        done.head_damaged = scan_.head_damaged;
        for (std::size_t i = 0; i < replay_plans.size(); ++i) {
            auto one = replay_file(replay_plans[i], cases_[i]);
            if (!one) {
                return failure(std::move(one.error()));
            }
            done.files.push_back(std::move(*one));
        }
        if (auto over = let_go(); !over) {
            return failure(std::move(over.error()));
        }
        done.writer = std::move(writer_);
        return done;
    }

private:
    struct Case {
        std::unique_ptr<ReplayFile> file;
        Verdict verdict = Verdict::missing;
        int error = 0;
        // Number of the record that says that the file is being changed; 0: it is not changed.
        std::uint64_t changing = 0;
    };

    Result<void> read_chain() {
        std::vector<journal::SegmentBytes> all;
        for (const std::uint32_t number : device_.segments()) {
            next_segment_ = std::max(next_segment_, number + 1);
            auto bytes = device_.look(number);
            if (!bytes) {
                return failure(std::move(bytes.error()));
            }
            all.push_back({number, *bytes, std::ssize(*bytes) == device_.segment_bytes()});
        }
        auto head = device_.look(ports::JournalDevice::head);
        if (!head) {
            return failure(std::move(head.error()));
        }
        has_head_ = std::ssize(*head) == ports::JournalDevice::head_bytes;
        scan_ = journal::scan_segments(all, *head, device_.key());
        if (scan_.damage != journal::DamageKind::none) {
            return failure(refused(scan_.damage));
        }
        for (const journal::SegmentBytes& one : all) {
            if (std::ranges::find(scan_.segments, one.number) == scan_.segments.end()) {
                free_.push_back(one.number);
            }
        }
        if (const int error = device_.settle(); error != 0) {
            return failure(refused(error, "make the journal durable"));
        }
        return {};
    }

    Result<void> prepare() {
        const std::size_t used = scan_.segments.size();
        JournalStart start{
            .life = options_.life,
            .next_record = scan_.next_record,
            .next_epoch = scan_.next_epoch,
            .next_group = scan_.next_group,
            .last = scan_.last,
            .heads = scan_.heads,
            .unneeded = scan_.unneeded,
            .free = free_,
            .next_segment = next_segment_,
            .segments_max = std::max(options_.segments_max, ReplayOptions::segments_least)};
        // Segments of the dead daemon count only once let_go() has added them.
        start.segments_max =
            std::max(start.segments_max, used + ReplayOptions::segments_least) - used;
        if (!scan_.groups.empty()) {
            start.held = scan_.groups.front().header.epoch;
        }
        if (!has_head_) {
            device_.begin_adding(ports::JournalDevice::head);
            if (const int error = device_.wait_until_added(); error != 0) {
                return failure(refused(error, "make the journal"));
            }
        }
        writer_ = std::make_unique<JournalWriter>(device_, calendar_, start);
        while (writer_->segments().free() < ReplayOptions::segments_least) {
            if (!writer_->grow()) {
                return failure(refused(ENOSPC, "make the journal"));
            }
            if (const int error = writer_->wait_until_grown(); error != 0) {
                return failure(refused(error, "make the journal"));
            }
        }
        writer_->allow(std::max(options_.segments_max, used + ReplayOptions::segments_least));
        return {};
    }

    Result<void> write() {
        if (!writer_->begin()) {
            return failure(refused(ENOSPC, "write the journal"));
        }
        if (const int error = writer_->wait(); error != 0) {
            return failure(refused(error, "write the journal"));
        }
        return {};
    }

    // Writes a group, as a sign of life, if the last one is too old: a later replay then knows
    // until when this one has changed files.
    Result<void> write_sign_of_life() {
        const bool due = calendar_.now_ns() - writer_->lived_ns() >= sign_of_life_ns;
        return due ? write() : Result<void>{};
    }

    Result<void> judge(const std::vector<ReplayPlan>& replay_plans) {
        if (scan_.groups.empty()) {
            return {};
        }
        static_cast<void>(writer_->add({.kind = RecordKind::life}));
        for (const ReplayPlan& replay_plan : replay_plans) {
            Case one;
            if (!files_.may_be_written(replay_plan)) {
                one.verdict = Verdict::elsewhere;
                cases_.push_back(std::move(one));
                continue;
            }
            auto found = files_.find(replay_plan);
            if (!found) {
                one.error = found.error().system == 0 ? EIO : found.error().system;
                one.verdict = Verdict::apply;
            } else {
                one.file = std::move(*found);
                one.verdict = journal::judge(
                    replay_plan, one.file ? std::optional{one.file->found()} : std::nullopt);
            }
            if (one.file && one.verdict == Verdict::apply) {
                if (!writer_->fits(0)) {
                    if (auto written = write(); !written) {
                        return written;
                    }
                }
                one.changing =
                    writer_->add({.kind = RecordKind::changing, .file = replay_plan.number}).at;
            }
            cases_.push_back(std::move(one));
        }
        return write();
    }

    Result<ReplayedFile> replay_file(const ReplayPlan& replay_plan, Case& one) {
        ReplayedFile done{.path = replay_plan.path,
                          .bytes = replay_plan.bytes(),
                          .verdict = one.verdict,
                          .error = one.error,
                          .kept_in = {}};
        bool applied = false;
        if (one.file && one.verdict == Verdict::apply) {
            invariant(one.changing != 0 && one.changing < writer_->durable(),
                      "the journal says that a file is being changed before it is");
            auto error = apply(replay_plan, *one.file);
            if (!error) {
                return failure(std::move(error.error()));
            }
            done.error = *error;
            applied = done.error == 0;
        }
        done.uncut = applied ? std::nullopt : replay_plan.cut;
        if (!applied && !replay_plan.runs.empty()) {
            auto kept = files_.keep(replay_plan, done.error);
            if (!kept) {
                return failure(std::move(kept.error()));
            }
            done.kept_in = std::move(*kept);
        }
        if (!writer_->fits(0)) {
            if (auto written = write(); !written) {
                return failure(std::move(written.error()));
            }
        }
        static_cast<void>(
            writer_->add({.kind = RecordKind::settled,
                          .file = replay_plan.number,
                          .number = static_cast<std::int64_t>(scan_.next_record - 1)}));
        one.file.reset();
        return done;
    }

    // The errno of changing the file, or 0. An Error is one of the journal.
    Result<int> apply(const ReplayPlan& replay_plan, ReplayFile& file) {
        int error = 0;
        if (replay_plan.cut && file.length() > *replay_plan.cut) {
            error = file.set_length(*replay_plan.cut);
        }
        for (const journal::JournalRun& run : replay_plan.runs) {
            if (error != 0) {
                return error;
            }
            error = file.write(run.at, run.bytes);
            if (auto alive = write_sign_of_life(); !alive) {
                return failure(std::move(alive.error()));
            }
        }
        if (error == 0 && replay_plan.cut && file.length() < replay_plan.length_min) {
            error = file.set_length(replay_plan.length_min);
        }
        return error == 0 ? file.sync() : error;
    }

    // Nothing of the dead daemon's journal is needed any more: its segments become free.
    Result<void> let_go() {
        if (scan_.groups.empty()) {
            return {};
        }
        expects(writer_ != nullptr, "the journal can be written to");
        writer_->segments().hold(0);
        writer_->segments().need(writer_->next_record());
        if (auto written = write(); !written) {
            return written;
        }
        for (const std::uint32_t number : scan_.segments) {
            writer_->segments().add(number);
        }
        return {};
    }

    ports::JournalDevice& device_;
    const ports::TimeSource& calendar_;
    ReplayFiles& files_;
    ReplayOptions options_;
    journal::SegmentScan scan_;
    std::vector<std::uint32_t> free_;
    std::uint32_t next_segment_ = 0;
    bool has_head_ = false;
    std::unique_ptr<JournalWriter> writer_;
    std::vector<Case> cases_;
};

}  // namespace

Result<Replay> replay(ports::JournalDevice& device, const ports::TimeSource& calendar,
                      ReplayFiles& files, const ReplayOptions& options) {
    return JournalReplayer{device, calendar, files, options}.run();
}

}  // namespace forebay::pool
