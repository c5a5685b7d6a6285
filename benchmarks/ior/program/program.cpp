// Parses, checks, runs the tests, and publishes their results.
#include "benchmarks/ior/program/program.hpp"
#include "foundation/base/counted.hpp"
#include "foundation/base/letters.hpp"
#include "foundation/base/printable.hpp"

#include "benchmarks/ior/distribution_tables.hpp"
#include "benchmarks/ior/documents/documents.hpp"
#include "benchmarks/ior/estimate.hpp"
#include "benchmarks/ior/file_names.hpp"
#include "benchmarks/ior/option_table.hpp"
#include "benchmarks/ior/parse.hpp"
#include "benchmarks/ior/program/test_run.hpp"
#include "benchmarks/ior/tables.hpp"
#include "benchmarks/measure/clock.hpp"
#include "benchmarks/session/output.hpp"
#include "benchmarks/session/session.hpp"
#include "benchmarks/session/terminal.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fmt/format.h>
#include <unistd.h>

namespace forebay::bench {

namespace {

using measure::ExitStatus;

class IorProgram {
public:
    explicit IorProgram(const ProgramInvocation& invocation)
        : invocation_(invocation), clock_(invocation.began) {
        MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
        MPI_Comm_size(MPI_COMM_WORLD, &size_);
    }

    ExitStatus run() {
        if (const auto parsed = parse(); !parsed) {
            return complain(parsed.error(), ExitStatus::usage);
        }
        if (tests_.front().options.show_help > 0) {
            say(ior::help_text());
            return ExitStatus::good;
        }
        if (const auto checked = check(); !checked) {
            return complain(checked.error(), ExitStatus::usage);
        }
        if (const auto opened = open_output(); !opened) {
            return complain(opened.error(), ExitStatus::usage);
        }
        describe_run();
        if (const auto refused = gate_all()) {
            run_.errors.push_back(refused->message);
            complain(*refused, ExitStatus::refused);
            return finish(ExitStatus::refused);
        }
        ExitStatus status = ExitStatus::good;
        for (ior::ParsedOptions& parsed : tests_) {
            const ExitStatus one = run_one(parsed);
            status = std::max(status, one);
            if (one != ExitStatus::good && one != ExitStatus::data_wrong) {
                break;
            }
        }
        return finish(status);
    }

private:
    void say(const std::string& text) {
        if (rank_ == 0 && (std::fputs(text.c_str(), out_) < 0 || std::fflush(out_) != 0) &&
            lost_ == 0) {
            lost_ = errno;
        }
    }
    void log_line(const std::string& line) const {
        if (rank_ == 0) {
            std::fprintf(stderr, "%s\n", printable(line).c_str());
        }
    }
    ExitStatus complain(const Error& error, ExitStatus status) const {
        log_line("ERROR: " + error.message);
        return status;
    }

    // Rank 0 reads the script and broadcasts it: thousands of ranks would open it at once.
    [[nodiscard]] static Result<std::string> shared_text(const std::string& path, int rank) {
        const auto text = rank == 0 ? read_text(path) : Result<std::string>(std::string());
        long long size = text ? static_cast<long long>(text->size()) : -1;
        MPI_Bcast(&size, 1, MPI_LONG_LONG, 0, MPI_COMM_WORLD);
        if (size < 0) {
            return text ? Result<std::string>(failure({})) : text;
        }
        std::string shared = text.value_or("");
        shared.resize(static_cast<std::size_t>(size));
        MPI_Bcast(shared.data(), static_cast<int>(size), MPI_CHAR, 0, MPI_COMM_WORLD);
        return shared;
    }

    Result<void> parse() {
        const std::span<const std::string> words(invocation_.words);
        auto parsed = ior::parse_words(words.subspan(1));
        if (!parsed) {
            return tl::unexpected<Error>(parsed.error());
        }
        const std::string script = parsed->options.script_file;
        if (script.empty() || parsed->options.show_help > 0) {
            tests_.push_back(std::move(*parsed));
            return {};
        }
        const auto text = shared_text(script, rank_);
        if (!text) {
            return tl::unexpected<Error>(text.error());
        }
        auto tests = ior::parse_script(*text, script, *parsed);
        if (!tests) {
            return tl::unexpected<Error>(tests.error());
        }
        tests_ = std::move(*tests);
        return {};
    }

