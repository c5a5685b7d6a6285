// The functions of include/forebay_output.h: arguments in, an error number out.
#include "output/mpi/agreement.hpp"
#include "output/mpi/process.hpp"

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fmt/format.h>
#include <new>
#include <optional>

// They are the library's only symbols; everything else is hidden.
#pragma GCC visibility push(default)
#include <forebay_output.h>
#pragma GCC visibility pop

namespace output = forebay::output;
using forebay::Error;
using forebay::ErrorCode;
using forebay::failure;
using forebay::Result;

namespace {

static_assert(FBO_ERROR_INPUT_OUTPUT == static_cast<int>(ErrorCode::input_output) + 1 &&
              FBO_ERROR_UNSUPPORTED == static_cast<int>(ErrorCode::unsupported) + 1);
static_assert(FBO_INT8 == static_cast<int>(output::ElementType::int8) &&
              FBO_REAL64 == static_cast<int>(output::ElementType::real64));

int told(const Result<void>& result) {
    if (result) {
        return FBO_SUCCESS;
    }
    output::session().error = result.error().message;
    return static_cast<int>(result.error().code) + 1;
}

// A local call: an exception (only memory can be lacking) is an error.
template <class Call>
int local(Call call) noexcept {
    try {
        return told(call());
    } catch (const std::exception&) {
        output::session().error = "there is no memory left on this rank. Use more nodes.";
        return FBO_ERROR_MEMORY;
    }
}

// A collective one: the others would wait for this rank without end.
template <class Call>
int collective(Call call) noexcept {
    try {
        return told(call());
    } catch (const std::exception& problem) {
        std::fprintf(stderr, "forebay: cannot go on in a collective call of the output API (%s)\n",
                     problem.what());
        std::fflush(stderr);
        PMPI_Abort(MPI_COMM_WORLD, 1);
        std::abort();
    }
}

tl::unexpected<Error> refused(std::string message) {
    return failure(Error{ErrorCode::argument, 0, std::move(message)});
}

std::string_view text_or_empty(const char* text) { return text == nullptr ? "" : text; }

Result<output::OutputFile*> file_of(int number) {
    const auto found = output::session().files.find(number);
    if (found == output::session().files.end()) {
        return refused(
            fmt::format("{} is no open file of the output API. Give the number that "
                        "fbo_create or fbo_open gave.",
                        number));
    }
    return found->second.get();
}

struct FoundVariable {
    output::OutputFile* file;
    std::size_t index;
};

Result<FoundVariable> variable_of(int number) {
    const auto found = output::session().variables.find(number);
    if (found == output::session().variables.end()) {
        return refused(
            fmt::format("{} is no variable of an open file. Give the number that "
                        "fbo_define gave.",
                        number));
    }
    return FoundVariable{output::session().files.at(found->second.file).get(), found->second.index};
}

template <class Found, class Use>
Result<void> with(const Result<Found>& found, Use use) {
    return found ? use(*found) : Result<void>(tl::unexpected(found.error()));
}

Result<void> entered() {
    if (!output::session().is_ready) {
        return refused(
            "the output API is not initialised. Call fbo_init before, and fbo_finalize "
            "after all others.");
    }
    return {};
}

int make_file(int* file, MPI_Comm comm, const char* path, const char* options,
              output::FilePurpose purpose) {
    return collective([&]() -> Result<void> {
        if (Result<void> may = entered(); !may) {
            return may;
        }
        if (comm == MPI_COMM_NULL) {
            return refused("a file needs a communicator (it is MPI_COMM_NULL). Give one.");
        }
        const bool complete = file != nullptr && path != nullptr;
        auto made = output::OutputFile::make(
            comm, {path == nullptr ? "" : path, text_or_empty(options), purpose,
                   complete ? Result<void>{}
                            : refused("a file needs a path and a variable for its number (one of "
                                      "them is null). Give both.")});
        if (!made) {
            return tl::unexpected(made.error());
        }
        *file = output::session().next++;
        output::session().files.emplace(*file, std::move(*made));
        return {};
    });
}

void keep(std::map<int, output::FilePart>& parts, int* number, int file, std::size_t index) {
    *number = output::session().next++;
    parts.emplace(*number, output::FilePart{file, index});
}

struct NewVariable {
    output::ArrayVariable array{};
    std::string_view dimensions{};
    Result<void> arguments{};
};

// Collective: a grid or a variable of the file, which `add` makes if the arguments are good on all
// ranks; it is kept in `parts`, and its number given to the program.
template <class Add>
int make_part(std::map<int, output::FilePart>& parts, int* number, int file,
              const Result<void>& arguments, Add add) {
    return collective([&] {
        return with(file_of(file), [&](output::OutputFile* one) -> Result<void> {
            if (Result<void> good = one->agree(arguments); !good) {
                return good;
            }
            const Result<std::size_t> made = add(*one);
            if (!made) {
                return tl::unexpected(made.error());
            }
            keep(parts, number, file, *made);
            return {};
        });
    });
}

int define(int* variable, int file, int grid, const NewVariable& made) {
    const auto add = [&](output::OutputFile& one) {
        const auto found = output::session().grids.find(grid);
        std::optional<std::size_t> index;
        if (found != output::session().grids.end() && found->second.file == file) {
            index = found->second.index;
        }
        return one.define(made.array, index, made.dimensions);
    };
    return make_part(output::session().variables, variable, file, made.arguments, add);
}

int define_checked(int* variable, int file, const char* name, int grid, enum fbo_type type,
                   const char* dims, const char* units, bool has_steps) {
    const auto known = output::element_type_of(static_cast<int>(type));
    NewVariable made;
    if (!known || name == nullptr || variable == nullptr) {
        made.arguments = refused(
            fmt::format("fbo_define needs a name, a variable for its number, and a type (given: "
                        "{}). Give one of enum fbo_type.",
                        static_cast<int>(type)));
    }
    made.array.name = text_or_empty(name);
    made.array.type = known.value_or(output::ElementType::real64);
    made.array.units = text_or_empty(units);
    made.array.has_steps = has_steps;
    made.dimensions = text_or_empty(dims);
    return define(variable, file, grid, made);
}

Result<void> forget(int file) {
    auto& session = output::session();
    const Result<void> closed = session.files.at(file)->close();
    session.files.erase(file);
    const auto is_of = [&](const auto& part) { return part.second.file == file; };
    std::erase_if(session.grids, is_of);
    std::erase_if(session.variables, is_of);
    return closed;
}

// OutputFile::write() only reads it.
void* writable(const void* array) { return const_cast<void*>(array); }

int write(int variable, const output::ProgramArray& array) {
    return local([&] {
        return with(variable_of(variable), [&](const FoundVariable& found) {
            return found.file->write(found.index, array);
        });
    });
}

int read(int variable, std::int64_t step, const output::ProgramArray& array) {
    return collective([&] {
        return with(variable_of(variable), [&](const FoundVariable& found) {
            return found.file->read(found.index, step, array);
        });
    });
}

}  // namespace

