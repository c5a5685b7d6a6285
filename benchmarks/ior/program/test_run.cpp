// Runs the repetitions of a test: writing, checking, reading, removing.
#include "benchmarks/ior/program/test_run.hpp"

#include "benchmarks/ior/documents/documents.hpp"
#include "benchmarks/ior/file_names.hpp"
#include "benchmarks/ior/program/phase_report.hpp"
#include "benchmarks/ior/tables.hpp"
#include "benchmarks/measure/byte_units.hpp"
#include "benchmarks/measure/clock.hpp"
#include "benchmarks/measure/saturated.hpp"
#include "benchmarks/measure/statistics.hpp"
#include "benchmarks/session/session.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <ctime>
#include <fmt/format.h>
#include <new>
#include <sys/stat.h>
#include <unistd.h>

namespace forebay::bench {

namespace {

constexpr std::int64_t repetitions_known_max = 4096;

class TestRun {
public:
    TestRun(const TestSetting& setting, ior::TestResult& test)
        : setting_(setting),
          session_(*setting.session),
          test_(test),
          o_(test.options),
          report_(setting, test) {}

    TestEnd run() {
        const auto ready = prepare();
        if (const auto wrong = session_.agreed(ready ? Wrong() : Wrong(ready.error()))) {
            return wrong->code == ErrorCode::argument
                       ? TestEnd{measure::ExitStatus::usage, wrong->message}
                       : ended(wrong);
        }
        const std::int64_t begin = measure::now_ns();
        for (std::int64_t rep = 0; rep < o_.repetitions; ++rep) {
            const auto wrong = repetition(rep);
            if (wrong && o_.writes()) {  // otherwise the file is not this run's
                clean(rep);
            }
            if (wrong || (wrong_data_ > 0 && o_.quit_on_error)) {
                return ended(wrong);
            }
            const double minutes = measure::seconds_of(measure::now_ns() - begin) / 60.0;
            const bool over = o_.duration_max_minutes > 0 &&
                              minutes > static_cast<double>(o_.duration_max_minutes);
            if (session_.from_first(over ? 1 : 0) != 0) {
                break;
            }
        }
        if (o_.verbose >= 1) {
            setting_.print(ior::maxima_text(test_));
        }
        TestEnd end = ended(session_.agreed(report_.lost()));
        if (wrong_data_ > 0) {  // takes precedence over a file of numbers that could not be written
            end.status = measure::ExitStatus::data_wrong;
        }
        return end;
    }

private:
    using Wrong = std::optional<Error>;

    [[nodiscard]] TestEnd ended(const Wrong& error) const {
        if (error) {
            return {measure::ExitStatus::input_output, error->message};
        }
        return {wrong_data_ > 0 ? measure::ExitStatus::data_wrong : measure::ExitStatus::good, {}};
    }

    Result<void> prepare() {
        auto made = make_backend({&o_, test_.geometry, setting_.hints, session_.rank()});
        if (!made) {
            return tl::unexpected<Error>(made.error());
        }
        backend_ = std::move(*made);
        auto buffer =
            transfer_memory(measure::saturated_product(o_.transfer_bytes, o_.own.queue_depth));
        if (!buffer) {
            return failure(buffer.error());
        }
        buffer_ = std::move(*buffer);
        written_.assign(static_cast<std::size_t>(session_.size()), -1);
        if (dummy() && (o_.check_write || o_.check_read) && session_.first()) {
            report_.warn_later(
                "Nothing is checked (DUMMY keeps no data). Give -a another back end.");
        }
        return take_memory();
    }

    // Allocates and touches the buffer. Checks the node's memory first, because with overcommit the
    // kernel would kill the process when the pages are touched.
    static Result<measure::AlignedBytes> transfer_memory(std::int64_t bytes) {
        if (bytes <= memory_of_node()) {
            try {
                return measure::AlignedBytes(static_cast<std::size_t>(bytes));
            } catch (const std::bad_alloc&) {  // reported below, to all ranks
            }
        }
        return failure(
            {ErrorCode::input_output, 0,
             fmt::format("cannot take {} of memory for a transfer (the node has {}, and "
                         "gives no more). Give -t less.",
                         measure::human_size(bytes), measure::human_size(memory_of_node()))});
    }