    Result<void> check() {
        for (ior::ParsedOptions& parsed : tests_) {
            auto done = check_test(parsed);
            if (!done && !parsed.place.empty()) {
                done.error().message = fmt::format("{}: {}", parsed.place, done.error().message);
            }
            if (!done) {
                return done;
            }
        }
        return {};
    }

    Result<void> check_test(ior::ParsedOptions& parsed) const {
        const auto name = backend_name(parsed.options.api);
        if (!name) {
            return tl::unexpected<Error>(name.error());
        }
        parsed.options.api = *name;
        if (auto sane = ior::check_options(parsed); !sane) {
            return sane;
        }
        const bool by_mpi = *name == "MPIIO" || *name == "NCMPI" || *name == "HDF5";
        if (by_mpi && parsed.options.transfer_bytes > 0x7fffffff) {
            return failure({ErrorCode::argument, 0,
                            fmt::format("-t {} is too much for {} (MPI counts to 2^31-1 "
                                        "bytes). Give -t less.",
                                        parsed.options.transfer_bytes, *name)});
        }
        if (auto fits = ior::geometry_of(parsed.options, tasks_of(parsed.options)); !fits) {
            return tl::unexpected<Error>(fits.error());
        }
        return {};
    }

    [[nodiscard]] std::int64_t tasks_of(const ior::IorOptions& options) const noexcept {
        return options.tasks < 1 ? size_ : std::min<std::int64_t>(options.tasks, size_);
    }

    // Rank 0 writes to standard output or to summaryFile: text during the run, JSON or CSV at its
    // end.
    Result<void> open_output() {
        const ior::IorOptions& o = tests_.front().options;
        if (o.dry()) {  // a dry run only prints what it would do
            return {};
        }
        format_ = lowered(o.summary_format);
        file_ = o.summary_file;
        if (auto places = places_of_output(); !places) {
            return places;
        }
        if (!file_.empty()) {
            say(fmt::format("Writing output to {}\n", file_));
        }
        if (!file_.empty() && format_ == "default" && rank_ == 0) {
            out_ = std::fopen(file_.c_str(), "we");
        }
        int why = out_ != nullptr ? 0 : errno;
        if (file_.empty() && (o.own.json_file == "-" || o.own.csv_file == "-")) {
            out_ = stderr;  // standard output contains the document only
        }
        MPI_Bcast(&why, 1, MPI_INT, 0, MPI_COMM_WORLD);
        if (why != 0) {
            out_ = stdout;
            return failure(system_error(why, "write " + file_));
        }
        return {};
    }

    // Checks the output files before anything is measured, since the results might then be lost.
    [[nodiscard]] Result<void> places_of_output() const {
        std::vector<std::string> paths{format_ == "default" ? "" : file_,
                                       tests_.front().options.own.json_file,
                                       tests_.front().options.own.csv_file};
        for (const ior::ParsedOptions& parsed : tests_) {
            const ior::IorOptions& o = parsed.options;
            paths.push_back(o.rank_details_file);
            paths.push_back(o.writes() ? o.stonewall_status_file : "");
            paths.push_back(o.operations_prefix.empty() ? "" : o.operations_prefix + "-0-0.csv");
        }
        const Result<void> places = rank_ == 0 ? can_write_all(paths) : Result<void>{};
        return from_first(!places) ? failure(places ? Error{} : places.error()) : Result<void>{};
    }

    [[nodiscard]] bool human() const noexcept { return format_ == "default"; }
    void print(const std::string& text) {
        if (human()) {
            say(text);
        }
    }

    // In other formats, standard output contains the document only, so warnings go to standard
    // error.
    void warn(const std::string& line) {
        if (human()) {
            say(line + "\n");
        } else {
            log_line(line);
        }
    }

