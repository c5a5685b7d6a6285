// The calls of a program on a file: definitions, then steps, each with its exchange. A collective
// call ends with the same result on all ranks.
#include "output/mpi/output_file.hpp"

#include "foundation/base/printable.hpp"
#include "output/mpi/agreement.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fmt/format.h>
#include <utility>

namespace forebay::output {
namespace {

constexpr std::int32_t writers_per_node = 4;

std::int32_t nodes_of(MPI_Comm comm) {
    MPI_Comm node = MPI_COMM_NULL;
    PMPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    const int first = rank_in(node) == 0 ? 1 : 0;
    int nodes = 0;
    PMPI_Allreduce(&first, &nodes, 1, MPI_INT, MPI_SUM, comm);
    PMPI_Comm_free(&node);
    return nodes;
}

std::vector<std::string> words_of(std::string_view text) {
    std::vector<std::string> words;
    while (true) {
        const std::size_t begin = text.find_first_not_of(' ');
        if (begin == std::string_view::npos) {
            return words;
        }
        text.remove_prefix(begin);
        words.emplace_back(text.substr(0, text.find(' ')));
        text.remove_prefix(words.back().size());
    }
}

}  // namespace

OutputFile::OutputFile(MPI_Comm comm, std::string path, const OutputOptions& options,
                       FilePurpose purpose)
    : path_(std::move(path)), options_(options), purpose_(purpose) {
    writers_.comm = comm;
    buffers_.window_bytes = options.window_bytes;
}

OutputFile::~OutputFile() {
    if (!is_closed_) {
        // The process ends, and MPI may have been finalised: the file is left to the system.
        static_cast<void>(file_.release());
        return;
    }
    file_.reset();
    if (writers_comm_ != MPI_COMM_NULL) {
        PMPI_Comm_free(&writers_comm_);
    }
    PMPI_Comm_free(&writers_.comm);
}

Result<std::unique_ptr<OutputFile>> OutputFile::make(MPI_Comm user, const Order& order) {
    MPI_Comm comm = MPI_COMM_NULL;
    PMPI_Comm_dup(user, &comm);
    Result<OutputOptions> parsed = parse_output_options(order.options);
    Result<void> good = agreed(comm, order.arguments);
    if (good) {
        good = same_on_all(comm, fmt::format("{} {}", printable_name(order.path), order.options),
                           "the file");
    }
    if (good) {
        good = agreed(comm, parsed ? Result<void>{} : tl::unexpected(parsed.error()));
    }
    if (!good) {
        PMPI_Comm_free(&comm);
        return tl::unexpected(good.error());
    }
    std::unique_ptr<OutputFile> made(new OutputFile(comm, order.path, *parsed, order.purpose));
    made->choose_writers();
    if (good = made->open(); !good) {
        made->is_closed_ = true;
        return tl::unexpected(good.error());
    }
    return made;
}

Result<void> OutputFile::agree(const Result<void>& mine) const {
    return agreed(writers_.comm, mine);
}

void OutputFile::choose_writers() {
    const int ranks = ranks_of(writers_.comm);
    const int rank = rank_in(writers_.comm);
    const std::int32_t chosen = writers_per_node * nodes_of(writers_.comm);
    const std::int32_t wanted = options_.compress > 0  ? 1
                                : options_.writers > 0 ? options_.writers
                                                       : chosen;
    writers_.ranks = spread_writers(ranks, std::min(ranks, wanted));
    const auto mine = std::ranges::find(writers_.ranks, Rank{rank});
    if (mine != writers_.ranks.end()) {
        writers_.mine = static_cast<std::int32_t>(mine - writers_.ranks.begin());
    }
    PMPI_Comm_split(writers_.comm, writers_.writes() ? 0 : MPI_UNDEFINED, rank, &writers_comm_);
}

// On writers.
Result<std::unique_ptr<ArrayFile>> OutputFile::file_of_format() const {
    const bool creates = purpose_ == FilePurpose::create;
    const std::string path = first_path();
    switch (options_.format) {
        case FileFormat::netcdf: return open_netcdf_file(writers_comm_, path, purpose_);
        case FileFormat::netcdf4:
            return creates ? create_netcdf4_file(writers_comm_, path, options_.compress)
                           : open_netcdf4_file(writers_comm_, path);
        default: break;
    }
    return creates ? create_fortran_file(writers_comm_, path, options_.record)
                   : failure(Error{ErrorCode::unsupported, 0,
                                   fmt::format("cannot open {} for reading (Fortran records do not "
                                               "say what they are). Read it by read statements.",
                                               printable_name(path_))});
}

Result<void> OutputFile::open() {
    return on_writers([this]() -> Result<void> {
        Result<std::unique_ptr<ArrayFile>> made = file_of_format();
        if (!made) {
            return tl::unexpected(made.error());
        }
        file_ = std::move(*made);
        return {};
    });
}

// Collective: `call` on each writer, and then the same outcome on all ranks.
template <class Call>
Result<void> OutputFile::on_writers(Call call) {
    const Result<void> mine = writers_.writes() ? call() : Result<void>{};
    return agreed(writers_.comm, mine);
}

tl::unexpected<Error> OutputFile::refused(std::string_view problem, std::string_view advice) const {
    return failure(Error{ErrorCode::argument, 0,
                         fmt::format("{} ({}). {}", problem, printable_name(path_), advice)});
}

Result<void> OutputFile::may_define() const {
    if (is_defined_) {
        return refused("something is defined after the first step",
                       "Define grids, variables and attributes before fbo_begin_step.");
    }
    return {};
}

// Collective: the grid that `make` makes, if grids may still be defined.
template <class Make>
Result<std::size_t> OutputFile::add_grid(Make make) {
    if (const Result<void> good = agreed(writers_.comm, may_define()); !good) {
        return tl::unexpected(good.error());
    }
    Result<RankGrid> grid = make();
    if (!grid) {
        return tl::unexpected(grid.error());
    }
    grids_.push_back(std::move(*grid));
    return grids_.size() - 1;
}

Result<std::size_t> OutputFile::add_box_grid(const BoxArguments& arguments) {
    return add_grid([&] { return make_box_grid(writers_, arguments, sharing()); });
}

Result<std::size_t> OutputFile::add_map_grid(std::span<const std::int64_t> shape,
                                             std::span<const std::int64_t> indices) {
    return add_grid([&] { return make_map_grid(writers_, shape, indices, sharing()); });
}

// Completes the variable by its grid.
Result<void> OutputFile::check_new(ArrayVariable& variable, std::optional<std::size_t> grid,
                                   std::string_view dimensions) const {
    if (Result<void> may = may_define(); !may) {
        return may;
    }
    if (!grid || *grid >= grids_.size()) {
        return refused("a variable is defined with a grid of no or another file",
                       "Give a grid that fbo_grid made for this file.");
    }
    variable.shape = grids_[*grid].shape;
    variable.has_gaps = grids_[*grid].has_gaps;
    variable.dimensions = words_of(dimensions);
    if (variable.name.empty() || variable.name == "time" ||
        std::ranges::find(schema_.variables, variable.name, &ArrayVariable::name) !=
            schema_.variables.end()) {
        return refused(fmt::format("a variable cannot be called \"{}\"", printable(variable.name)),
                       "Give it a name that no other has; time is the file's own.");
    }
    if (variable.dimensions.empty()) {
        for (const std::int64_t size : variable.shape) {
            variable.dimensions.push_back(fmt::format("n{}", size));
        }
    }
    if (variable.dimensions.size() != variable.shape.size()) {
        return refused(fmt::format("{} has {} dimensions, but {} names of dimensions",
                                   printable(variable.name), variable.shape.size(),
                                   variable.dimensions.size()),
                       "Name each dimension of the grid once, without time.");
    }
    for (const ArrayVariable& other : schema_.variables) {
        for (std::size_t i = 0; i < variable.shape.size(); ++i) {
            const auto found = std::ranges::find(other.dimensions, variable.dimensions[i]);
            const auto at = static_cast<std::size_t>(found - other.dimensions.begin());
            if (found != other.dimensions.end() && other.shape[at] != variable.shape[i]) {
                return refused(fmt::format("dimension {} has two sizes, {} and {}",
                                           printable(*found), other.shape[at], variable.shape[i]),
                               "Give dimensions of different sizes different names.");
            }
        }
    }
    return {};
}

Result<std::size_t> OutputFile::define(ArrayVariable variable, std::optional<std::size_t> grid,
                                       std::string_view dimensions) {
    Result<void> good = same_on_all(
        writers_.comm,
        fmt::format("{} of type {} on grid {}, dimensions {}, units {}, steps {}", variable.name,
                    static_cast<int>(variable.type), grid.value_or(grids_.size()), dimensions,
                    variable.units, variable.has_steps),
        "fbo_define");
    if (good) {
        good = agreed(writers_.comm, check_new(variable, grid, dimensions));
    }
    if (good && purpose_ == FilePurpose::open) {
        good = on_writers([&] { return file_->find(variable); });
    }
    if (!good) {
        return tl::unexpected(good.error());
    }
    schema_.variables.push_back(std::move(variable));
    held_.emplace_back().grid = *grid;
    return held_.size() - 1;
}

Result<void> OutputFile::set_attribute(TextAttribute attribute) {
    Result<void> good =
        same_on_all(writers_.comm,
                    fmt::format("{}:{} = {}", attribute.variable, attribute.name, attribute.text),
                    "fbo_attribute");
    if (good) {
        good = agreed(writers_.comm, may_define());
    }
    const bool known = attribute.variable.empty() || attribute.variable == "time" ||
                       std::ranges::find(schema_.variables, attribute.variable,
                                         &ArrayVariable::name) != schema_.variables.end();
    if (good && (!known || purpose_ == FilePurpose::open)) {
        return refused(fmt::format("an attribute is set of {}, which is no variable of a new file",
                                   printable_name(attribute.variable)),
                       "Define the variable before.");
    }
    if (good) {
        schema_.attributes.push_back(std::move(attribute));
    }
    return good;
}

// The part of may-checks that all calls of a step share.
Result<void> OutputFile::may_use(bool in_step) const {
    if (failed_) {
        return failure(*failed_);
    }
    if (purpose_ == FilePurpose::open) {
        return refused("a file that was opened for reading is written to",
                       "Make the file by fbo_create.");
    }
    if (in_step_ != in_step) {
        return in_step ? refused("there is no step under way", "Call fbo_begin_step before.")
                       : refused("the last step was not ended", "Call fbo_end_step before.");
    }
    return {};
}

Result<void> OutputFile::define_all() {
    is_defined_ = true;
    return on_writers([this] { return file_->define(schema_); });
}

Result<void> OutputFile::begin_step(double time) {
    if (failed_) {
        return failure(*failed_);  // on all ranks
    }
    Result<void> good = agreed(writers_.comm, may_use(false));
    if (good && !is_defined_) {
        good = define_all();
        if (!good) {
            failed_ = good.error();
        }
    }
    if (good) {
        good = on_writers([&] { return file_->begin_step(steps_, time); });
        if (!good) {
            failed_ = good.error();
        }
    }
    if (good) {
        in_step_ = true;
    }
    return good;
}

Result<void> OutputFile::check_array(std::size_t variable, const ProgramArray& array) const {
    const std::int64_t elements = grids_[held_[variable].grid].local.elements();
    const std::string name = printable(schema_.variables[variable].name);
    if (elements == 0) {
        return {};
    }
    if (array.elements == nullptr) {
        return refused(fmt::format("there is no array for {}, a null pointer", name),
                       "Give the array.");
    }
    if (array.type && *array.type != schema_.variables[variable].type) {
        return refused(fmt::format("the array for {} has another type than its variable", name),
                       "Define the variable with the array's type.");
    }
    if (array.count && *array.count != elements) {
        return refused(fmt::format("the array for {} has {} elements, but the patch with its halo "
                                   "has {}",
                                   name, *array.count, elements),
                       "Give the whole array, halo and all, or correct the grid.");
    }
    return {};
}

Result<void> OutputFile::write(std::size_t variable, const ProgramArray& array) {
    if (Result<void> may = may_use(true); !may) {
        return may;
    }
    HeldArray& held = held_[variable];
    const LocalArray& local = grids_[held.grid].local;
    const std::string& name = schema_.variables[variable].name;
    if (held.given) {
        return refused(fmt::format("{} is written twice in one step", printable(name)),
                       "End the step before.");
    }
    if (Result<void> good = check_array(variable, array); !good) {
        return good;
    }
    const std::size_t element = bytes_of(schema_.variables[variable].type);
    held.packed.resize(static_cast<std::size_t>(local.packed_elements()) * element);
    local.pack(static_cast<const std::byte*>(array.elements), element, held.packed);
    held.given = true;
    return {};
}

std::vector<OutputFile::GivenArray> OutputFile::gather_given() const {
    enum : unsigned char { lacking, given, nothing_to_give };
    const auto ranks = static_cast<std::size_t>(ranks_of(writers_.comm));
    std::vector<unsigned char> mine;
    for (const HeldArray& held : held_) {
        const bool has_elements = grids_[held.grid].mine.elements() > 0;
        mine.push_back(!has_elements ? nothing_to_give : held.given ? given : lacking);
    }
    std::vector<unsigned char> all(mine.size() * ranks);
    const auto count = static_cast<int>(mine.size());
    PMPI_Allgather(mine.data(), count, MPI_UNSIGNED_CHAR, all.data(), count, MPI_UNSIGNED_CHAR,
                   writers_.comm);
    std::vector<GivenArray> made(held_.size());
    for (std::size_t at = 0; at < all.size(); ++at) {
        GivenArray& array = made[at % held_.size()];
        array.by_rank.push_back(all[at] != lacking);
        array.by_some = array.by_some || all[at] == given;
    }
    return made;
}

// Names a rank that has not given a variable which others have.
Result<void> OutputFile::complaint_on(std::size_t variable, const std::vector<bool>& given) const {
    const auto lacking = std::ranges::find(given, false);
    if (lacking == given.end()) {
        return {};
    }
    return refused(fmt::format("rank {} did not write {} in step {}, as other ranks did",
                               lacking - given.begin(),
                               printable_name(schema_.variables[variable].name), steps_),
                   "Its elements have the fill value; call fbo_write on all ranks.");
}

Result<void> OutputFile::deliver(std::size_t variable, const std::vector<bool>& given) {
    HeldArray& held = held_[variable];
    PatchExchange exchange(writers_, grids_[held.grid], schema_.variables[variable].type, buffers_);
    Result<void> mine;
    exchange.to_writers(held.packed, given,
                        [&](const ElementRange& range, std::span<const std::byte> bytes) {
                            Result<void> wrote = file_->write({variable, steps_, range}, bytes);
                            mine = mine ? wrote : mine;
                        });
    if (writers_.writes()) {
        const Result<void> ended = file_->end_array(variable);
        mine = mine ? ended : mine;
    }
    held.written = true;
    held.given = false;
    return agreed(writers_.comm, mine);
}

Result<void> OutputFile::end_step() {
    if (failed_) {
        return failure(*failed_);
    }
    if (Result<void> good = agreed(writers_.comm, may_use(true)); !good) {
        return good;
    }
    in_step_ = false;
    Result<void> incomplete;
    const std::vector<GivenArray> given = gather_given();
    for (std::size_t i = 0; i < held_.size(); ++i) {
        const bool filled =
            options_.format != FileFormat::fortran && schema_.variables[i].has_steps;
        if (!given[i].by_some && !filled) {
            held_[i].given = false;
            continue;
        }
        if (given[i].by_some && incomplete) {
            incomplete = complaint_on(i, given[i].by_rank);
        }
        if (Result<void> delivered = deliver(i, given[i].by_rank); !delivered) {
            failed_ = delivered.error();
            return delivered;
        }
    }
    if (Result<void> ended = on_writers([this] { return file_->end_step(); }); !ended) {
        failed_ = ended.error();
        return ended;
    }
    ++steps_;
    return incomplete;
}

Result<std::int64_t> OutputFile::steps() {
    if (purpose_ == FilePurpose::create) {
        return steps_;
    }
    std::int64_t steps = 0;
    const Result<void> good = on_writers([&]() -> Result<void> {
        const Result<std::int64_t> told = file_->steps();
        steps = told.value_or(0);
        return told ? Result<void>{} : tl::unexpected(told.error());
    });
    PMPI_Bcast(&steps, 1, MPI_INT64_T, writers_.ranks.front().value(), writers_.comm);
    return good ? Result<std::int64_t>(steps) : tl::unexpected(good.error());
}

Result<void> OutputFile::read(std::size_t variable, std::int64_t step, const ProgramArray& array) {
    const HeldArray& held = held_[variable];
    const RankGrid& grid = grids_[held.grid];
    Result<void> may = check_array(variable, array);
    if (purpose_ == FilePurpose::create) {
        may =
            refused("a file that is being made is read", "Open it by fbo_open when it is closed.");
    } else if (step < 0) {
        may = refused(fmt::format("step {} is read", step), "Steps count from 0 (in Fortran 1).");
    }
    if (may = agreed(writers_.comm, may); !may) {
        return may;
    }
    const ElementType type = schema_.variables[variable].type;
    std::vector<std::byte> packed(static_cast<std::size_t>(grid.local.packed_elements()) *
                                  bytes_of(type));
    PatchExchange exchange(writers_, grid, type, buffers_);
    Result<void> mine;
    exchange.from_readers(packed, [&](const ElementRange& range, std::span<std::byte> bytes) {
        Result<void> got = file_->read({variable, step, range}, bytes);
        mine = mine ? got : mine;
    });
    if (Result<void> good = agreed(writers_.comm, mine); !good) {
        return good;
    }
    grid.local.unpack(packed, bytes_of(type), static_cast<std::byte*>(array.elements));
    return {};
}

// Variables without steps that nobody has written.
Result<void> OutputFile::fill_unwritten() {
    Result<void> good;
    for (std::size_t i = 0; i < held_.size() && good; ++i) {
        if (!held_[i].written && !schema_.variables[i].has_steps) {
            good = deliver(
                i, std::vector<bool>(static_cast<std::size_t>(ranks_of(writers_.comm)), false));
        }
    }
    return good;
}

Result<void> OutputFile::close() {
    Result<void> good = in_step_ || failed_ ? end_step() : Result<void>{};
    if (!failed_ && purpose_ == FilePurpose::create) {
        Result<void> completed = is_defined_ ? Result<void>{} : define_all();
        if (completed && options_.format != FileFormat::fortran) {
            completed = fill_unwritten();
        }
        good = good ? completed : good;
    }
    const Result<void> closed = on_writers([this] { return file_->close(); });
    is_closed_ = true;
    good = good ? closed : good;
    return is_renamed() ? renamed(good) : good;
}

// Collective, after the file was closed: gives it its name if all went well.
Result<void> OutputFile::renamed(const Result<void>& closed) const {
    if (!closed) {
        Error error = closed.error();
        error.message += fmt::format(" What was written is in {}.", printable_name(first_path()));
        return failure(std::move(error));
    }
    Result<void> mine;
    if (rank_in(writers_.comm) == 0 && std::rename(first_path().c_str(), path_.c_str()) != 0) {
        mine = failure(Error{ErrorCode::input_output, errno,
                             fmt::format("cannot rename {} to {} ({}). Rename it by mv.",
                                         printable_name(first_path()), printable_name(path_),
                                         std::strerror(errno))});
    }
    return agreed(writers_.comm, mine);
}

}  // namespace forebay::output