const char* fbo_error_text(void) { return output::session().error.c_str(); }

int fbo_init(MPI_Comm world, MPI_Comm* compute) {
    return collective([&]() -> Result<void> {
        int ready = 0;
        PMPI_Initialized(&ready);
        if (ready == 0 || output::session().is_ready || compute == nullptr) {
            return refused(
                "fbo_init cannot be called now (MPI is not initialised, or it was "
                "called before, or gets a null pointer). Call it once, after MPI_Init.");
        }
        PMPI_Comm_dup(world, &output::session().comm);
        output::session().is_ready = true;
        *compute = output::session().comm;
        return {};
    });
}

int fbo_finalize(void) {
    return collective([]() -> Result<void> {
        if (Result<void> may = entered(); !may) {
            return may;
        }
        auto& session = output::session();
        Result<void> first;
        while (!session.files.empty()) {
            const Result<void> closed = forget(session.files.begin()->first);
            first = first ? closed : first;
        }
        session.is_ready = false;
        PMPI_Comm_free(&session.comm);
        return first;
    });
}

int fbo_create(int* file, MPI_Comm comm, const char* path, const char* options) {
    return make_file(file, comm, path, options, output::FilePurpose::create);
}

int fbo_open(int* file, MPI_Comm comm, const char* path, const char* options) {
    return make_file(file, comm, path, options, output::FilePurpose::open);
}

int fbo_close(int file) {
    return collective(
        [&] { return with(file_of(file), [&](output::OutputFile*) { return forget(file); }); });
}