    // -M: takes memory away from the page cache.
    Result<void> take_memory() {
        std::int64_t bytes = 0;
        if (!o_.memory_per_node.empty()) {
            const std::string& text = o_.memory_per_node;
            const auto number = measure::parse_size(text.substr(0, text.find('%')));
            if (!number) {
                return tl::unexpected<Error>(number.error());
            }
            bytes = text.ends_with('%') ? memory_of_node() / 100 * *number : *number;
            bytes /= test_.tasks_of_node;
        } else if (!o_.memory_per_task.empty()) {
            const auto number = measure::parse_size(o_.memory_per_task);
            if (!number) {
                return tl::unexpected<Error>(number.error());
            }
            bytes = *number;
        }
        if (bytes < 0 || bytes > memory_of_node()) {
            return failure(
                {ErrorCode::argument, 0,
                 fmt::format("cannot take {} of memory (the node has {}). Give -M less.",
                             measure::human_size(bytes), measure::human_size(memory_of_node()))});
        }
        try {
            taken_.assign(static_cast<std::size_t>(bytes), std::byte{1});
        } catch (const std::bad_alloc&) {
            return failure({ErrorCode::input_output, 0,
                            fmt::format("cannot take {} of memory (the node gives no more). Give "
                                        "-M less.",
                                        measure::human_size(bytes))});
        }
        return {};
    }

    // The data of the file that `task` has written.
    [[nodiscard]] ior::FileData data_of(std::int64_t task) const {
        const bool own = o_.file_per_process;
        const measure::DataStream stream(
            {test_.seed, measure::file_number(ior::identity(o_, own ? task : 0), own ? task : -1),
             static_cast<std::uint64_t>(repetition_)});
        // Without -G, IOR's signature is the time, but 0 for random data.
        const bool zero = o_.packet() == ior::PacketType::random && o_.signature == 0;
        const auto signature = static_cast<std::int32_t>(zero ? 0 : test_.seed);
        return {o_.own.ior_compat ? ior::DataFormat::ior : ior::DataFormat::forebay, stream,
                ior::IorKey{o_.packet(), signature, task}};
    }

    [[nodiscard]] ior::TaskReordering reordering(std::int64_t rep) const {
        ior::TaskReordering order;
        order.tasks = session_.size();
        order.tasks_of_node = test_.tasks_of_node;
        order.by_block = session_.by_block();
        order.constant = o_.reorder_constant;
        order.random = o_.reorder_random;
        order.task_per_node_offset = o_.task_per_node_offset;
        order.seed = ior::reorder_seed(o_.reorder_seed, rep);
        return order;
    }
    [[nodiscard]] std::int64_t source(std::int64_t further, std::int64_t rep) const {
        return reordering(rep).source_of(session_.rank(), further);
    }

    Wrong repetition(std::int64_t rep) {
        repetition_ = rep;
        if (o_.verbose >= 2 && rep > 0) {  // the first repetition's is in the head
            setting_.print(ior::seed_line(test_));
        }
        if (o_.writes()) {
            if (auto wrong = write_phase()) {
                return wrong;
            }
        }
        if (o_.check_write) {
            pause();
            if (auto wrong = check_phase()) {
                return wrong;
            }
        }
        if (o_.reads()) {
            pause();
            if (auto wrong = read_phase()) {
                return wrong;
            }
        }
        return clean(rep);
    }

    void pause() const {
        if (o_.delay_between_tests > 0) {
            const timespec wait{o_.delay_between_tests, 0};
            ::clock_nanosleep(CLOCK_MONOTONIC, 0, &wait, nullptr);
        }
    }

    [[nodiscard]] bool dummy() const noexcept { return o_.api == "DUMMY"; }

    Wrong write_phase() {
        if (auto wrong = session_.agreed(make_room())) {
            return wrong;
        }
        session_.barrier();
        hold_files();
        if ((o_.random_prefill > 0 && o_.random_offset > 0) || o_.own.read_percent > 0) {
            const std::int64_t begin = measure::now_ns();
            if (auto wrong = prefill()) {
                return wrong;
            }
            if (o_.verbose >= 2 && o_.random_prefill > 0) {
                setting_.print(fmt::format("Random prefill took: {:.6f}s\n",
                                           measure::seconds_of(measure::now_ns() - begin)));
            }
        }
        auto data = data_of(session_.rank());
        PhaseRequest request;
        request.purpose = PhasePurpose::write;
        request.path = ior::file_name(o_, session_.rank(), repetition_).path;
        request.task = session_.rank();
        request.transfers_max = test_.geometry.transfers_of_task();
        request.data = dummy() ? nullptr : &data;
        report_.doing("writing", request.path);
        report_.begins("write");
        PhaseOutcome outcome = timed("write", request);
        if (auto wrong = session_.agreed(outcome.error)) {
            return wrong;
        }
        written_ = session_.all(outcome.wall_transfers);
        keep_status(outcome);
        const std::int64_t missing = warn_of_size();
        report_.finish(outcome, "write", repetition_);
        if (o_.own.read_percent > 0) {
            report_.finish(reads_of(std::move(outcome)), "read", repetition_);
        }
        if (missing > 0) {
            return Error{ErrorCode::input_output, 0,
                         fmt::format("{} bytes that were written are not in {} (the back end "
                                     "reported success). Look at the free space and the MPI.",
                                     missing, request.path)};
        }
        return std::nullopt;
    }