    void describe_run() {
        const ior::IorOptions& o = tests_.front().options;
        for (const ior::ParsedOptions& parsed : tests_) {
            for (const std::string& line : parsed.advice) {
                log_line("ADVICE: " + line);
            }
        }
        if (o.tasks > size_) {
            print(
                fmt::format("WARNING: More tasks requested ({}) than available ({}),\n"
                            "WARNING:          running with {} tasks.\n\n",
                            o.tasks, size_, size_));
        }
        run_.version = fmt::format("4.1.0+forebay.{}", invocation_.version);
        run_.began = time_of_day();
        const MachineText machine = machine_text();
        run_.machine = machine.brief;
        run_.machine_full = machine.full;
        run_.family = FOREBAY_MPI_FAMILY;
        for (const std::string& word : invocation_.shown) {
            run_.command += (run_.command.empty() ? "" : " ") + word;
        }
        print(ior::head_text(run_, o.verbose));
        if (o.verbose >= 3) {
            print("STARTING ENVIRON LOOP\n");
            for (const std::string& line : environment_lines()) {
                print(line + "\n");
            }
            print("ENDING ENVIRON LOOP\n");
        }
    }

    // Checks all tests of a script against the budget, before the first one. A single test is
    // checked by its own gate.
    std::optional<Error> gate_all() {
        if (tests_.size() < 2) {
            return std::nullopt;
        }
        std::vector<ior::PlannedTest> plans;
        std::optional<std::int64_t> free_bytes;
        for (const ior::ParsedOptions& parsed : tests_) {
            const ior::IorOptions& o = parsed.options;
            plans.push_back(
                // Checked before.
                {o, ior::geometry_of(o, tasks_of(o)).value_or(ior::TestGeometry{})});
            const auto here = rank_ == 0 ? free_bytes_at(ior::shown_name(o).on_disk) : std::nullopt;
            free_bytes = here && free_bytes ? std::min(*here, *free_bytes)
                         : here             ? here
                                            : free_bytes;
        }
        const measure::RunEstimate all = ior::estimate_of(plans);
        print(fmt::format("Estimate of all {} tests: {}.\n\n", tests_.size(),
                          measure::describe(all)));
        const auto& budget = tests_.front().options.own.limits.budget;
        const auto may = rank_ == 0 ? measure::allowed(all, budget, free_bytes) : Result<void>{};
        int refused = may ? 0 : 1;
        MPI_Bcast(&refused, 1, MPI_INT, 0, MPI_COMM_WORLD);
        return refused == 0 ? std::nullopt : std::optional<Error>(may ? Error{} : may.error());
    }

    ExitStatus run_one(ior::ParsedOptions& parsed) {
        const std::int64_t tasks = tasks_of(parsed.options);
        MPI_Comm comm = MPI_COMM_NULL;
        MPI_Comm_split(MPI_COMM_WORLD, rank_ < tasks ? 0 : MPI_UNDEFINED, rank_, &comm);
        int status = measure::code(ExitStatus::good);
        if (comm != MPI_COMM_NULL) {
            status = measure::code(take_part(parsed, comm));
            MPI_Comm_free(&comm);
        }
        MPI_Bcast(&status, 1, MPI_INT, 0, MPI_COMM_WORLD);
        return static_cast<ExitStatus>(status);
    }

    ior::TestResult made_test(const ior::ParsedOptions& parsed, const TestRanks& session) const {
        ior::TestResult test;
        test.options = parsed.options;
        test.advice = parsed.advice;
        test.id = static_cast<std::int64_t>(run_.tests.size());
        test.started = time_of_day();
        test.platform = machine_text().platform;
        const ior::FileName shown = ior::shown_name(test.options);
        test.path = shown.path;
        // Cannot fail: the options have been checked.
        test.geometry =
            ior::geometry_of(test.options, session.size()).value_or(ior::TestGeometry{});
        const FakeNodes fake = fake_nodes();
        test.nodes = fake.nodes > 0 ? fake.nodes : session.nodes();
        test.tasks_of_node = fake.tasks_of_node > 0 ? fake.tasks_of_node : session.ranks_of_node();
        test.seed = static_cast<std::uint64_t>(
            test.options.signature != 0
                ? test.options.signature
                : session.from_first(static_cast<std::int64_t>(std::time(nullptr)) + test.id));
        test.estimate = ior::estimate_of(ior::PlannedTest{test.options, test.geometry});
        look_at_file_system(shown.on_disk, test);
        if (session.ranks_of_node() > session.cores_of_node()) {
            test.advice.push_back(
                fmt::format("{} share {} of a node (oversubscribed). Waiting ranks "
                            "take time from working ones; use fewer for numbers that count.",
                            counted(session.ranks_of_node(), "rank"),
                            counted(session.cores_of_node(), "core")));
        }
        return test;
    }