int fbo_grid(int* grid, int file, int dimensions, const int64_t* shape, const int64_t* start,
             const int64_t* count, const int64_t* halo) {
    const bool complete = grid != nullptr && shape != nullptr && start != nullptr &&
                          count != nullptr && dimensions > 0;
    const auto add = [&](output::OutputFile& one) {
        const auto size = static_cast<std::size_t>(dimensions);
        const std::vector<std::int64_t> none(size, 0);
        return one.add_box_grid(
            {{shape, size},
             {{start, start + dimensions}, {count, count + dimensions}},
             halo == nullptr ? std::span<const std::int64_t>(none) : std::span(halo, size)});
    };
    return make_part(output::session().grids, grid, file,
                     complete ? Result<void>{}
                              : refused("fbo_grid needs a shape, start and count, and a variable "
                                        "for its number (one of them is null, or there is no "
                                        "dimension). Give all of them."),
                     add);
}

int fbo_grid_map(int* grid, int file, int dimensions, const int64_t* shape, int64_t elements,
                 const int64_t* dof) {
    const bool complete = grid != nullptr && shape != nullptr &&
                          (dof != nullptr || elements == 0) && dimensions > 0 && elements >= 0;
    const auto add = [&](output::OutputFile& one) {
        return one.add_map_grid({shape, static_cast<std::size_t>(dimensions)},
                                {dof, static_cast<std::size_t>(elements)});
    };
    return make_part(output::session().grids, grid, file,
                     complete ? Result<void>{}
                              : refused("fbo_grid_map needs a shape, a map, and a variable for its "
                                        "number (one of them is null, a number of elements is "
                                        "negative, or there is no dimension). Give all of them."),
                     add);
}

int fbo_define(int* variable, int file, const char* name, int grid, enum fbo_type type,
               const char* dims, const char* units) {
    return define_checked(variable, file, name, grid, type, dims, units, true);
}

int fbo_define_fixed(int* variable, int file, const char* name, int grid, enum fbo_type type,
                     const char* dims, const char* units) {
    return define_checked(variable, file, name, grid, type, dims, units, false);
}

int fbo_attribute(int file, const char* variable, const char* name, const char* text) {
    return collective([&] {
        return with(file_of(file), [&](output::OutputFile* one) {
            return one->set_attribute({std::string(text_or_empty(variable)),
                                       std::string(text_or_empty(name)),
                                       std::string(text_or_empty(text))});
        });
    });
}

int fbo_begin_step(int file, double time) {
    return collective([&] {
        return with(file_of(file), [&](output::OutputFile* one) { return one->begin_step(time); });
    });
}

int fbo_write(int variable, const void* array) {
    return write(variable, {writable(array), std::nullopt, std::nullopt});
}

int fbo_write_array(int variable, enum fbo_type type, int64_t elements, const void* array) {
    return write(variable,
                 {writable(array), output::element_type_of(static_cast<int>(type)), elements});
}

int fbo_end_step(int file) {
    return collective([&] {
        return with(file_of(file), [&](output::OutputFile* one) { return one->end_step(); });
    });
}

int fbo_steps(int file, int64_t* steps) {
    return collective([&] {
        return with(file_of(file), [&](output::OutputFile* one) -> Result<void> {
            const Result<std::int64_t> told_steps = one->steps();
            *steps = told_steps.value_or(0);
            return told_steps ? Result<void>{} : tl::unexpected(told_steps.error());
        });
    });
}

int fbo_read(int variable, int64_t step, void* array) {
    return read(variable, step, {array, std::nullopt, std::nullopt});
}

int fbo_read_array(int variable, int64_t step, enum fbo_type type, int64_t elements, void* array) {
    return read(variable, step, {array, output::element_type_of(static_cast<int>(type)), elements});
}

int fbo_init_fortran(MPI_Fint world, MPI_Fint* compute) {
    MPI_Comm made = MPI_COMM_NULL;
    const int status = fbo_init(PMPI_Comm_f2c(world), &made);
    *compute = PMPI_Comm_c2f(made);
    return status;
}

int fbo_create_fortran(int* file, MPI_Fint comm, const char* path, const char* options) {
    return fbo_create(file, PMPI_Comm_f2c(comm), path, options);
}

int fbo_open_fortran(int* file, MPI_Fint comm, const char* path, const char* options) {
    return fbo_open(file, PMPI_Comm_f2c(comm), path, options);
}