    // The reads of a mixed phase, presented as a phase of the same duration.
    static PhaseOutcome reads_of(PhaseOutcome mixed) {
        mixed.times.bytes = mixed.reads.bytes;
        mixed.times.transfers = mixed.reads.transfers;
        mixed.latency = std::move(mixed.reads.latency);
        mixed.operation_lines = std::move(mixed.reads.operation_lines);
        return mixed;
    }

    // From now on files have to be removed however the run ends. A node's janitor knows the files
    // of the node's own ranks, which are mostly adjacent.
    void hold_files() {
        *setting_.holds_files = !o_.keep_file && !dummy();
        if (!setting_.holds_files->load()) {
            return;
        }
        std::vector<std::string> names;
        for (std::int64_t rank = 0; rank < session_.size(); ++rank) {
            if (session_.node_of(rank) == session_.node_of(session_.rank()) &&
                (o_.file_per_process || rank == 0)) {
                const auto more = files_of(o_, rank, rank + 1);
                names.insert(names.end(), more.begin(), more.end());
            }
        }
        if (session_.local_rank() == 0) {
            setting_.janitor->watch_over(names);
        }
    }

    // Creates the directories of -u, and removes old files.
    Wrong make_room() {
        const ior::FileName name = ior::file_name(o_, session_.rank(), repetition_);
        if (dummy() || (!o_.file_per_process && !session_.first())) {
            return std::nullopt;
        }
        if (!name.directory.empty() && ::mkdir(name.directory.c_str(), 0775) != 0 &&
            errno != EEXIST) {
            return system_error(errno, "make the directory " + name.directory);
        }
        if (!file_bytes(name.on_disk)) {
            return room_for(name.on_disk);
        }
        if (session_.first()) {
            report_.warn_now(
                o_.use_existing
                    ? fmt::format("Using existing file {} (-E)", name.path)
                    : fmt::format("The file \"{}\" exists already and will be overwritten",
                                  name.path));
        }
        if (!o_.use_existing) {
            if (const auto removed = remove_file(name.on_disk); !removed) {
                return removed.error();
            }
            return room_for(name.on_disk);
        }
        return std::nullopt;
    }

    // Refuses a test that cannot fit. If a collective HDF5 write fails on one rank only, it never
    // returns on the others; a file that HDF5 cannot close makes MPI_Finalize end by a signal; and
    // PnetCDF takes a short write for a complete one. (With -D a test may end before the disk is
    // full.)
    [[nodiscard]] Wrong room_for(const std::string& path) const {
        const auto free = free_bytes_at(path);
        const bool at_risk = (o_.api == "HDF5" || o_.api == "NCMPI") && o_.stonewall_seconds == 0;
        const std::int64_t needed = test_.geometry.bytes_of_all();
        if (!at_risk || !free || *free >= needed) {
            return std::nullopt;
        }
        return Error{ErrorCode::no_space, 0,
                     fmt::format("cannot write {} (it needs {}, the file system has {} left, and "
                                 "{} does not survive a full one). {}",
                                 path, measure::human_size(needed), measure::human_size(*free),
                                 o_.api, advice_on(ErrorCode::no_space))};
    }

    // --randomPrefill and --rwmixpct: writes the whole file once, in order and not timed;
    // --randomPrefill gives the transfer size.
    Wrong prefill() {
        ior::IorOptions plain = o_;
        plain.own.queue_depth = 1;
        plain.own.read_percent = 0;
        plain.own.write_rate_max = 0;
        plain.transfer_bytes = o_.random_prefill > 0 ? o_.random_prefill : o_.transfer_bytes;
        plain.random_offset = 0;
        plain.stonewall_seconds = 0;
        plain.duration_min_seconds = 0;
        ior::TestGeometry geometry = test_.geometry;
        geometry.transfer_bytes = plain.transfer_bytes;
        geometry.order = ior::OffsetOrder::sequential;
        auto backend = make_backend({&plain, geometry, setting_.hints, session_.rank()});
        if (!backend) {
            return session_.agreed(backend.error());
        }
        auto data = data_of(session_.rank());
        auto piece = transfer_memory(plain.transfer_bytes);
        if (const auto wrong = session_.agreed(piece ? Wrong() : Wrong(piece.error()))) {
            return wrong;
        }
        PhaseRequest request;
        request.path = ior::file_name(o_, session_.rank(), repetition_).path;
        request.task = session_.rank();
        request.transfers_max = geometry.transfers_of_task();
        request.data = &data;
        const PhaseOutcome outcome = run_phase(
            {&session_, setting_.clock, &plain, geometry, backend->get(), &*piece}, request);
        return session_.agreed(outcome.error);
    }