    ExitStatus take_part(const ior::ParsedOptions& parsed, MPI_Comm comm) {
        const TestRanks session(comm);
        ior::TestResult test = made_test(parsed, session);
        std::vector<std::string> ignored;
        TestSetting setting;
        setting.session = &session;
        setting.clock = &clock_;
        setting.janitor = invocation_.janitor;
        auto hints = read_hints(test.options.mpiio.hints_file, ignored);
        if (!hints && test.options.dry()) {  // the file may exist on another machine only
            ignored.push_back(hints.error().message);
            hints = Hints{};
        }
        if (const auto wrong =
                session.agreed(hints ? std::nullopt : std::optional<Error>(hints.error()))) {
            return complain(*wrong, ExitStatus::input_output);
        }
        setting.hints = *hints;
        test.warnings.insert(test.warnings.end(), ignored.begin(), ignored.end());
        if (const auto backend =
                make_backend({&test.options, test.geometry, setting.hints, session.rank()})) {
            test.api_version = (*backend)->version();
        }
        print(ior::test_text(test));
        print(fmt::format("Estimate: {}.\n\n", measure::describe(test.estimate)));
        if (const auto refused = session.agreed(gate(test, session))) {
            run_.errors.push_back(refused->message);
            run_.tests.push_back(std::move(test));
            return complain(*refused, ExitStatus::refused);
        }
        print(ior::results_head(test));
        if (test.options.dry()) {
            run_.tests.push_back(std::move(test));
            return ExitStatus::good;
        }
        return run_it(setting, std::move(test));
    }

    static std::optional<Error> gate(ior::TestResult& test, const TestRanks& session) {
        const auto& budget = test.options.own.limits.budget;
        std::optional<Error> refused;
        if (session.first()) {
            const auto may = measure::allowed(test.estimate, budget, test.free_bytes);
            refused = may ? std::nullopt : std::optional<Error>(may.error());
        }
        if (test.free_bytes && test.estimate.bytes_kept_max > *test.free_bytes) {
            test.advice.push_back(fmt::format(
                "The run can need more space than there is ({}). -D or --budget-share end or "
                "refuse it before the disk is full.",
                measure::describe(test.estimate)));
        }
        return refused;
    }

    ExitStatus run_it(TestSetting& setting, ior::TestResult test) {
        const TestRanks& session = *setting.session;
        std::atomic<bool> holds_files{false};
        setting.holds_files = &holds_files;
        setting.print = [this](const std::string& text) { print(text); };
        setting.warn = [this](const std::string& line) { warn(line); };
        setting.numbers = &numbers_;
        const ior::OwnOptions& own = test.options.own;
        measure::Monitor::Options watch;
        watch.slots = session.slots();
        watch.own = session.local_rank();
        watch.first_rank = session.rank() - static_cast<std::int64_t>(session.local_rank());
        watch.stall_seconds = own.limits.stall_seconds;
        if (session.first() && own.limits.budget.seconds) {
            watch.limit_seconds = own.limits.budget.seconds;
            watch.spent_seconds = measure::seconds_of(measure::now_ns() - began_ns_);
        }
        watch.live = session.first() && !own.no_live && (own.live || speaks_to_terminal());
        watch.stop = [&test, &setting, &holds_files](const measure::RunStop& stop) {
            end_all(stop, test, setting, holds_files.load());
        };
        TestEnd end;
        {
            measure::Monitor monitor(watch);
            setting.monitor = &monitor;
            end = run_test(setting, test);
            session.barrier();
            setting.monitor = nullptr;
        }
        setting.holds_files = nullptr;
        if (!end.message.empty()) {
            log_line("ERROR: " + end.message);
            run_.errors.push_back(end.message);
        }
        run_.tests.push_back(std::move(test));
        return end.status;
    }