    PhaseOutcome timed(const std::string& name, const PhaseRequest& request) {
        const auto ranks_here = static_cast<std::int64_t>(session_.slots().size());
        setting_.monitor->begin(
            name, o_.stonewall_seconds > 0 ? 0 : test_.geometry.bytes_of_task() * ranks_here);
        PhaseOutcome outcome = run_phase(
            {&session_, setting_.clock, &o_, test_.geometry, backend_.get(), &buffer_}, request);
        setting_.monitor->end();
        for (const std::string& note : backend_->notes()) {
            if (session_.first()) {
                report_.warn_later(note);
            }
        }
        return outcome;
    }

    // The number of transfers of `task` that can be read: written in this run, or given by a status
    // file.
    [[nodiscard]] std::int64_t readable(std::int64_t task) const {
        const std::int64_t here = written_[static_cast<std::size_t>(task)];
        if (here >= 0) {
            return here;
        }
        const std::int64_t all = test_.geometry.transfers_of_task();
        if (o_.wear_out_iterations > 0) {
            return std::min(all, o_.wear_out_iterations);
        }
        if (o_.stonewall_status_file.empty()) {
            return all;
        }
        std::int64_t told = 0;
        if (session_.first()) {
            const auto text = read_text(o_.stonewall_status_file);
            const auto number =
                text ? measure::parse_size(text->substr(0, text->find_first_of(" \n\r")))
                     : Result<std::int64_t>(failure(text.error()));
            told = number.value_or(0);
        }
        told = session_.from_first(told);
        return told > 0 ? std::min(all, told) : all;
    }

    PhaseRequest reading(PhasePurpose purpose, std::int64_t task, ior::FileData* data) const {
        PhaseRequest request;
        request.purpose = purpose;
        request.path = ior::file_name(o_, task, repetition_).path;
        request.task = task;
        request.transfers_max = readable(task);
        request.data = data;
        request.repetitions_of_data =
            data != nullptr && !o_.writes() && !o_.multi_file ? repetitions_known_max : 0;
        return request;
    }

    Wrong check_phase() {
        if (o_.verbose >= 1) {
            setting_.print(fmt::format("Verifying contents of the file(s) just written.\n{}\n\n",
                                       time_of_day()));
        }
        const std::int64_t task = source(1, repetition_);
        auto data = data_of(task);
        PhaseOutcome outcome =
            timed("check", reading(PhasePurpose::check, task, dummy() ? nullptr : &data));
        if (auto wrong = session_.agreed(outcome.error)) {
            return wrong;
        }
        wrong_data_ += report_.wrong_data(outcome, "write");
        return std::nullopt;
    }

    // -vv with -Z: prints how evenly random reading hits the tasks' data.
    void tell_hits() const {
        if (o_.verbose < 2 || o_.reorder_random != 1) {
            return;
        }
        std::vector<std::int64_t> sources;
        for (std::int64_t task = 0; task < session_.size(); ++task) {
            sources.push_back(reordering(repetition_).source_of(task, 0));
        }
        setting_.print(ior::hits_line(sources));
    }

    Wrong read_phase() {
        tell_hits();
        const std::int64_t task = source(0, repetition_);
        auto data = data_of(task);
        const PhaseRequest request =
            reading(PhasePurpose::read, task, o_.check_read && !dummy() ? &data : nullptr);
        report_.doing("reading", request.path);
        report_.begins("read");
        PhaseOutcome outcome = timed("read", request);
        if (auto wrong = session_.agreed(outcome.error)) {
            return wrong;
        }
        note_cache(task);
        outcome.wrong = report_.wrong_data(outcome, "read");
        wrong_data_ += outcome.wrong;
        report_.finish(outcome, "read", repetition_);
        return std::nullopt;
    }

    void keep_status(const PhaseOutcome& outcome) {
        const std::int64_t most = session_.most(outcome.wall_transfers);
        if (session_.first() && !o_.stonewall_status_file.empty()) {
            report_.save(o_.stonewall_status_file, fmt::format("{}\n", most));
        }
    }

    // Compares the expected file size with the one that the file system reports and with the bytes
    // moved. Returns the number of bytes that were acknowledged but are missing: Open MPI 4.1
    // reports success on a full disk.
    std::int64_t warn_of_size() {
        if (dummy() || o_.stonewall_seconds > 0) {
            warn_of_wall();
            return 0;
        }
        const bool asks = o_.file_per_process || session_.first();
        const std::string path = ior::file_name(o_, session_.rank(), repetition_).on_disk;
        const std::int64_t there = session_.sum(asks ? file_bytes_now(path).value_or(0) : 0);
        const std::int64_t expected = test_.geometry.bytes_of_all();
        const bool may_differ =
            o_.random_offset > 1 || o_.use_existing || o_.wear_out_iterations > 0;
        const bool all_there = backend_->plain_file() ? there == expected : there >= expected;
        if (all_there || may_differ) {
            return 0;
        }
        report_.warn_now(fmt::format("Expected aggregate file size       = {}", expected));
        report_.warn_now(fmt::format("Stat() of aggregate file size      = {}", there));
        return expected - there;
    }

    void warn_of_wall() {
        std::int64_t moved = 0;
        for (const std::int64_t transfers : written_) {
            moved += transfers * o_.transfer_bytes;
        }
        const std::int64_t expected = test_.geometry.bytes_of_all();
        if (o_.stonewall_seconds == 0 || moved == expected) {
            return;
        }
        const bool asks = o_.file_per_process || session_.first();
        const std::string path = ior::file_name(o_, session_.rank(), repetition_).on_disk;
        const std::int64_t there = session_.sum(asks ? file_bytes_now(path).value_or(0) : 0);
        report_.warn_now(fmt::format("Expected aggregate file size       = {}", expected));
        report_.warn_now(fmt::format("Stat() of aggregate file size      = {}", there));
        report_.warn_now(fmt::format("Using actual aggregate bytes moved = {}", moved));
        report_.warn_now("Maybe caused by deadlineForStonewalling");
    }

    // Remarks that a node which reads what it wrote reads from its page cache, if memory suffices.
    void note_cache(std::int64_t task) {
        const bool own = session_.node_of(task) == session_.node_of(session_.rank());
        const bool fits = test_.geometry.bytes_of_task() * test_.tasks_of_node < memory_of_node();
        const bool cached = own && fits && o_.writes() && !o_.posix.odirect && !dummy();
        if (session_.sum(cached ? 1 : 0) == 0 || repetition_ > 0) {
            return;
        }
        report_.advise(
            o_.reorder_constant || o_.reorder_random > 0
                ? "The read can have come from the page cache (-C and -Z cannot help where "
                  "reader and writer share a node). Use more nodes or --posix.odirect."
                : "The read can have come from the page cache (ranks read what their own "
                  "node has just written). Use -C on several nodes, --posix.odirect, or "
                  "more data than memory.");
    }

    Wrong clean(std::int64_t rep) {
        session_.barrier();
        const bool keeps = o_.keep_file || (o_.keep_file_with_error && wrong_data_ > 0) || dummy();
        if (keeps) {
            setting_.janitor->dismiss();
            return std::nullopt;
        }
        const bool removes = o_.file_per_process || session_.first();
        const ior::FileName name = ior::file_name(o_, session_.rank(), rep);
        report_.doing("removing", removes ? name.path : std::string());
        const std::int64_t begin = measure::now_ns();
        Wrong wrong;
        if (removes) {
            if (const auto removed = remove_file(name.on_disk); !removed) {
                wrong = removed.error();
            }
            if (!name.directory.empty()) {
                ::rmdir(name.directory.c_str());  // fails if other files are in it, as intended
            }
        }
        wrong = session_.agreed(wrong);
        *setting_.holds_files = false;
        setting_.janitor->dismiss();
        if (o_.verbose >= 1 && !wrong) {
            setting_.print(ior::remove_row(measure::seconds_of(measure::now_ns() - begin), rep));
        }
        return wrong;
    }

    const TestSetting& setting_;
    const TestRanks& session_;
    ior::TestResult& test_;
    const ior::IorOptions& o_;
    std::unique_ptr<IorBackend> backend_;
    measure::AlignedBytes buffer_;
    std::vector<std::byte> taken_;
    std::vector<std::int64_t> written_;  // transfers written by each task; -1: none in this run
    PhaseReport report_;
    std::int64_t repetition_ = 0;
    std::int64_t wrong_data_ = 0;
};

}  // namespace

TestEnd run_test(const TestSetting& setting, ior::TestResult& test) {
    return TestRun(setting, test).run();
}

}  // namespace forebay::bench