    // Called in the monitor's thread. The main thread may be blocked in a call that never returns.
    [[noreturn]] static void end_all(const measure::RunStop& stop, const ior::TestResult& test,
                                     const TestSetting& setting, bool holds_files) {
        std::fprintf(stderr, "ERROR: %s\n", printable(stop.message).c_str());
        setting.janitor->run_ends();
        if (holds_files) {
            remove_files_of(test.options, setting.session->rank());
        }
        ::alarm(5);  // in case MPI_Abort hangs, too
        if (stop.cause == measure::StopCause::signal) {
            std::_Exit(measure::exit_status(stop));
        }
        measure::wait_for_readers();
        MPI_Abort(MPI_COMM_WORLD, measure::exit_status(stop));
        std::_Exit(measure::exit_status(stop));
    }

    ExitStatus finish(ExitStatus status) {
        run_.finished = time_of_day();
        const bool warned =
            from_first(std::any_of(run_.tests.begin(), run_.tests.end(), warnings_count));
        if (status == ExitStatus::good && warned) {
            status = ExitStatus::input_output;
            run_.errors.emplace_back(
                "the run had warnings (--warningAsErrors takes them for errors). See them at its "
                "end.");
            log_line("ERROR: " + run_.errors.back());
        }
        run_.exit_status = measure::code(status);
        const std::string lost = rank_ == 0 ? publish() : std::string();
        if (!lost.empty()) {
            log_line("ERROR: " + lost);
        }
        const bool bad = from_first(!lost.empty());
        return status == ExitStatus::good && bad ? ExitStatus::input_output : status;
    }

    // Broadcasts a condition from rank 0, which knows of its warnings and write errors.
    [[nodiscard]] static bool from_first(bool is_so) {
        int number = is_so ? 1 : 0;
        MPI_Bcast(&number, 1, MPI_INT, 0, MPI_COMM_WORLD);
        return number != 0;
    }

    static bool warnings_count(const ior::TestResult& test) {
        return test.options.warnings_are_errors &&
               (!test.warnings_told.empty() || !test.warnings.empty());
    }

    // Writes the results on rank 0 in every requested form. Returns why some could not be written.
    std::string publish() {
        const ior::IorOptions& o = tests_.front().options;
        std::string lost;
        print(ior::summary_text(run_) + ior::distribution_text(run_));
        if (!human()) {
            const std::string text =
                format_ == "json" ? ior::json_document(run_) : ior::csv_document(run_);
            lost += file_.empty() ? (say(text), std::string()) : written(file_, text);
        }
        if (!o.own.json_file.empty() && !o.dry()) {
            lost += written(o.own.json_file, ior::json_document(run_));
        }
        if (!o.own.csv_file.empty() && !o.dry()) {
            lost += written(o.own.csv_file, ior::csv_document(run_));
        }
        if (out_ != stdout && out_ != stderr && std::fclose(out_) != 0 && lost_ == 0) {
            lost_ = errno;
        }
        out_ = stdout;
        if (lost_ != 0) {
            lost +=
                system_error(lost_, "write " + (file_.empty() ? "standard output" : file_)).message;
        }
        return lost;
    }

    static std::string written(const std::string& path, const std::string& text) {
        const auto done = write_text(path, text);
        return done ? std::string() : done.error().message;
    }

    const ProgramInvocation& invocation_;
    measure::TransferClock clock_;
    int rank_ = 0;
    int size_ = 1;
    std::FILE* out_ = stdout;
    int lost_ = 0;  // errno of the first failed write to out_
    std::string format_ = "default";
    std::string file_;
    std::vector<ior::ParsedOptions> tests_;
    std::int64_t began_ns_ = measure::now_ns();
    ior::RunResult run_;
    NumberFiles numbers_;
};

}  // namespace

ExitStatus run_program(const ProgramInvocation& invocation) { return IorProgram(invocation).run(); }

}  // namespace forebay::bench
